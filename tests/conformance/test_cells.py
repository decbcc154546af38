"""Cells: who is to blame, by the conversations and the ends of both programs; and how cells are stored."""

from pathlib import Path

import msgspec
import pytest

from croupier.conformance.conversation import Conversation
from croupier.conformance.matrix.cells import Cell, CellFile, CellFinding, CellKind, ProgramEnd
from croupier.conformance.matrix.verdicts import judge_cell
from croupier.conformance.report.summary import ShownLine
from croupier.conformance.tap.connection import TappedConnection
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM

GAME = [(CLIENT, b"STRT P_1"), (HOUSE, b"CARD C_K"), (CLIENT, b"ACTN BET"), (HOUSE, b"ACTN FLD"), (CLIENT, b"DISC")]
WRONG_CLIENT = [(CLIENT, b"ACTN BET"), (HOUSE, b"FAIL W_A")]
WRONG_HOUSE = [(CLIENT, b"STRT P_1"), (HOUSE, b"FAIL W_A")]
RUNS, DONE, STATUS, KILLED = (
    ProgramEnd(),
    ProgramEnd(exit_status=0),
    ProgramEnd(exit_status=1, description="exit status 1"),
    ProgramEnd(exit_status=-9, description="SIGKILL: it uses 3 MiB of memory; allowed: 2 MiB"),
)
LATE = ProgramEnd(is_out_of_time=True)


def passage(talk: list[tuple[int, bytes]], *closed: int, note: str = "", reached: bool = True) -> TappedConnection:
    found = TappedConnection(1, None, Conversation(ROOM), 0.0)
    found.has_reached_target, found.note = reached, note
    for side, data in talk:
        found.conversation.on_data(side, data, 1.0)
    for side in closed:
        found.closed_sides.append(side)
        found.conversation.on_disconnect(side, 2.0)
    return found


def silent() -> TappedConnection:
    found = passage(GAME[:1])
    found.conversation.on_timeout(9.0)
    return found


def judged(passages: list[TappedConnection], server: ProgramEnd, client: ProgramEnd) -> CellFinding:
    return judge_cell(passages, server, client, ROOM.final_messages, lambda: Conversation(ROOM, strict=True))


WELL = passage(GAME, CLIENT, HOUSE)
UNREACHED = passage([], note="no house answers: refused", reached=False)


@pytest.mark.parametrize(
    ("passages", "server", "client", "kind", "blame", "note"),
    [
        ([WELL], RUNS, DONE, CellKind.WELL, (), ""),
        ([WELL, WELL], DONE, DONE, CellKind.WELL, (), ""),
        ([WELL, passage(WRONG_CLIENT)], RUNS, DONE, CellKind.BROKE, ("client",), "the client breaks kuhn-6.2: "),
        (
            [passage(WRONG_CLIENT)],
            KILLED,
            DONE,
            CellKind.BROKE,
            ("client",),
            "; the server has ended (SIGKILL: it uses 3 MiB",
        ),
        ([passage(WRONG_HOUSE)], RUNS, STATUS, CellKind.BROKE, ("server",), "the server breaks kuhn-4.1: "),
        ([passage(WRONG_HOUSE)], STATUS, STATUS, CellKind.BROKE, ("server",), "; the server has ended (exit status 1)"),
        ([silent()], RUNS, RUNS, CellKind.HUNG, ("server",), "the server breaks kuhn-4.1: found silence"),
        ([passage(GAME[:1], HOUSE)], KILLED, DONE, CellKind.CRASHED, ("server",), "(SIGKILL: it uses 3 MiB"),
        ([passage(GAME[:1], HOUSE)], DONE, DONE, CellKind.BROKE, ("server",), "found the end of the conversation"),
        ([WELL], KILLED, DONE, CellKind.CRASHED, ("server",), "the server has ended (SIGKILL: it uses 3 MiB"),
        ([UNREACHED], RUNS, STATUS, CellKind.UNHEARD, ("server",), "takes no connection any more (no house answers"),
        ([WELL], RUNS, STATUS, CellKind.CRASHED, ("client",), "the client has ended (exit status 1)"),
        ([], RUNS, KILLED, CellKind.CRASHED, ("client",), "the client has ended (SIGKILL: it uses 3 MiB"),
        ([], RUNS, DONE, CellKind.ABSENT, ("client",), "the client has not connected before it ended"),
        ([], RUNS, LATE, CellKind.ABSENT, ("client",), "the client has not connected within its time"),
        ([passage(GAME[:2])], RUNS, LATE, CellKind.HUNG, ("client",), "the client sends nothing more"),
        ([passage(GAME, HOUSE)], RUNS, LATE, CellKind.HUNG, ("client",), "goes on when the house has closed"),
        ([WELL], RUNS, ProgramEnd(is_out_of_time=True, was_active=True), CellKind.WELL, (), ""),
        ([passage([], CLIENT)], RUNS, DONE, CellKind.IDLE, ("client",), "has ended every conversation before a game"),
        ([passage([(HOUSE, b"DISC")], HOUSE)], RUNS, DONE, CellKind.IDLE, ("server",), "has ended every conversation"),
        ([passage([(CLIENT, b"DISC")], HOUSE)], RUNS, DONE, CellKind.IDLE, ("client",), "has ended every conversation"),
        (
            [WELL],
            ProgramEnd(has_written_too_much=True),
            DONE,
            CellKind.CHATTY,
            ("server",),
            "the server has written more output than --max-output-bytes allows",
        ),
        (
            [WELL],
            RUNS,
            ProgramEnd(exit_status=0, has_written_too_much=True),
            CellKind.CHATTY,
            ("client",),
            "the client has written more",
        ),
    ],
)
def test_whoever_was_wrong_first_is_to_blame(
    passages: list[TappedConnection],
    server: ProgramEnd,
    client: ProgramEnd,
    kind: CellKind,
    blame: tuple[str, ...],
    note: str,
) -> None:
    found = judged(passages, server, client)
    assert (found.kind, found.blame) == (kind, blame)
    assert note in found.note
    assert bool(found.clause) == bool(passages and any(one.conversation.faults for one in passages))


def test_tolerated_departures_are_reported_in_a_good_cell() -> None:
    talk = [(CLIENT, b'STRT "P_1"'), (HOUSE, b'CARD "C_K"'), (CLIENT, b"ACTN BET"), (HOUSE, b"\r\nACTN FLD")]
    found = judged([WELL, passage(talk, CLIENT)], RUNS, DONE)
    assert str(found) == (
        "plays well; the client departs from kuhn-2.5, which is tolerated; "
        "the server departs from kuhn-2.4, kuhn-2.5, which is tolerated"
    )
    assert str(judged([WELL], RUNS, DONE)) == "plays well"
    assert str(judged([], RUNS, LATE)) == "the client has not connected within its time"


QUOTED_CARD = [(CLIENT, b"STRT P_1"), (HOUSE, b'CARD "C_K"')]
QUOTED_START = [(CLIENT, b'STRT "P_1"'), (HOUSE, b"CARD C_K")]


@pytest.mark.parametrize(
    ("talk", "closed", "server", "client", "kind", "blame", "clause", "note"),
    [
        (
            [*QUOTED_CARD, (CLIENT, b"CARD C_K")],
            [],
            RUNS,
            RUNS,
            *(CellKind.BROKE, ("server",), "kuhn-2.6", "the server departs first from kuhn-2.6: "),
        ),
        (
            QUOTED_CARD,
            [CLIENT],
            RUNS,
            STATUS,
            *(CellKind.BROKE, ("server",), "kuhn-2.6", "; then the client has ended (exit status 1)"),
        ),
        (
            QUOTED_START[:1],
            [HOUSE],
            KILLED,
            DONE,
            *(CellKind.BROKE, ("client",), "kuhn-2.6", "; then the server breaks kuhn-4.1: "),
        ),
        (
            [*QUOTED_START, (CLIENT, b"CARD C_K")],
            [],
            RUNS,
            RUNS,
            *(CellKind.BROKE, ("client",), "kuhn-6.4", "the client breaks kuhn-6.4: "),
        ),
        (
            [*QUOTED_CARD, (CLIENT, b'ACTN "BET"'), (HOUSE, b"ACTN CAL")],
            [],
            RUNS,
            RUNS,
            *(CellKind.BROKE, ("server",), "kuhn-4.8", "the server breaks kuhn-4.8: "),
        ),
        (
            [*QUOTED_CARD, (CLIENT, b"ACTN BET"), (HOUSE, b"ACTN FLD")],
            [CLIENT],
            ProgramEnd(has_written_too_much=True),
            DONE,
            *(CellKind.CHATTY, ("server",), "", "the server has written more"),
        ),
    ],
    ids=["wrong message", "crash of a client", "crash of a server", "same end", "first of two", "independent"],
)
def test_the_first_departure_is_charged_and_its_consequences_are_not(
    talk: list[tuple[int, bytes]],
    closed: list[int],
    server: ProgramEnd,
    client: ProgramEnd,
    kind: CellKind,
    blame: tuple[str, ...],
    clause: str,
    note: str,
) -> None:
    found = judged([passage(talk, *closed)], server, client)
    assert (found.kind, found.blame, found.clause) == (kind, blame, clause)
    assert note in found.note


def test_a_tolerated_departure_shows_in_the_last_line_of_the_dialogue() -> None:
    found = judged([passage([*QUOTED_CARD, (CLIENT, b"CARD C_K")])], RUNS, RUNS)
    assert found.dialogue[-1].hex == b'CARD "C_K"'.hex(" ").upper()


def test_the_fault_shows_in_the_last_line_of_the_dialogue() -> None:
    talk = [*GAME[:4] * 20, (CLIENT, b'ACTN "BET"'), (HOUSE, b"FAIL W_A"), (CLIENT, b"STRT P_1")]
    found = judged([passage(talk)], RUNS, DONE)
    assert len(found.dialogue) == 24
    assert found.dialogue[-1] == ShownLine("client", "ACTN BET", "41 43 54 4E 20 22 42 45 54 22")


def test_what_is_no_whole_message_is_shown_too() -> None:
    found = judged([passage([*GAME[:4], (CLIENT, b"STR")])], RUNS, LATE)
    assert found.dialogue[-1] == ShownLine("client", "… no whole message", "53 54 52")


def cell(client: str, key: str = "k") -> Cell:
    return Cell(
        "kuhn", "ada", client, key, CellFinding(CellKind.WELL, dialogue=(ShownLine("client", "DISC"),)), games=2
    )


def test_finished_cells_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "out" / "cells.jsonl"
    with CellFile(path) as kept:
        kept.save(cell("ada"))
        kept.save(cell("bob"))
        kept.save(cell("bob", "another"))
    with CellFile(path) as kept:
        assert kept.find(("kuhn", "ada", "ada"), "k") == cell("ada")
        assert kept.find(("kuhn", "ada", "ada"), "changed") is None
        assert kept.find(("kuhn", "ada", "bob"), "another") == cell("bob", "another")
        assert kept.find(("kuhn", "ada", "cid"), "k") is None
    with CellFile(path, is_fresh=True) as kept:
        assert kept.find(("kuhn", "ada", "ada"), "k") is None
    assert path.read_bytes() == b""


def test_half_a_line_is_no_cell_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    whole = msgspec.json.encode(cell("ada"))
    path.write_bytes(whole + b"\n" + whole[:40])
    with CellFile(path) as kept:
        assert kept.find(("kuhn", "ada", "ada"), "k") == cell("ada")
        kept.save(cell("bob"))
    with CellFile(path) as kept:
        assert kept.find(("kuhn", "ada", "ada"), "k") == cell("ada")
        assert kept.find(("kuhn", "ada", "bob"), "k") == cell("bob")
