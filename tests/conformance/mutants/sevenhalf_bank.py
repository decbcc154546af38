"""The mutations of seven and a half that lie deeper than its exchanges: what the bank draws, counts and pays."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from croupier.core.bank import client_cards
from croupier.rooms.sevenhalf import ROOM
from croupier.rooms.sevenhalf.rules import CARDS, TARGET_HALVES, score, total
from croupier.rooms.sevenhalf.wire import Ante, Bksc, Bstg, Card, Gain, Pass, Stbt
from tests.conformance.mutants import decks
from tests.conformance.mutants.conversations import (
    ConversationTable,
    conversation_faults,
    reads_one_case_only,
    unfair_deals,
)
from tests.conformance.mutants.mutation import Mutation, Situation
from tests.conformance.mutants.operators import misread, mixed_up, moved_by_errors, server_mutations
from tests.conformance.mutants.rewriting import Rewrite, Rewritten
from tests.conformance.mutants.sevenhalf import (
    DECIDING,
    ERROR,
    IDLE,
    PLAYING,
    STARTING_BET,
    TABLE_OF_ROOM,
    sevenhalf,
)
from tests.rooms.conversation_fixture import HANG_UP

_new = Rewritten(ROOM)


def _halves(situation: Situation, messages: Sequence[Any]) -> int:
    """The player's score in halves at the end of a game."""
    drawn = [message.card for message in messages if isinstance(message, Card)]
    return total((*client_cards(situation.game), *drawn))


def _factor(player: int, bank: int) -> int:
    """The gain in bets."""
    if player > TARGET_HALVES:
        return -1
    if player == TARGET_HALVES:
        return 0 if bank == TARGET_HALVES else 2
    return 1 if bank > TARGET_HALVES or bank < player else 0 if bank == player else -1


type Outcome = Callable[[int, int], bool]
"""Whether a player's and a bank's score in halves are this outcome."""

OUTCOMES: dict[str, tuple[str, Outcome]] = {
    "5.4": ("the player is over", lambda player, bank: player > TARGET_HALVES),
    "5.5": ("the bank is over", lambda player, bank: player < TARGET_HALVES < bank),
    "5.6": ("the player has 7½", lambda player, bank: player == TARGET_HALVES != bank),
    "5.7": ("both have 7½", lambda player, bank: player == TARGET_HALVES == bank),
    "5.8": ("the bank has more", lambda player, bank: player < bank <= TARGET_HALVES),
}

WRONG_GAINS: dict[str, Callable[[int, int], int]] = {
    "nothing": lambda gain, bet: 0,
    "the other sign": lambda gain, bet: -gain,
    "twice as much": lambda gain, bet: 2 * gain,
    "the bet on top": lambda gain, bet: gain + bet,
    "one coin less": lambda gain, bet: gain - 1,
}


def _gains() -> Iterator[Mutation]:
    """Wrong amounts of GAIN, by outcome."""
    for clause, (title, is_outcome) in OUTCOMES.items():
        for what, wrong in WRONG_GAINS.items():
            if clause == "5.7" and what in {"nothing", "the other sign", "twice as much"}:
                continue

            def rewrite(situation: Situation, messages: list[Any], is_outcome=is_outcome, wrong=wrong) -> Any:
                if not messages or not isinstance(messages[-1], Gain):
                    return messages
                *others, bank, gain = messages
                if not is_outcome(_halves(situation, messages), total(bank.cards)):
                    return messages
                return [*others, bank, Gain(wrong(gain.coins, situation.game.bet))]

            yield _new("pays wrongly", "at the end", f"{title}: {what}", rewrite, clause, "5.3")


def _bets() -> Iterator[Mutation]:
    """Bets that are counted wrongly."""

    def gains(bet_of: Callable[[Situation], int]) -> Rewrite:
        def rewrite(situation: Situation, messages: list[Any]) -> Any:
            if not messages or not isinstance(messages[-1], Gain) or messages[-1].coins == 0:
                return messages
            factor = messages[-1].coins // situation.game.bet
            return [*messages[:-1], Gain(factor * bet_of(situation))]

        return rewrite

    amounts = ("5.3", "5.4", "5.5", "5.6", "5.8")
    yield _new("pays wrongly", "at the end", "no ANTE counts", gains(lambda situation: STARTING_BET), *amounts)
    yield _new(
        "pays wrongly",
        "at the end",
        "every ANTE counts twice",
        gains(lambda situation: 2 * situation.game.bet - STARTING_BET),
        *amounts,
    )

    def keep(situation: Situation) -> int:
        antes = situation.memory.get("antes", 0) + situation.game.bet - STARTING_BET
        situation.memory["antes"] = antes
        return STARTING_BET + int(antes)

    yield _new("pays wrongly", "at the end", "ANTEs of former games count", gains(keep), *amounts)
    yield _new("pays wrongly", "at the end", "the bet is always 1", gains(lambda situation: 1), *amounts)
    for what, coins in (("50", 50), ("1000", 1000)):
        yield _new(
            "pays wrongly",
            IDLE[0],
            f"STBT says {what} and 100 are played for",
            lambda situation, messages, coins=coins: [
                Stbt(coins) if isinstance(message, Stbt) else message for message in messages
            ],
            "5.3",
            "5.4",
            "5.8",
            "7.1",
        )

    def add_refused(table: Any, situation: Situation) -> None:
        message, game = situation.message, table._state
        if isinstance(message, Ante) and game is not None and game is situation.game and 0 < abs(message.coins) < 1000:
            table._state = replace(game, bet=game.bet + abs(message.coins))

    yield Mutation(
        room="sevenhalf",
        role="server",
        operator="moved by an error",
        state="always",
        what="a refused ANTE counts",
        clauses=sevenhalf("7.4", "5.3", "6.2", "6.9", "7.2", "7.5"),
        after=add_refused,
    )


type Draw = Callable[[int, tuple[str, ...], list[str]], Sequence[str]]
"""Maps the player's score, the bank's cards and the cards that are left to the cards that the bank shows."""


def _until(stops: Callable[[int, int], bool]) -> Draw:
    """Draw, at least one card, until a condition on the scores of player and bank holds."""

    def draw(player: int, cards: tuple[str, ...], left: list[str]) -> Sequence[str]:
        shown: list[str] = []
        for card in (*cards, *left):
            shown.append(card)
            if stops(player, total(tuple(shown))):
                break
        return shown

    return draw


DRAWS: dict[str, tuple[Draw, tuple[str, ...], bool | None]] = {
    "no card": (lambda player, cards, left: (), ("3.6", "3.7", "5.1"), None),
    "one card only": (lambda player, cards, left: cards[:1], ("3.6",), False),
    "one card too many": (lambda player, cards, left: [*cards, left[0]], ("3.6",), False),
    "one card too few": (lambda player, cards, left: cards[:-1] or cards, ("3.6",), False),
    "two cards against a bust": (lambda player, cards, left: [*cards, left[0]], ("3.7",), True),
    "on against a bust": (_until(lambda player, bank: bank > 10), ("3.7",), True),
    "until it has as much as the player": (_until(lambda player, bank: bank >= player), ("3.6",), False),
    "on at seven and a half": (_until(lambda player, bank: bank > TARGET_HALVES), ("3.6",), False),
    "until five and a half": (_until(lambda player, bank: bank >= 11), ("3.6",), False),
    "until it is over": (_until(lambda player, bank: bank > TARGET_HALVES), ("3.6",), False),
    "a card of the player": (lambda player, cards, left: cards, ("3.3",), None),
    "its first card twice": (lambda player, cards, left: [cards[0], *cards], ("3.3", "3.6", "3.7"), None),
}
"""How a bank may draw, the clauses that are broken, and whether against a player who is over (None: both)."""


def _draws() -> Iterator[Mutation]:
    """Wrong rules of the bank, with a score and a gain that fit its cards."""
    for what, (draw, numbers, against_bust) in DRAWS.items():

        def rewrite(  # what the bank shows and pays, by another rule
            situation: Situation, messages: list[Any], what=what, draw=draw, against_bust=against_bust
        ) -> Any:
            if not messages or not isinstance(messages[-1], Gain):
                return messages
            *others, bank, _ = messages
            player = _halves(situation, messages)
            if against_bust is not None and against_bust != (player > TARGET_HALVES):
                return messages
            own = (*client_cards(situation.game), *(each.card for each in others if isinstance(each, Card)))
            left = [card for card in CARDS if card not in own and card not in bank.cards]
            shown = tuple(draw(player, bank.cards, left))
            if what == "a card of the player":
                shown = (own[0], *bank.cards[1:])
            factor = _factor(player, total(shown))
            return [*others, Bksc(shown, score(total(shown))), Gain(factor * situation.game.bet)]

        yield _new("draws wrongly", "at the end", f"the bank draws {what}", rewrite, *numbers)


def _scores() -> Iterator[Mutation]:
    """Scores that do not fit the cards."""
    wrong: dict[str, Callable[[tuple[str, ...]], int]] = {
        "half a point too much": lambda cards: total(cards) + 1,
        "half a point too little": lambda cards: max(0, total(cards) - 1),
        "of the last card": lambda cards: total(cards[-1:]),
        "with figures as ones": lambda cards: total(cards) + sum(card[0] in "scr" for card in cards),
        "that is cut at 07.5": lambda cards: min(total(cards), TARGET_HALVES),
        "without halves": lambda cards: total(cards) // 2 * 2,
        "of nothing when over": lambda cards: 0 if total(cards) > TARGET_HALVES else total(cards),
    }
    for what, counted in wrong.items():
        yield _new(
            "counts wrongly",
            "at the end",
            f"a score {what}",
            lambda situation, messages, counted=counted: [
                Bksc(message.cards, score(counted(message.cards))) if isinstance(message, Bksc) else message
                for message in messages
            ],
            "5.2",
            "3.2",
        )


def _limits() -> Iterator[Mutation]:
    """Players that are over too early or too late."""

    def ends_at(halves: int, *, with_bust: bool) -> Rewrite:
        def rewrite(situation: Situation, messages: list[Any]) -> Any:
            if len(messages) != 1 or not isinstance(messages[0], Card) or _halves(situation, messages) != halves:
                return messages
            own = (*client_cards(situation.game), messages[0].card)
            card = next(card for card in CARDS if card not in own)
            bust = [Bstg()] if with_bust else []
            gain = -1 if with_bust else _factor(halves, total((card,)))
            return [*messages, *bust, Bksc((card,), score(total((card,)))), Gain(gain * situation.game.bet)]

        return rewrite

    yield _new("ends too early", DECIDING, "at seven and a half", ends_at(TARGET_HALVES, with_bust=False), "4.7")
    yield _new("ends too early", DECIDING, "over at 7½", ends_at(TARGET_HALVES, with_bust=True), "4.7", "3.4", "4.6")
    yield _new("ends too early", DECIDING, "over at 7", ends_at(TARGET_HALVES - 1, with_bust=True), "3.4", "4.6")
    yield _new(
        "ends too late",
        DECIDING,
        "a player with 8 is not over",
        lambda situation, messages: (
            messages[:1]
            if any(isinstance(message, Bstg) for message in messages)
            and _halves(situation, messages) == TARGET_HALVES + 1
            else messages
        ),
        "3.4",
        "4.6",
    )


def _cards() -> Iterator[Mutation]:
    """Unfair decks."""
    some = {number: CARDS[number] for number in (0, 13, 39)}
    yield from unfair_deals("sevenhalf", sevenhalf("3.3"), sevenhalf("3.1"), some)
    for rank in "7scr":
        yield Mutation(
            room="sevenhalf",
            role="server",
            operator="deals unfairly",
            state="always",
            what=f"no {rank} is ever dealt",
            clauses=sevenhalf("3.1", "3.3"),
            dealer=decks.without_cards(*(number for number, card in enumerate(CARDS) if card[0] == rank)),
        )


NEXT_CLAUSES = sevenhalf("4.10", "4.1")

CONVERSATIONS = ConversationTable(
    name="sevenhalf",
    greetings={
        b"STBT " + (100).to_bytes(4): sevenhalf("1.2"),
        b"ERRO 05hello": sevenhalf("1.2", "6.8"),  # an ERRO that answers nothing can only be a closing one
        b"HELO": sevenhalf("1.2", "2.9"),
    },
    start="STRT",
    refusal=b"ERRO 04over",
    errors=(ERROR,),
    next_clauses=NEXT_CLAUSES,
    refused_clauses=NEXT_CLAUSES | sevenhalf("6.8"),
    closes={},
    ends={
        "": (lambda messages: [*messages, HANG_UP], sevenhalf("6.8", "6.1", "6.2", "6.3", "6.4", "6.5")),
        " without ERRO": (lambda messages: [HANG_UP], sevenhalf("8.2", "6.1", "6.2", "6.3", "6.4", "6.5")),
    },
)


def _confirmed() -> Iterator[Mutation]:
    """Answers to what is not answered, and silence where there is an answer."""
    new = partial(Mutation, room="sevenhalf", role="server", operator="converses wrongly")
    yield new(
        state=IDLE[1],
        what="discards every PASS after a bust",
        clauses=sevenhalf("4.8", "6.1"),
        change=lambda situation, messages: (
            [] if situation.state == IDLE[1] and isinstance(situation.message, Pass) else messages
        ),
    )
    yield new(
        state=DECIDING,
        what="confirms an ANTE",
        clauses=sevenhalf("4.4", "4.9"),
        change=lambda situation, messages: (
            [b"STBT " + situation.game.bet.to_bytes(4)]
            if isinstance(situation.message, Ante) and not messages and situation.game is not None
            else messages
        ),
    )


def _lose_game(table: Any, situation: Situation) -> None:
    table._forfeit()


def _raise_bet(table: Any, situation: Situation) -> None:
    table._state = replace(table._state, bet=table._state.bet + 50)


def _begin(table: Any, situation: Situation) -> None:
    table._start([])


def servers() -> Iterator[Mutation]:
    """All mutations of the house."""
    yield from server_mutations(TABLE_OF_ROOM)
    lost = {"the game is lost": _lose_game, "the bet is raised": _raise_bet}
    yield from moved_by_errors(TABLE_OF_ROOM, PLAYING, lost)
    yield from moved_by_errors(TABLE_OF_ROOM, IDLE, {"a game begins": _begin})
    yield from misread("sevenhalf", sevenhalf("1.3", "2.1"))
    yield from mixed_up("sevenhalf", sevenhalf("1.2"), None)
    yield from _gains()
    yield from _bets()
    yield from _draws()
    yield from _scores()
    yield from _limits()
    yield from _cards()
    yield from _confirmed()
    yield from reads_one_case_only("sevenhalf", sevenhalf("2.7", "6.8"), (b"STRT", b"DRAW", b"ANTE", b"PASS"), 4)
    yield from conversation_faults(CONVERSATIONS)
