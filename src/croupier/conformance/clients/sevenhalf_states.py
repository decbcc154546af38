"""The states of seven and a half into which clients are led, and what a client has to do in them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import dropwhile, islice, takewhile
from operator import eq
from typing import Final

from croupier.conformance.clients.test_data import (
    MAX_UINT16,
    ClientTestState,
    just_received,
    many_games,
    next_game,
)
from croupier.conformance.conditions import Condition, after_game, finished, in_game
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.core.bank import BankState, bank_cards, client_cards
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET, TARGET_HALVES, total
from croupier.rooms.sevenhalf.wire import Ante, Bksc, Card, Erro, Stbt


def obligation(conversation: Conversation) -> str:
    """The clause by which the client has to act, empty if it need not."""
    if conversation.referee.game is None:
        return ""
    state = conversation.referee.game.state
    if is_ante_refused(conversation):
        return "sevenhalf-7.4"
    if state.node is state.node.after_raise:
        return "sevenhalf-4.4"
    if not state.cards:
        return "sevenhalf-4.2"
    return "sevenhalf-4.7" if total(state.cards) == TARGET_HALVES else "sevenhalf-4.3"


def has_raised(conversation: Conversation) -> bool:
    """The client has raised its bet in a game; it may have sent the DRAW after it at once."""
    before_answer = dropwhile(lambda line: line.side == HOUSE, reversed(conversation.lines))
    last_sent = takewhile(lambda line: line.side == CLIENT, before_answer)
    return conversation.referee.game is not None and any(isinstance(line.message, Ante) for line in last_sent)


def is_ante_refused(conversation: Conversation) -> bool:
    """The house has refused an ANTE, and the game goes on."""
    last = conversation.lines[-1] if conversation.lines else None
    is_refused = last is not None and last.side == HOUSE and isinstance(last.message, Erro)
    return is_refused and conversation.referee.game is not None


def is_limit_of_house(violation: Violation, sent: object, _: Sequence[DialogueLine]) -> bool:
    """Whether an ANTE is too much only together with the bet: the document has no limit, and a gain has to fit."""
    return violation.clause == "sevenhalf-7.3" and isinstance(sent, Ante) and sent.coins <= MAX_TOTAL_BET


def starting_bet(holds: Callable[[int], bool]) -> Condition:
    """A condition holds for the last starting bet."""

    def is_reached(conversation: Conversation) -> bool:
        bets = (line.message.coins for line in reversed(conversation.lines) if isinstance(line.message, Stbt))
        return any(holds(bet) for bet in islice(bets, 1))

    return is_reached


def shows_suit(letter: str) -> Condition:
    """A card of this suit has just been dealt or shown."""
    return just_received(lambda message: any(card[1] == letter for card in cards_of(message)))


def cards_of(message: object) -> Sequence[str]:
    """The cards of a message."""
    if isinstance(message, Card):
        return (message.card,)
    return message.cards if isinstance(message, Bksc) else ()


def is_bust(state: BankState) -> bool:
    """The client is over seven and a half."""
    return total(client_cards(state)) > TARGET_HALVES


FIGURES_DECK: Final = "so co ro sc cc rc se ce re sb cb rb 7o 6o 5o"
"""A deck of figures, which count a half each: a client can draw many cards."""

MANY_BANK_CARDS_DECK: Final = "6o so co ro sc cc rc se ce re sb cb rb 1o 1c 1e 1b"
"""A client that passes with six makes the bank draw all figures."""

STARTING_BETS: Final[Mapping[str, tuple[int, str]]] = {
    "one": (1, "The starting bet is one coin"),
    "ten": (10, "The last byte of the starting bet is a line feed"),
    "line-ends": (0x0D0A0D0A, "The starting bet looks like line ends"),
    "spaces": (0x0A202020, "The starting bet looks like white space"),
    "quotes": (0x22272227, "The starting bet looks like quotes"),
    "high-bytes": (0x00FFFEFF, "The starting bet is no text"),
    "words": (int.from_bytes(b"\x0aERR"), "The starting bet looks like letters"),
    "large": (MAX_TOTAL_BET // 4, "The starting bet is large"),
}
"""Starting bets whose bytes look like something else."""

LARGEST_STARTING_BET: Final = 0x3F1E7A5B
"""So large that an ANTE with its bytes backwards is too much, and no part of it looks like bytes in another order."""

PLAINEST_STATE: Final = ClientTestState(
    "first-card",
    "The client receives its bet and draws",
    "sevenhalf-4.1",
    in_game(lambda game: not game.state.cards),
    "the client never started a game",
    allows_goodbye=True,
)
BUST_STATE: Final = ClientTestState(
    "over",
    "A card puts the client over: the game is over without a PASS",
    "sevenhalf-4.6",
    after_game(lambda game: is_bust(game.state)),
    "the client never drew too much",
    decks="1o 7c 6e 7b / 2o 6c 7e 6b / 3o 7o 7c 6e",
    max_games=20,
)
PASSED_STATE: Final = ClientTestState(
    "passes",
    "The client passes: the bank's cards and the gain end the game",
    "sevenhalf-4.5",
    after_game(lambda game: not is_bust(game.state)),
    "the client never passed",
    decks="7o 1c 7c 7e / 6o 7c 4c",
)
REFUSED_ANTE_STATE: Final = ClientTestState(
    "refused-ante",
    "A refused ANTE adds nothing: the client goes on as before it",
    "sevenhalf-7.4",
    is_ante_refused,
    "the client never raised its bet",
    settings={"max_bet": 100},
    decks="1o 1c 1e 1b 5o 7c",
    shown_by=just_received(lambda message: isinstance(message, Erro)),
)

STATES: Final = (
    PLAINEST_STATE,
    ClientTestState(
        "decides",
        "After a card that is not too much the client draws, raises or passes",
        "sevenhalf-4.3",
        in_game(lambda game: len(game.state.cards) == 1),
        "the client never drew a card",
        allows_goodbye=True,
    ),
    ClientTestState(
        "second-card",
        "A second card is answered with another decision",
        "sevenhalf-4.2",
        in_game(lambda game: len(game.state.cards) == 2),
        "the client never drew a second card",
        decks="1o 1c 5e 7b 7e",
        allows_goodbye=True,
    ),
    ClientTestState(
        "many-cards",
        "Figures count a half: many of them are drawn",
        "sevenhalf-3.2",
        in_game(lambda game: len(game.state.cards) >= 4),
        "the client never drew four cards",
        decks=FIGURES_DECK,
        shown_by=just_received(lambda message: isinstance(message, Card) and message.card[0] in "scr"),
    ),
    PASSED_STATE,
    BUST_STATE,
    ClientTestState(
        "seven-and-a-half",
        "At seven and a half nothing happens by itself: the client sends PASS, or draws another card",
        "sevenhalf-4.7",
        in_game(lambda game: total(game.state.cards) == TARGET_HALVES),
        "the client never came to seven and a half",
        decks="so 7o 7c 7e / 1o so 6o 7c",
    ),
    ClientTestState(
        "raises",
        "An ANTE is not answered: the client goes on by itself",
        "sevenhalf-4.4",
        has_raised,
        "the client never raised its bet",
        decks="1o 1c 1e 1b 5o 7c",
        allows_goodbye=True,
    ),
    REFUSED_ANTE_STATE,
    ClientTestState(
        "bank-draws-many",
        "The bank shows many cards",
        "sevenhalf-5.1",
        after_game(lambda game: game.state.bank_card_count >= 4),
        "the bank never had to draw four cards",
        shown_by=after_game(lambda game: game.state.bank_card_count > 1),
        decks=MANY_BANK_CARDS_DECK,
    ),
    ClientTestState(
        "bank-draws-ten",
        "The bank shows as many cards as their number says, also ten and more",
        "sevenhalf-2.4",
        after_game(lambda game: game.state.bank_card_count >= 10),
        "the bank never had to draw ten cards",
        decks=MANY_BANK_CARDS_DECK,
    ),
    ClientTestState(
        "score",
        "The score of the bank is four characters after its cards",
        "sevenhalf-2.5",
        after_game(lambda game: game.state.bank_card_count == 2),
        "the bank never drew two cards",
        decks="6o 5c 1e 7b / 5o 4c 3e 7b / 7o 5c 3e 7b / 4o 3c 2e 6b",
    ),
    ClientTestState(
        "score-of-ten",
        "The score of the bank has two digits",
        "sevenhalf-2.5",
        after_game(lambda game: total(bank_cards(game.state)) >= 2 * 10),
        "the bank never had a score of ten",
        decks="6o 4c 6e 7b / 5o 4c 6e 7b / 1o 5o 4c 6e 7b",
        max_games=20,
    ),
    ClientTestState(
        "bank-shows-one",
        "The bank shows a single card",
        "sevenhalf-5.1",
        after_game(lambda game: game.state.bank_card_count == 1),
        "the bank never drew just one card",
        decks="1o 7c 7e 7b / so 6c 6e 6b",
    ),
    ClientTestState(
        "loses",
        "A gain below nothing is a loss",
        "sevenhalf-5.8",
        after_game(lambda game: game.net < 0 and not is_bust(game.state)),
        "the client never lost to a better bank",
        shown_by=after_game(lambda game: game.net < 0),
        decks="5o 6c 1e 7b / 1o 7c 7e 7b / 6o 7c 1c / 4o 5c 6e",
    ),
    ClientTestState(
        "wins",
        "The bank is over: the client has won",
        "sevenhalf-5.5",
        after_game(lambda game: game.net > 0),
        "the client never won",
        decks="5o 4c 7e 6b / 6o 5c 6e 7b / 1o 5o 5c 6e 7b",
    ),
    ClientTestState(
        "wins-double",
        "The client has seven and a half and the bank has not: the gain is twice the bet",
        "sevenhalf-5.6",
        after_game(lambda game: game.net > 0 and total(client_cards(game.state)) == TARGET_HALVES),
        "the client never won with seven and a half",
        decks="so 7o 5c 6e / so 7o 5c 6e",
    ),
    ClientTestState(
        "level",
        "Both have seven and a half: the gain is nothing",
        "sevenhalf-5.7",
        after_game(lambda game: game.net == 0),
        "client and bank never both had seven and a half",
        decks="so 7o sc 7c / so 7o sc 7c",
    ),
    next_game("sevenhalf-4.10"),
    many_games("sevenhalf-2.2"),
    ClientTestState(
        "largest-bet",
        "The bet cannot grow beyond the largest one",
        "sevenhalf-7.3",
        has_raised,
        "the client never raised its bet",
        settings={"bet": LARGEST_STARTING_BET},
        decks="1o 1c 1e 1b 5o 7c",
    ),
    *(
        ClientTestState(
            f"bet-{slug}",
            title,
            "sevenhalf-2.3",
            after_game(),
            "the client never finished a game",
            settings={"bet": bet},
            max_games=3,
            shown_by=starting_bet((lambda coins: coins > MAX_UINT16) if slug == "large" else partial(eq, bet)),
        )
        for slug, (bet, title) in STARTING_BETS.items()
    ),
    *(
        ClientTestState(
            f"all-of-{suit}",
            f"Every rank is dealt, in {suit}",
            "sevenhalf-2.4",
            finished(3),
            "the client played fewer than three games",
            decks=" / ".join(
                f"{rank}{letter} {other}{letter}"
                for rank, other in (("1", "2"), ("3", "4"), ("5", "s"), ("6", "c"), ("7", "r"))
            ),
            max_games=5,
            shown_by=shows_suit(letter),
        )
        for suit, letter in (("oros", "o"), ("copes", "c"), ("espases", "e"), ("bastos", "b"))
    ),
)
