"""The mutations of Kuhn poker that lie deeper than its exchanges: coins, cards and whole conversations."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from croupier.rooms.kuhn.rules import P_1
from tests.conformance.mutants.conversations import (
    ConversationTable,
    conversation_faults,
    reads_one_case_only,
    unfair_deals,
)
from tests.conformance.mutants.kuhn import (
    ACTIONS_BY_STATE,
    CARD,
    CHECK,
    GOODBYE,
    IDLE,
    LEGAL_EXCHANGES,
    PLAYING,
    POOR,
    TABLE_OF_ROOM,
    WRONG,
    kuhn,
)
from tests.conformance.mutants.mutation import Mutation, Situation, text_of
from tests.conformance.mutants.operators import (
    Exchange,
    misread,
    mixed_up,
    moved_by_errors,
    only_in,
    server_mutations,
)
from tests.conformance.mutants.purses import add_coins, paying
from tests.rooms.conversation_fixture import HANG_UP


def _lose_game(table: Any, situation: Situation) -> None:
    """The house forgets the game, and its stake with it."""
    if table._state is not None:
        table._forfeit()


ENDINGS = {
    ("ACTN CHK", PLAYING[0]): "5.1",
    ("ACTN CHK", PLAYING[1]): "5.1",
    ("ACTN BET", PLAYING[0]): "5.2",
    ("ACTN BET", PLAYING[1]): "5.2",
    ("ACTN CAL", PLAYING[2]): "5.2",
    ("ACTN CAL", PLAYING[3]): "5.2",
    ("ACTN FLD", PLAYING[2]): "5.3",
    ("ACTN FLD", PLAYING[3]): "5.3",
}
"""The client's last message, the state in which it is sent, and the clause of the result."""


def _payments() -> Iterator[Mutation]:
    """The pot is not paid, paid twice, or paid to the wrong end."""
    for (sent, state), clause in ENDINGS.items():
        for won in (True, False):
            if sent == "ACTN FLD" and won:
                continue
            for what, factor in {"not paid": 0, "paid twice": 2, "paid to the wrong end": -1}.items():

                def is_there(situation: Situation, net: int, sent=sent, state=state, won=won) -> bool:
                    return (text_of(situation.message), situation.state, net > 0) == (sent, state, won)

                note, pay = paying(is_there, factor)
                yield Mutation(
                    room="kuhn",
                    role="server",
                    operator="pays wrongly",
                    state=state,
                    what=f"{sent}: a {'win' if won else 'loss'} is {what}",
                    clauses=kuhn(clause, "7.4", *(["5.3"] if sent == "ACTN BET" else []), "3.5"),
                    before=note,
                    after=pay,
                )


def _sends(*texts: str, coins: int | None = None) -> Any:
    """Whether the client sends one of these messages, with this many coins in its purse."""
    return lambda situation: text_of(situation.message) in texts and (coins is None or situation.coins == coins)


def _costs() -> Iterator[Mutation]:
    """Antes, bets and calls that cost too little or too much, and refusals of what can be paid."""
    new = partial(Mutation, room="kuhn", role="server", operator="takes the wrong coins")
    starts = ("STRT P_1", "STRT P_2")
    for texts, state, clause in (
        *(((start,), "between games", "7.2") for start in starts),
        (("ACTN BET",), "as P_1", "7.3"),
        (("ACTN BET",), "after the house has checked", "7.3"),
        (("ACTN CAL",), "after the house has bet", "7.3"),
        (("ACTN CAL",), "after CHK BET", "7.3"),
    ):
        sends, text = _sends(*texts), texts[0]

        def is_there(situation: Situation, sends=sends, state=state) -> bool:
            return (
                bool(sends(situation))
                and (situation.state in IDLE) == (state in IDLE)
                and (state in IDLE or situation.state == state)
            )

        def is_poor(situation: Situation, is_there=is_there) -> bool:
            return is_there(situation) and situation.coins == 0

        def is_last(situation: Situation, is_there=is_there) -> bool:
            return is_there(situation) and situation.coins == 1

        found = kuhn(clause)
        yield new(state=state, what=f"{text} is free", clauses=found, after=only_in(is_there, add_coins(1)))
        yield new(state=state, what=f"{text} costs two", clauses=found, after=only_in(is_there, add_coins(-1)))
        yield new(state=state, what=f"{text} on credit", clauses=found, before=only_in(is_poor, add_coins(1)))
        yield new(
            state=state,
            what=f"{text} with the last coin is refused",
            clauses=found,
            before=only_in(is_last, add_coins(-1)),
            after=only_in(is_last, add_coins(1)),
        )
        poor = Exchange(state, text, (POOR,), found)
        for other in (WRONG, GOODBYE, b""):
            yield new(
                state=state,
                what=f"{text} that cannot be paid is answered by {other.decode() or 'nothing'}",
                clauses=found | (kuhn("8.2") if other == GOODBYE else frozenset()),
                change=_in_either(poor, other),
            )
        yield new(
            state=state,
            what=f"{text} that cannot be paid loses the game"
            if state not in IDLE
            else f"{text} on an empty purse seats",
            clauses=found,
            after=only_in(is_poor, _lose_game if state not in IDLE else _seat_for_free),
        )


def _in_either(exchange: Exchange, other: bytes) -> Any:
    """Replace the reply in this state; between games, also before the first one."""
    states = IDLE if exchange.state in IDLE else (exchange.state,)

    def change(situation: Situation, messages: list[bytes]) -> list[bytes]:
        is_met = situation.state in states and text_of(situation.message) == exchange.sent
        return [*filter(None, [other])] if is_met and messages == [*exchange.reply] else messages

    return change


def _seat_for_free(table: Any, situation: Situation) -> None:
    """A game begins although its ante was refused."""
    table._purse.coins += 1
    table._start(P_1)


def _wrong_and_poor() -> Iterator[Mutation]:
    for state, choices in ACTIONS_BY_STATE.items():
        wrong = "CAL" if "CAL" not in choices else "BET"

        def change(situation: Situation, messages: list[bytes], state=state, wrong=wrong) -> list[bytes]:
            is_met = (situation.state, text_of(situation.message), situation.coins) == (state, f"ACTN {wrong}", 0)
            return [POOR] if is_met else messages

        yield Mutation(
            room="kuhn",
            role="server",
            operator="wrong error",
            state=state,
            what=f"ACTN {wrong} with an empty purse is FAIL N_C",
            clauses=kuhn("6.6"),
            change=change,
        )


def _cards() -> Iterator[Mutation]:
    """Unfair decks, and cards that are not the ones that were dealt."""
    ranks = dict(enumerate("JQK"))
    yield from unfair_deals("kuhn", kuhn("3.2"), kuhn("3.1"), ranks, can_double=False)
    for exchange in LEGAL_EXCHANGES:
        if exchange.reply == (CARD,) and exchange.sent != "STRT P_1":
            shows = partial(Mutation, room="kuhn", role="server", operator="shows another card", state=exchange.state)
            yield shows(what=f"{exchange.sent}: the client's", clauses=kuhn("5.4"), change=_shows_own_card(exchange))
            yield shows(
                what=f"{exchange.sent}: that of the last game",
                clauses=kuhn("5.4"),
                change=_shows_old_card(exchange),
            )


def _shows_own_card(exchange: Exchange) -> Any:
    def change(situation: Situation, messages: list[bytes]) -> list[bytes]:
        if text_of(situation.message).startswith("STRT") and messages[0].startswith(CARD):
            situation.memory["own"] = messages[0]
        return [situation.memory["own"]] if exchange.is_met(situation, messages) else messages

    return change


def _shows_old_card(exchange: Exchange) -> Any:
    def change(situation: Situation, messages: list[bytes]) -> list[bytes]:
        shown = situation.memory.get("shown", b"CARD C_Q")
        if text_of(situation.message).startswith("ACTN") and messages[-1:] and messages[-1].startswith(CARD):
            situation.memory["shown"] = messages[-1]
        return [shown] if exchange.is_met(situation, messages) else messages

    return change


ERROR_CLAUSES = kuhn("6.1", "6.2", "6.3", "6.4", "2.6")

CONVERSATIONS = ConversationTable(
    name="kuhn",
    greetings={
        **dict.fromkeys((b"CARD C_Q", WRONG, CHECK), kuhn("1.2")),
        b"HELO": kuhn("1.2", "2.7"),
    },
    start="STRT",
    refusal=WRONG,
    errors=(WRONG,),
    next_clauses=kuhn("4.10", "4.1", "4.2"),
    refused_clauses=kuhn("4.10", "4.1", "4.2"),
    closes={
        what: (last, kuhn("4.10", "4.1", "4.2", "8.2")) for what, last in {"": (), " with DISC": (GOODBYE,)}.items()
    },
    ends={
        "": (lambda messages: [*messages, HANG_UP], kuhn("8.2") | ERROR_CLAUSES),
        " with DISC": (lambda messages: [*messages, GOODBYE, HANG_UP], kuhn("8.2") | ERROR_CLAUSES),
    },
)


def _refills() -> Iterator[Mutation]:
    for state in PLAYING:
        yield Mutation(
            room="kuhn",
            role="server",
            operator="takes the wrong coins",
            state=state,
            what="the purse is filled again",
            clauses=kuhn("7.1", "7.2", "7.4"),
            after=only_in(lambda situation, state=state: situation.state == state, _fill_purse),
        )


def _fill_purse(table: Any, situation: Situation) -> None:
    table._purse.coins = 10


def servers() -> Iterator[Mutation]:
    """All mutations of the house."""
    yield from server_mutations(TABLE_OF_ROOM)
    lost = {"the game is lost": _lose_game, "a coin is taken": add_coins(-1)}
    begun = {"a game begins": _seat_for_free, "a coin is taken": add_coins(-1)}
    yield from moved_by_errors(TABLE_OF_ROOM, PLAYING, lost)
    yield from moved_by_errors(TABLE_OF_ROOM, IDLE, begun)
    yield from misread("kuhn", kuhn("1.3", "2.1"))
    yield from mixed_up("kuhn", kuhn("1.2"), kuhn("7.1"))
    yield from _payments()
    yield from _costs()
    yield from _wrong_and_poor()
    yield from _cards()
    yield from _refills()
    yield from reads_one_case_only("kuhn", kuhn("2.3"), (b"STRT", b"ACTN"))
    yield from conversation_faults(CONVERSATIONS)
