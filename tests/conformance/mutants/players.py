"""The mutations of players: what a client of each room says wrongly in each state, and how it misreads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from croupier.core.room import HouseRoom
from croupier.rooms.blackjack.player import Options as BlackjackOptions
from croupier.rooms.kuhn.player import Options as KuhnOptions
from croupier.rooms.sevenhalf.player import Options as SevenhalfOptions
from tests.conformance.mutants import blackjack, kuhn, sevenhalf
from tests.conformance.mutants.kuhn import HISTORIES
from tests.conformance.mutants.mutant_player import PlayerSetup
from tests.conformance.mutants.mutation import Change, Mutation, Reader, Situation, clauses, text_of
from tests.conformance.mutants.operators import READERS

HUGE_BET = (1 << 30) + 0x7F
"""A bet above the largest one in both byte orders."""


@dataclass(frozen=True)
class Duty:
    """What a client sends in a state. `clauses` say that it has to send something, none if it may leave.

    `wrong` maps messages that are not allowed there to the clauses that they break.
    """

    state: str
    sent: str
    clauses: frozenset[str]
    wrong: Mapping[bytes, frozenset[str]]

    def is_due(self, situation: Situation) -> bool:
        return situation.is_for(self.state, self.sent)


@dataclass(frozen=True)
class PlayerTable:
    """What the operators know of the clients of a room. `spellings` are as in `RoomTable`."""

    name: str
    duties: Sequence[Duty]
    spellings: Mapping[str, tuple[bytes, Callable[[bytes], bytes], frozenset[str]]]
    stream_clauses: frozenset[str]
    more: Sequence[Mutation] = ()
    readers: Mapping[str, Callable[[HouseRoom], Reader]] = field(default_factory=lambda: READERS)


def client_mutations(room: PlayerTable) -> Iterator[Mutation]:
    """The mutations of a player."""
    for duty in room.duties:
        if duty.clauses:
            yield replace(
                _new(room, duty, "silent", duty.sent, duty.clauses, lambda messages: messages),
                change=_silent_from(duty.is_due, is_included=True),
            )
        for other, broken in duty.wrong.items():
            name = repr(other)[2:-1]
            if other.strip().rstrip(b"}") != duty.sent.encode():  # it would be the message itself
                yield _new(
                    room, duty, "replaced", f"{duty.sent} by {name}", broken, lambda messages, other=other: [other]
                )
            yield _new(
                room,
                duty,
                "preceded",
                f"{duty.sent} by {name}",
                broken,
                lambda messages, other=other: [other, *messages],
            )
        for name, (code, misspell, broken) in room.spellings.items():
            if duty.sent.encode().startswith(code):
                yield _new(
                    room,
                    duty,
                    "misspelt",
                    f"{duty.sent} {name}",
                    broken,
                    lambda messages, misspell=misspell: [misspell(messages[0])],
                )
    for what, new_reader in room.readers.items():
        yield Mutation(
            room=room.name,
            role="client",
            operator="misreads",
            state="always",
            what=what,
            clauses=room.stream_clauses,
            new_reader=new_reader,
        )
    yield from room.more


def _new(
    room: PlayerTable,
    duty: Duty,
    operator: str,
    what: str,
    broken: frozenset[str],
    change: Callable[[list[bytes]], Sequence[bytes]],
) -> Mutation:
    return Mutation(
        room=room.name,
        role="client",
        operator=operator,
        state=duty.state,
        what=what,
        clauses=broken,
        change=lambda situation, messages: change(messages) if duty.is_due(situation) else messages,
    )


def _silent_from(is_due: Callable[[Situation], bool], *, is_included: bool) -> Change:
    """Send nothing any more from such a message on, or after it."""

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        was_silent = situation.memory.get("is silent", False)
        situation.memory["is silent"] = is_silent = was_silent or is_due(situation)
        return [] if (is_silent if is_included else was_silent) else messages

    return change


def _wrong(room: str, **by_clause: Sequence[bytes]) -> Mapping[bytes, frozenset[str]]:
    """Messages by the clause that they break: `_wrong("kuhn", _6_1=[b"ACTN CAL"])`."""
    return {
        message: clauses(room, name[1:].replace("_", "."))
        for name, messages in by_clause.items()
        for message in messages
    }


def _later(room: str, what: str, broken: frozenset[str], change: Change, state: str = "always") -> Mutation:
    return Mutation(
        room=room, role="client", operator="converses wrongly", state=state, what=what, clauses=broken, change=change
    )


def _case_reader(is_read: Callable[[bytes], bool], garbage: bytes) -> Callable[[HouseRoom], Reader]:
    """Reads only what is spelt in one way."""
    return lambda room: lambda data: [data if is_read(data) else garbage]


# Kuhn poker.


def kuhn_state(player: Any) -> str:
    game = player.game
    if game is None:
        return kuhn.IDLE[player.last_game is not None]
    return HISTORIES.get(game.history, "waiting")


ACTIONS = [b"ACTN CHK", b"ACTN BET", b"ACTN CAL", b"ACTN FLD"]
SEATS, SHOWN = [b"STRT P_1", b"STRT P_2"], [b"CARD C_K"]

KUHN_SPELLINGS = {name: spelling for name, spelling in kuhn.SPELLINGS.items() if spelling[0] in {b"", b"STRT", b"ACTN"}}


def _is_fold(situation: Situation) -> bool:
    return text_of(situation.message) == "ACTN FLD"


KUHN = PlayerTable(
    name="kuhn",
    duties=(
        *(
            Duty(
                state,
                "STRT",
                clauses("kuhn", "1.2") if state == kuhn.IDLE[0] else frozenset(),
                _wrong("kuhn", _6_2=ACTIONS, _6_4=SHOWN),
            )
            for state in kuhn.IDLE
        ),
        *(
            Duty(
                state,
                "ACTN",
                clauses("kuhn", duty),
                _wrong(
                    "kuhn",
                    _6_1=[each for each in ACTIONS if each[5:].decode() not in kuhn.ACTIONS_BY_STATE[state]],
                    _6_3=SEATS[:1],
                    _6_4=SHOWN,
                ),
            )
            for state, duty in zip(kuhn.PLAYING, ("4.1", "4.2", "4.2", "4.3"), strict=True)
        ),
    ),
    spellings=KUHN_SPELLINGS,
    stream_clauses=clauses("kuhn", "1.3", "2.1"),
    more=(
        _later(
            "kuhn", "waits for an answer to its fold", clauses("kuhn", "4.7"), _silent_from(_is_fold, is_included=False)
        ),
        Mutation(
            room="kuhn",
            role="client",
            operator="misreads",
            state="always",
            what="reads capital letters only",
            clauses=clauses("kuhn", "2.3"),
            new_reader=_case_reader(lambda data: data == data.upper(), b"????"),
        ),
    ),
)


# Seven and a half.


def sevenhalf_state(player: Any) -> str:
    game = player.game
    if game is None:
        return sevenhalf.IDLE[player.last_game is not None]
    if not game.state.cards:
        return sevenhalf.DEALING
    return sevenhalf.DECIDING if "PASS" in game.state.node.moves else sevenhalf.RAISED


def _ante(coins: int) -> bytes:
    return b"ANTE " + coins.to_bytes(4, signed=True)


HOUSE_WORDS = [b"STBT " + (100).to_bytes(4), b"CARD 7o"]

SEVENHALF_SPELLINGS = {
    "with a NUL at its end": (b"", lambda data: data + b"\0", clauses("sevenhalf", "2.1", "2.9")),
    "with a quote at its end": (b"", lambda data: data + b"'", clauses("sevenhalf", "2.1", "2.9")),
    "with another code": (b"", lambda data: b"SEND" + data[4:], clauses("sevenhalf", "2.2", "2.9")),
    "in UTF-16": (b"", lambda data: data.decode("latin-1").encode("utf-16-be"), clauses("sevenhalf", "2.1", "2.9")),
    "without its last letter": (b"", lambda data: data[:-1], clauses("sevenhalf", "2.1", "2.2", "2.3", "2.9")),
}

SEVENHALF = PlayerTable(
    name="sevenhalf",
    duties=(
        *(
            Duty(
                state,
                "STRT",
                clauses("sevenhalf", "1.2") if state == sevenhalf.IDLE[0] else frozenset(),
                _wrong("sevenhalf", _6_1=[b"DRAW", b"PASS", _ante(10)], _6_5=HOUSE_WORDS),
            )
            for state in sevenhalf.IDLE
        ),
        Duty(
            sevenhalf.DEALING,
            "DRAW",
            clauses("sevenhalf", "4.1", "4.2"),
            _wrong("sevenhalf", _6_2=[b"STRT", b"PASS", _ante(10)], _6_5=HOUSE_WORDS),
        ),
        *(
            Duty(
                sevenhalf.DECIDING,
                sent,
                clauses("sevenhalf", "4.2", "4.3"),
                _wrong("sevenhalf", _6_3=[b"STRT"], _6_5=HOUSE_WORDS),
            )
            for sent in ("DRAW", "PASS")
        ),
        Duty(
            sevenhalf.DECIDING,
            "ANTE",
            clauses("sevenhalf", "4.2", "4.3"),
            {
                **_wrong("sevenhalf", _7_2=[_ante(0), _ante(-5)], _7_3=[_ante(HUGE_BET)]),
                _ante(10)[:5] + _ante(10)[:4:-1]: clauses("sevenhalf", "2.3", "7.3"),
                b"ANTE 10  ": clauses("sevenhalf", "2.1", "2.3", "7.3"),
                b"ANTE \0\x0a": clauses("sevenhalf", "2.1", "2.3", "2.9"),
            },
        ),
        Duty(
            sevenhalf.RAISED,
            "DRAW",
            clauses("sevenhalf", "4.4"),
            {
                **_wrong("sevenhalf", _6_4=[b"PASS"], _7_2=[_ante(0)], _6_5=HOUSE_WORDS[:1]),
                b"STRT": clauses("sevenhalf", "6.3", "6.4"),  # as the house may have refused the ANTE
            },
        ),
    ),
    spellings=SEVENHALF_SPELLINGS,
    stream_clauses=clauses("sevenhalf", "1.3", "2.1"),
    more=(
        _later(
            "sevenhalf",
            "waits for an answer to its ANTE",
            clauses("sevenhalf", "4.4"),
            lambda situation, messages: [] if situation.state == sevenhalf.RAISED else messages,
            sevenhalf.RAISED,
        ),
        Mutation(
            room="sevenhalf",
            role="client",
            operator="misreads",
            state="always",
            what="reads capital codes only",
            clauses=clauses("sevenhalf", "2.7"),
            new_reader=_case_reader(lambda data: data[:4] == data[:4].upper(), b"????"),
        ),
    ),
)


# Blackjack.


def blackjack_state(player: Any) -> str:
    if player.game is not None:
        return blackjack.DECIDING
    legal = {text_of(message)[:3] for message in player.legal}
    return blackjack.BETTING if "BET" in legal else blackjack.IDLE[player.last_game is not None]


def _bet(coins: int) -> bytes:
    return b"BET" + coins.to_bytes(4, signed=True)


MOVES = [b"MOV\0H", b"SRD"]
WORDS = [b"TRN", b"MON" + (1000).to_bytes(4)]

BLACKJACK_SPELLINGS = {
    "with a line end": (b"", lambda data: data + b"\n", clauses("blackjack", "2.1", "2.10")),
    "with a NUL at its end": (b"", lambda data: data + b"\0", clauses("blackjack", "2.1", "2.10")),
    "in small letters": (b"", lambda data: data[:3].lower() + data[3:], clauses("blackjack", "2.5", "2.10")),
    "with another header": (b"", lambda data: b"SND" + data[3:], clauses("blackjack", "2.2", "2.10")),
    "without its last byte": (
        b"",
        lambda data: data[:-1],
        clauses("blackjack", "2.1", "2.2", "2.3", "2.4", "2.10"),
    ),
}

BLACKJACK = PlayerTable(
    name="blackjack",
    duties=(
        *(
            Duty(
                state,
                "PLY",
                clauses("blackjack", "1.2") if state == blackjack.IDLE[0] else frozenset(),
                _wrong("blackjack", _6_3=[_bet(10), *MOVES], _6_4=WORDS),
            )
            for state in blackjack.IDLE
        ),
        Duty(
            blackjack.BETTING,
            "BET",
            clauses("blackjack", "4.1"),
            {
                **_wrong("blackjack", _6_3=[b"PLY", *MOVES], _6_4=WORDS, _6_5=[_bet(0), _bet(-5)]),
                **_wrong("blackjack", _6_6=[_bet(HUGE_BET)]),
                b"BET" + (10).to_bytes(4, "little"): clauses("blackjack", "2.3", "6.6"),
                b"BET10  ": clauses("blackjack", "2.3", "6.6"),
                b"BET\0\x0a": clauses("blackjack", "2.1", "2.3", "6.6"),
            },
        ),
        *(
            Duty(
                blackjack.DECIDING,
                sent,
                clauses("blackjack", "4.2", "4.3", "4.6"),
                {
                    **_wrong("blackjack", _6_3=[b"PLY", _bet(10)], _6_4=WORDS),
                    b"MOV\0X": clauses("blackjack", "2.11", "6.5"),
                    b"MOV\0h": clauses("blackjack", "2.5", "2.11", "6.5"),
                    b"MOVH": clauses("blackjack", "2.1", "2.4", "2.11"),
                    b"MOVH\0": clauses("blackjack", "2.4", "2.11", "6.5"),
                },
            )
            for sent in ("MOV", "SRD")
        ),
    ),
    spellings=BLACKJACK_SPELLINGS,
    stream_clauses=clauses("blackjack", "1.3", "2.1"),
)

SETUPS = {
    "kuhn": PlayerSetup(kuhn_state, KuhnOptions()),
    "sevenhalf": PlayerSetup(sevenhalf_state, SevenhalfOptions(limit=3)),
    "blackjack": PlayerSetup(blackjack_state, BlackjackOptions()),
}
TABLES = {table.name: table for table in (KUHN, SEVENHALF, BLACKJACK)}
ALL = {name: partial(client_mutations, table) for name, table in TABLES.items()}
