"""The mutations of Kuhn poker, derived from docs/protocols/kuhn.md and the tables of the room."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from croupier.rooms.kuhn.rules import P_1
from croupier.rooms.kuhn.wire import ACTN, TABLE, VOCABULARY
from tests.conformance.mutants import decks
from tests.conformance.mutants.mutation import Mutation, Situation, clauses, text_of
from tests.conformance.mutants.operators import (
    Exchange,
    RoomTable,
    misread,
    mixed_up,
    moved_by_errors,
    only_in,
    server_mutations,
)
from tests.conformance.mutants.purses import add_coins, paying
from tests.rooms.conversation_fixture import HANG_UP

kuhn = partial(clauses, "kuhn")

WRONG, POOR, GOODBYE = b"FAIL W_A", b"FAIL N_C", b"DISC"
CARD, CHECK, BET, CALL, FOLD = b"CARD", b"ACTN CHK", b"ACTN BET", b"ACTN CAL", b"ACTN FLD"

IDLE = ("before the first game", "between games")
ACTIONS_BY_STATE = {
    "as P_1": ("CHK", "BET"),
    "after the house has checked": ("CHK", "BET"),
    "after the house has bet": ("CAL", "FLD"),
    "after CHK BET": ("CAL", "FLD"),
}
"""The states of a game in which the client acts, and its choices."""

PLAYING = (*ACTIONS_BY_STATE,)
HISTORIES = {(): PLAYING[0], ("CHK",): PLAYING[1], ("BET",): PLAYING[2], ("CHK", "BET"): PLAYING[3]}


def state_of(table: Any, games: int) -> str:
    """The state of a house."""
    return IDLE[games > 0] if table._state is None else HISTORIES[table._state.history]


LEGAL_EXCHANGES = (
    *(Exchange(state, "STRT P_1", (CARD,), kuhn("4.1")) for state in IDLE),
    *(Exchange(state, "STRT P_2", (CARD, act), kuhn("4.2")) for state in IDLE for act in (CHECK, BET)),
    *(Exchange(PLAYING[0], "ACTN CHK", (answer,), kuhn("4.3")) for answer in (CARD, BET)),
    *(Exchange(state, "ACTN BET", (answer,), kuhn("4.4")) for state in PLAYING[:2] for answer in (CARD, FOLD)),
    Exchange(PLAYING[1], "ACTN CHK", (CARD,), kuhn("4.5")),
    *(Exchange(state, "ACTN CAL", (CARD,), kuhn("4.6")) for state in PLAYING[2:]),
    *(Exchange(state, "ACTN FLD", (), kuhn("4.7")) for state in PLAYING[2:]),
)

ERROR_EXCHANGES = (
    *(Exchange(state, f"ACTN {action}", (WRONG,), kuhn("6.2"), True) for state in IDLE for action in ACTN),
    *(
        Exchange(state, f"ACTN {action}", (WRONG,), kuhn("6.1"), True)
        for state, choices in ACTIONS_BY_STATE.items()
        for action in ACTN
        if action not in choices
    ),
    *(Exchange(state, start, (WRONG,), kuhn("6.3"), True) for state in PLAYING for start in ("STRT P_1", "STRT P_2")),
    *(Exchange(state, "CARD", (WRONG,), kuhn("6.4"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "kuhn-2.6", (WRONG,), kuhn("2.6"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "kuhn-2.7", (WRONG, GOODBYE, HANG_UP), kuhn("2.7"), True) for state in (*IDLE, *PLAYING)),
)

SILENT_EXCHANGES = (
    *(Exchange(state, "FAIL", (), kuhn("6.5"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "kuhn-2.8", (), kuhn("2.8", "6.5"), True) for state in (*IDLE, *PLAYING)),
    *(Exchange(state, "DISC", (HANG_UP,), kuhn("8.1")) for state in (*IDLE, *PLAYING)),
)


def blame(exchange: Exchange, place: int, other: bytes) -> frozenset[str] | None:
    """See `Blame`."""
    due = exchange.clauses
    if place == len(exchange.reply):
        return _blame_added(exchange, other)
    instead_of = exchange.reply[place]
    if other == CALL:
        return kuhn("4.8") | (due if exchange.is_error else frozenset())
    if other == CHECK and exchange.sent == "ACTN CHK" and not exchange.is_error:
        return due | kuhn("4.8")
    if other.startswith(b"STRT"):
        return due | kuhn("2.2")
    if other == GOODBYE:
        return due | kuhn("8.2")
    if other == POOR:
        costs = {"STRT P_1": "7.2", "STRT P_2": "7.2", "ACTN BET": "7.3", "ACTN CAL": "7.3"}
        if exchange.is_error:
            return due | kuhn("6.6")
        return kuhn(costs[exchange.sent], "7.1") if exchange.sent in costs and place == 0 else due
    legal = {reply[place] for reply in _replies(exchange) if len(reply) > place}
    if any(other.startswith(each) for each in legal) or (other[:4] == CARD and instead_of == CARD):
        return None
    return due


def _replies(exchange: Exchange) -> list[tuple[bytes, ...]]:
    """All legal replies in the place of one."""
    return [each.reply for each in LEGAL_EXCHANGES if (each.state, each.sent) == (exchange.state, exchange.sent)]


def _blame_added(exchange: Exchange, other: bytes) -> frozenset[str]:
    """The clauses that a message after the reply breaks."""
    found = kuhn("4.9")
    if other == CALL:
        found |= kuhn("4.8")
    if other == GOODBYE:
        return kuhn("8.2")
    if exchange.state == IDLE[0] and exchange.is_error:
        found |= kuhn("1.2")
    if exchange.sent == "ACTN FLD" and not exchange.is_error:
        found = found | kuhn("4.7", "5.3") if other[:4] == CARD else found | kuhn("4.7")
    if exchange.reply[-1:] == (FOLD,) and other[:4] == CARD:
        found |= kuhn("5.3")
    if exchange.clauses & kuhn("6.5", "2.8"):
        found |= exchange.clauses
    return found


SPELLINGS = {
    "without its space": (b"", lambda data: data.replace(b" ", b""), kuhn("2.1", "2.7")),
    "with two spaces": (b"", lambda data: data.replace(b" ", b"  "), kuhn("2.1", "2.6", "2.7")),
    "with a tab": (b"", lambda data: data.replace(b" ", b"\t"), kuhn("2.1", "2.7")),
    "with a NUL at its end": (b"", lambda data: data + b"\0", kuhn("2.1", "2.7")),
    "with a full stop at its end": (b"", lambda data: data + b".", kuhn("2.1", "2.7")),
    "with one letter too few": (b"", lambda data: data[:-1], kuhn("2.1", "2.2", "2.6")),
    "with its last letter twice": (b"", lambda data: data + data[-1:], kuhn("2.1", "2.2", "2.6", "2.7")),
    "with another code": (b"", lambda data: b"SEND" + data[4:], kuhn("2.2", "2.7")),
    "with an unknown argument": (b"", lambda data: data[:5] + b"XYZ", kuhn("2.2", "2.6")),
    "in UTF-16": (b"", lambda data: data.decode().encode("utf-16-be"), kuhn("2.1", "2.7")),
    "as a card in words": (b"CARD", lambda data: data[:5] + b"QUEEN", kuhn("2.1", "2.2", "2.6")),
    "without its prefix": (b"CARD", lambda data: data.replace(b"C_", b""), kuhn("2.1", "2.2", "2.6")),
    "as BRT": (b"ACTN BET", lambda data: b"ACTN BRT", kuhn("2.2", "2.6")),
    "in quotes without an end": (b"", lambda data: data[:5] + b'"' + data[5:], kuhn("2.1", "2.6", "2.7")),
}

TABLE_OF_ROOM = RoomTable(
    name="kuhn",
    exchanges=(*LEGAL_EXCHANGES, *ERROR_EXCHANGES, *SILENT_EXCHANGES),
    others=[TABLE[message] for message in VOCABULARY if str(message) not in {"CARD C_J", "CARD C_K"}],
    extras=(b"CARD C_J", CHECK, CALL, WRONG, GOODBYE),
    blame=blame,
    goodbye=(GOODBYE,),
    farewell_clauses=kuhn("8.2"),
    unasked_clauses=kuhn("4.9"),
    spellings=SPELLINGS,
)


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
    new = partial(Mutation, room="kuhn", role="server", operator="deals unfairly", state="always")
    yield new(what="no shuffle", clauses=kuhn("3.2"), dealer=decks.unshuffled)
    yield new(what="one shuffle for a connection", clauses=kuhn("3.2"), dealer=decks.shuffled_once)
    yield new(what="the same card twice", clauses=kuhn("3.2", "5.4"), dealer=decks.with_first_twice)
    yield new(what="two decks", clauses=kuhn("3.2", "5.4"), dealer=decks.with_replacement)
    for number, rank in enumerate("JQK"):
        yield new(what=f"no {rank}", clauses=kuhn("3.1", "3.2"), dealer=decks.without_card(number))
        yield new(what=f"always {rank} first", clauses=kuhn("3.2"), dealer=decks.with_cards_first(number))
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


def _conversations() -> Iterator[Mutation]:
    """Faults of a whole conversation."""
    new = partial(Mutation, room="kuhn", role="server", operator="converses wrongly")
    for word in (b"CARD C_Q", WRONG, CHECK, b"HELO"):
        yield new(
            state="at the start",
            what=f"greets with {word.decode()}",
            clauses=kuhn("1.2") | (kuhn("2.7") if word == b"HELO" else frozenset()),
            change=lambda situation, messages, word=word: [word] if situation.message is None else messages,
        )
    for what, text, clause in (
        ("capital letters only", bytes.upper, "2.3"),
        ("small letters only", bytes.lower, "2.3"),
    ):
        yield new(
            state="always",
            what=f"understands {what}",
            clauses=kuhn(clause),
            new_reader=lambda room, text=text: lambda data: [data if data == text(data) else b"????"],
        )
    for games in (1, 2, 3):
        for what, last in (("", []), (" with DISC", [GOODBYE])):
            yield new(
                state="between games",
                what=f"closes after game {games}{what}",
                clauses=kuhn("4.10", "8.2"),
                change=lambda situation, messages, games=games, last=last: (
                    [*last, HANG_UP] if situation.games == games and situation.state == IDLE[1] else messages
                ),
            )
            yield (
                new(
                    state="between games",
                    what=f"refuses game {games + 1}",
                    clauses=kuhn("4.10", "4.1", "4.2"),
                    change=lambda situation, messages, games=games: (
                        [WRONG] if situation.games == games and text_of(situation.message)[:4] == "STRT" else messages
                    ),
                )
                if not last
                else new(
                    state="between games",
                    what=f"ends silently after game {games}",
                    clauses=kuhn("4.10", "4.1", "4.2"),
                    change=lambda situation, messages, games=games: [] if situation.games >= games else messages,
                )
            )
    yield new(
        state="always",
        what="ends at its first error",
        clauses=kuhn("8.2", "6.1", "6.2", "6.3", "6.4", "2.6"),
        change=lambda _, messages: [*messages, HANG_UP] if messages == [WRONG] else messages,
    )
    yield new(
        state="always",
        what="ends at its first error with DISC",
        clauses=kuhn("6.1", "6.2", "6.3", "6.4", "2.6"),
        change=lambda _, messages: [*messages, GOODBYE, HANG_UP] if messages == [WRONG] else messages,
    )
    for state in PLAYING:
        yield new(
            state=state,
            what="the purse is filled again at every game",
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
    yield from _conversations()
