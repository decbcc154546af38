"""The states of blackjack into which clients are led, and what a client has to do in them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import eq
from typing import Final

from croupier.conformance.clients.test_data import (
    MAX_UINT16,
    ClientTestState,
    has_house_said,
    just_received,
    many_games,
    next_game,
)
from croupier.conformance.conditions import Condition, after_game, finished, in_game
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.core.errors import Violation
from croupier.rooms.blackjack.referee import WireGame
from croupier.rooms.blackjack.rules import MAX_BET, TARGET_TOTAL, hand_total, largest_bet
from croupier.rooms.blackjack.wire import NO_COINS, Bet, Crd, Mon


def obligation(conversation: Conversation) -> str:
    """The clause by which the client has to act, empty if it need not; with nothing to bet it can only leave."""
    if conversation.referee.game is not None:
        return "blackjack-4.6"
    if not largest_bet(last_balance(conversation.lines)):
        return ""
    if has_house_said(conversation, NO_COINS):
        return "blackjack-6.6"
    return "blackjack-4.1" if is_betting(conversation) else ""


def is_limit_of_house(violation: Violation, sent: object, before: Sequence[DialogueLine]) -> bool:
    """Whether a BET is no more than the balance: it is only too much for a win to fit, which no document says."""
    is_paid = isinstance(sent, Bet) and sent.coins <= last_balance(before)
    return violation.clause == "blackjack-6.6" and is_paid


def last_balance(lines: Sequence[DialogueLine]) -> int:
    """The balance that the house has sent last, 0 if it has sent none."""
    return next((line.message.coins for line in reversed(lines) if isinstance(line.message, Mon)), 0)


def is_betting(conversation: Conversation) -> bool:
    """The house has sent the balance, and the client has to bet."""
    return bool(conversation.lines) and isinstance(conversation.lines[-1].message, Mon)


def balance(holds: Callable[[int], bool]) -> Condition:
    """A condition holds for the balance that the house has just sent."""
    return just_received(lambda message: isinstance(message, Mon) and holds(message.coins))


def deals(rank: str) -> Condition:
    """The house has just dealt a card of this rank."""
    return just_received(lambda message: isinstance(message, Crd) and message.card[0] == rank)


def has_hit_to_20_with(figures: str, game: WireGame) -> bool:
    """The client has hit to 20, and one of its cards is one of these figures."""
    ranks = {card[0] for card in game.cards}
    return len(game.cards) > 2 and not ranks.isdisjoint(figures) and hand_total(game.cards).total == TARGET_TOTAL - 1


def has_surrendered(game: WireGame) -> bool:
    """The client has surrendered."""
    return game.state.node.payoff_half_bets == -1


def has_stood(game: WireGame) -> bool:
    """The client has stood: the bank has drawn."""
    return len(game.bank) > 1


def has_won(game: WireGame) -> bool:
    """The client has won."""
    return game.net > 0


def has_hit_to_21_with(rank: str, game: WireGame) -> bool:
    """The client has won by a hit, and one of its cards is of this rank; no ace makes up for another value of it."""
    ranks = {card[0] for card in game.cards}
    return has_won(game) and not has_stood(game) and rank in ranks and "A" not in ranks


FIGURES: Final[Mapping[str, str]] = {"J": "jack", "Q": "queen", "K": "king"}

TENS: Final[Mapping[str, str]] = {"T": "ten", **FIGURES}
"""The cards that count ten."""

BALANCES: Final[Mapping[str, tuple[int, str]]] = {
    "one": (1, "The balance is one coin"),
    "ten": (10, "The last byte of the balance is a line feed"),
    "header": (int.from_bytes(b"\0PLY"), "The balance looks like a header"),
    "line-ends": (0x0D0A0D0A, "The balance looks like line ends"),
    "spaces": (0x20202020, "The balance looks like spaces"),
    "high-bytes": (0x00FFFEFF, "The balance is no text"),
    "large": (MAX_BET, "The balance is large"),
}
"""Balances whose bytes look like something else."""

LARGE_PURSE: Final = 0x5F5E10FE
"""A purse of which a third is the largest bet. With its bytes backwards, half of it cannot be bet either."""

PLAINEST_STATE: Final = ClientTestState(
    "balance",
    "The client begins a round, receives its balance, and bets",
    "blackjack-4.1",
    is_betting,
    "the client never began a round",
    allows_goodbye=True,
)
DEALT_STATE: Final = ClientTestState(
    "dealt",
    "The client is dealt its cards and decides",
    "blackjack-4.2",
    in_game(lambda game: len(game.cards) == 2),
    "the client never bet",
    allows_goodbye=True,
)
HIT_STATE: Final = ClientTestState(
    "hits",
    "A hit that leaves the client below 21 is followed by another decision",
    "blackjack-4.3",
    in_game(lambda game: len(game.cards) == 3),
    "the client never hit below 21",
    decks="2H 3D TS 2C 3C 2D 4C TH QD / 2S 2D TS 3C 4C 2H TD 5D / 3H 2D 9S 4C 5C 8D TH",
    allows_goodbye=True,
)
STAND_STATE: Final = ClientTestState(
    "stands",
    "The client stands: the bank draws and the round ends",
    "blackjack-4.4",
    after_game(has_stood),
    "the client never stood",
    decks="TH QD 9S 8C TC / KH QC 6S TD / TS 9D 7H TC",
)

STATES: Final = (
    PLAINEST_STATE,
    DEALT_STATE,
    HIT_STATE,
    STAND_STATE,
    ClientTestState(
        "hits-to-21",
        "A hit to 21 wins at once",
        "blackjack-3.5",
        after_game(lambda game: has_won(game) and not has_stood(game)),
        "the client never hit to 21",
        decks="6H 5D 9S TC 2C / 5H 6D 9C KC 2S / 7H 4D TS QC 2C",
        max_games=20,
    ),
    ClientTestState(
        "hits-too-much",
        "A hit over 21 loses at once",
        "blackjack-3.6",
        after_game(lambda game: hand_total(game.cards).total > TARGET_TOTAL),
        "the client never hit too much",
        decks="TH 2D TS KC 2C / 7H 5D TC QC 2S / TD 3D TH KS 2C",
        max_games=20,
    ),
    ClientTestState(
        "21-in-two-cards",
        "21 in two cards is nothing special: the client decides",
        "blackjack-3.7",
        in_game(lambda game: len(game.cards) == 2 and hand_total(game.cards).total == TARGET_TOTAL),
        "the client never bet",
        decks="AH KD 5S TC TH / TS AC 6S TD KH",
        demands_answer=True,
    ),
    ClientTestState(
        "bank-draws-many",
        "The bank draws many cards",
        "blackjack-3.8",
        after_game(lambda game: len(game.bank) >= 5),
        "the client never stood",
        shown_by=after_game(lambda game: len(game.bank) > 2),
        decks="TH QD 2S 2H 2C 3S 3H 3C KS / KH QC AS 2H 2C AC AD 3S 7S TS",
    ),
    ClientTestState(
        "hits-many",
        "A hand may have many cards: the client decides after each of them",
        "blackjack-3.4",
        in_game(lambda game: len(game.cards) >= 6),
        "the client never had six cards",
        demands_answer=True,
        decks="2H 2D TS 2C 2S 3H 3D 3C 3S / AH 2D TS AC AS 2H 3D 3C 4S",
    ),
    ClientTestState(
        "bank-stands-on-soft-17",
        "The bank stands on 17 and more, also with an ace that counts eleven",
        "blackjack-3.8",
        after_game(lambda game: has_stood(game) and hand_total(game.bank).is_soft),
        "the client never stood when the bank had an ace",
        decks="TH QD AS 6C 2C / KH JC 6S AC 3C / TS 9D AH 7S 2D",
    ),
    ClientTestState(
        "bank-over",
        "A bank over 21 loses",
        "blackjack-3.9",
        after_game(lambda game: game.bank_total > TARGET_TOTAL),
        "the client never stood when the bank was over 21",
        decks="TH QD 6S 6C TC / KH JC 5S TD 9D / TS 9D 6H TC 8C",
    ),
    ClientTestState(
        "wins",
        "The client wins by its cards",
        "blackjack-5.1",
        after_game(lambda game: has_won(game) and has_stood(game)),
        "the client never stood with the better hand",
        decks="TH QD 9S 8C TC / KH QC 6S TD 9D",
    ),
    ClientTestState(
        "loses",
        "The client loses by its cards",
        "blackjack-5.2",
        after_game(lambda game: game.net < 0 and has_stood(game)),
        "the client never stood with the worse hand",
        shown_by=after_game(lambda game: game.net < 0),
        decks="TH 8D TS KC 2C / KH 7C 9S TD 2D",
    ),
    ClientTestState(
        "ties",
        "A tie below 21 is the client's",
        "blackjack-3.10",
        after_game(
            lambda game: (
                has_won(game) and has_stood(game) and hand_total(game.cards).total == hand_total(game.bank).total
            )
        ),
        "the client never stood on as much as the bank has",
        decks="TH 9D TS 9C 2C / KH TC TD QS 2D",
    ),
    ClientTestState(
        "surrenders",
        "A surrender is answered by its result alone",
        "blackjack-4.5",
        after_game(has_surrendered),
        "the client never surrendered",
        decks="TH 6D TS KC 2C / KH 6C AS TD 2D",
        max_games=20,
    ),
    next_game("blackjack-4.8", "round"),
    many_games("blackjack-2.2", "frames", "round", settings={"money": 100000}),
    ClientTestState(
        "tens",
        "A ten is dealt as T",
        "blackjack-2.6",
        in_game(lambda game: "TH" in game.cards),
        "the client never bet",
        demands_answer=True,
        shown_by=deals("T"),
        decks="TH 9D TS TC TD / TH 2D TC 9C TS TD",
    ),
    *(
        ClientTestState(
            name,
            f"A {name} is dealt",
            "blackjack-2.6",
            deals(letter),
            "the client never bet",
            demands_answer=True,
            decks=f"{letter}H 9D TS TC TD / {letter}C 2H TC 9C TS TD",
        )
        for letter, name in FIGURES.items()
    ),
    ClientTestState(
        "aces",
        "Aces are dealt",
        "blackjack-3.2",
        in_game(lambda game: "AH" in game.cards),
        "the client never bet",
        demands_answer=True,
        decks="AH AD AS AC 9D 8S 7H 6H / AH 5D 6S KC 9D 8S 7H 6H",
    ),
    ClientTestState(
        "ace-of-one",
        "An ace counts one where eleven would be too much",
        "blackjack-3.2",
        in_game(lambda game: any(card[0] == "A" for card in game.cards) and not hand_total(game.cards).is_soft),
        "the client never hit with an ace",
        decks="AH 2D 9S KC 8C / 3H AD TS QC 7S / AS 2C 7D TH 6D",
        max_games=20,
    ),
    ClientTestState(
        "figures-count-ten",
        "A hit to 20 with a figure, which counts ten, does not win",
        "blackjack-3.2",
        in_game(partial(has_hit_to_20_with, "JQK")),
        "the client never hit to 20 with a figure",
        demands_answer=True,
        decks="JH 4D 9S 6C TC / 4H QD TS 6C TC / KH 3D 9S 7C TC",
        max_games=20,
    ),
    *(
        ClientTestState(
            f"{name}-counts-ten",
            f"A hit to 20 with a {name}, which counts ten, does not win",
            "blackjack-3.2",
            in_game(partial(has_hit_to_20_with, letter)),
            f"the client never hit to 20 with a {name}",
            demands_answer=True,
            decks=f"{letter}H 2D 9S 8C TC / 3H {letter}D TS 7C TC",
            max_games=20,
        )
        for letter, name in FIGURES.items()
    ),
    *(
        ClientTestState(
            f"hits-to-21-with-a-{name}",
            f"A hit to 21 wins at once, also with a {name}, which counts ten",
            "blackjack-3.2",
            after_game(partial(has_hit_to_21_with, letter)),
            f"the client never hit to 21 with a {name}",
            decks=f"6H 5D 9S {letter}C 2C / 7H 4D 9C {letter}H 2S / 4H 4D 8S 3C {letter}D 2C",
            max_games=20,
        )
        for letter, name in TENS.items()
    ),
    ClientTestState(
        "hits-to-21-with-an-ace",
        "A hit to 21 wins at once, also with an ace that counts eleven",
        "blackjack-3.2",
        after_game(lambda game: has_won(game) and not has_stood(game) and hand_total(game.cards).is_soft),
        "the client never hit to 21 with an ace",
        decks="AH 4D 9S 6C 2C / 5H AD 9S 5C 2S / AS 2C 7D 8H 2D",
        max_games=20,
    ),
    ClientTestState(
        "several-decks",
        "The same card twice, as from several decks",
        "blackjack-3.1",
        after_game(lambda game: len({*game.cards}) < len(game.cards)),
        "the client never finished a round",
        settings={"decks": 2},
        decks="9H 9H TS TS TC / 8H 8H TS 9C TC",
    ),
    ClientTestState(
        "empty-purse",
        "A client with an empty purse has nothing to bet: the client leaves",
        "blackjack-7.5",
        is_betting,
        "the client never began a round",
        settings={"money": 0},
        may_rest=True,
    ),
    ClientTestState(
        "loses-everything",
        "A client bets no more than it has left",
        "blackjack-7.4",
        finished(3),
        "the client did not play three rounds with the few coins that it had",
        settings={"money": 25},
        decks="TH 7D TS KC 2C / KH 7C 9S TD 2D",
        max_games=6,
    ),
    ClientTestState(
        "small-purse",
        "The balance limits the bet",
        "blackjack-7.2",
        in_game(),
        "the client never bet",
        settings={"money": 3},
    ),
    ClientTestState(
        "large-purse",
        "A bet that is won has to fit into the purse: the balance limits it",
        "blackjack-7.4",
        after_game(),
        "the client never finished a round",
        settings={"money": LARGE_PURSE},
        max_games=3,
    ),
    *(
        ClientTestState(
            f"balance-{slug}",
            title,
            "blackjack-2.3",
            after_game(),
            "the client never finished a round",
            settings={"money": money},
            max_games=3,
            shown_by=balance((lambda coins: coins > MAX_UINT16) if slug == "large" else partial(eq, money)),
        )
        for slug, (money, title) in BALANCES.items()
    ),
)
