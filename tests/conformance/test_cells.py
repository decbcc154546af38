"""Who is to blame in a cell, from what was heard and from how the programs have ended; and cells that are kept."""

from pathlib import Path

import msgspec
import pytest

from croupier.conformance.conversation import Conversation
from croupier.conformance.matrix.cells import Cell, End, Finding, Kept, Kind, Spoken, judged
from croupier.conformance.tap.connection import Passage
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM

GAME = [(CLIENT, b"STRT P_1"), (HOUSE, b"CARD C_K"), (CLIENT, b"ACTN BET"), (HOUSE, b"ACTN FLD"), (CLIENT, b"DISC")]
WRONG_CLIENT = [(CLIENT, b"ACTN BET"), (HOUSE, b"FAIL W_A")]
WRONG_HOUSE = [(CLIENT, b"STRT P_1"), (HOUSE, b"FAIL W_A")]
RUNS, DONE, STATUS, KILLED = End(), End(status=0), End(status=1), End(status=-11)
LATE = End(late=True)


def passage(talk: list[tuple[int, bytes]], *closed: int, note: str = "", reached: bool = True) -> Passage:
    found = Passage(1, None, Conversation(ROOM), 0.0)
    found.reached, found.note = reached, note
    for side, data in talk:
        found.conversation.heard(side, data, 1.0)
    for side in closed:
        found.closed.append(side)
        found.conversation.left(side, 2.0)
    return found


def silent() -> Passage:
    found = passage(GAME[:1])
    found.conversation.rang(9.0)
    return found


WELL = passage(GAME, CLIENT, HOUSE)
UNREACHED = passage([], note="no house answers: refused", reached=False)


@pytest.mark.parametrize(
    ("passages", "server", "client", "kind", "blame", "told"),
    [
        ([WELL], RUNS, DONE, Kind.WELL, (), ""),
        ([WELL, WELL], DONE, DONE, Kind.WELL, (), ""),
        ([WELL, passage(WRONG_CLIENT)], RUNS, DONE, Kind.BROKE, ("client",), "the client breaks kuhn-6.2: "),
        ([passage(WRONG_CLIENT)], KILLED, DONE, Kind.BROKE, ("client", "server"), "; the server has ended (SIGSEGV)"),
        ([passage(WRONG_HOUSE)], RUNS, STATUS, Kind.BROKE, ("server",), "the server breaks kuhn-4.1: "),
        ([passage(WRONG_HOUSE)], STATUS, STATUS, Kind.BROKE, ("server",), "; the server has ended (exit status 1)"),
        ([silent()], RUNS, RUNS, Kind.HUNG, ("server",), "the server breaks kuhn-4.1: found silence"),
        ([passage(GAME[:1], HOUSE)], KILLED, DONE, Kind.CRASHED, ("server",), "(SIGSEGV)"),
        ([passage(GAME[:1], HOUSE)], DONE, DONE, Kind.BROKE, ("server",), "found the end of the conversation"),
        ([WELL], KILLED, DONE, Kind.CRASHED, ("server",), "the server has ended (SIGSEGV)"),
        ([UNREACHED], RUNS, STATUS, Kind.UNHEARD, ("server",), "takes no connection any more (no house answers"),
        ([WELL], RUNS, STATUS, Kind.CRASHED, ("client",), "the client has ended (exit status 1)"),
        ([], RUNS, KILLED, Kind.CRASHED, ("client",), "the client has ended (SIGSEGV)"),
        ([], RUNS, DONE, Kind.ABSENT, ("client",), "the client has not connected before it ended"),
        ([], RUNS, LATE, Kind.ABSENT, ("client",), "the client has not connected within its time"),
        ([passage(GAME[:2])], RUNS, LATE, Kind.HUNG, ("client",), "the client says nothing more"),
        ([passage(GAME, HOUSE)], RUNS, LATE, Kind.HUNG, ("client",), "goes on when the house has closed"),
        ([WELL], RUNS, End(late=True, talking=True), Kind.WELL, (), ""),
        ([passage([], CLIENT)], RUNS, DONE, Kind.IDLE, ("client",), "has ended every conversation before a game"),
        ([passage([(HOUSE, b"DISC")], HOUSE)], RUNS, DONE, Kind.IDLE, ("server",), "has ended every conversation"),
        ([passage([(CLIENT, b"DISC")], HOUSE)], RUNS, DONE, Kind.IDLE, ("client",), "has ended every conversation"),
        ([WELL], End(chatty=True), DONE, Kind.CHATTY, ("server",), "the server has written more than is kept"),
        ([WELL], RUNS, End(status=0, chatty=True), Kind.CHATTY, ("client",), "the client has written more"),
    ],
)
def test_whoever_was_wrong_first_is_to_blame(
    passages: list[Passage], server: End, client: End, kind: Kind, blame: tuple[str, ...], told: str
) -> None:
    found = judged(passages, server, client, ROOM.goodbyes)
    assert (found.kind, found.blame) == (kind, blame)
    assert told in found.told
    assert bool(found.clause) == bool(passages and any(one.conversation.faults for one in passages))


def test_who_plays_well_but_needs_tolerance_is_told_so() -> None:
    talk = [(CLIENT, b'STRT "P_1"'), (HOUSE, b'CARD "C_K"'), (CLIENT, b"ACTN BET"), (HOUSE, b"\r\nACTN FLD")]
    found = judged([WELL, passage(talk, CLIENT)], RUNS, DONE)
    assert str(found) == (
        "plays well; the server departs from kuhn-2.4, kuhn-2.5, which is tolerated; "
        "the client departs from kuhn-2.5, which is tolerated"
    )
    assert str(judged([WELL], RUNS, DONE)) == "plays well"
    assert str(judged([], RUNS, LATE)) == "the client has not connected within its time"


def test_the_fault_shows_in_the_last_line_of_the_dialogue() -> None:
    talk = [*GAME[:4] * 20, (CLIENT, b'ACTN "BET"'), (HOUSE, b"FAIL W_A"), (CLIENT, b"STRT P_1")]
    found = judged([passage(talk)], RUNS, DONE)
    assert len(found.dialogue) == 24
    assert found.dialogue[-1] == Spoken("client", "ACTN BET", "41 43 54 4e 20 22 42 45 54 22")


def test_what_is_no_whole_message_is_shown_too() -> None:
    found = judged([passage([*GAME[:4], (CLIENT, b"STR")])], RUNS, LATE)
    assert found.dialogue[-1] == Spoken("client", "… no whole message", "53 54 52")


def cell(client: str, key: str = "k") -> Cell:
    return Cell("kuhn", "ada", client, key, Finding(Kind.WELL, dialogue=(Spoken("client", "DISC"),)), games=2)


def test_finished_cells_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "out" / "cells.jsonl"
    with Kept(path) as kept:
        kept.keep(cell("ada"))
        kept.keep(cell("bob"))
        kept.keep(cell("bob", "another"))
    with Kept(path) as kept:
        assert kept.cell(("kuhn", "ada", "ada"), "k") == cell("ada")
        assert kept.cell(("kuhn", "ada", "ada"), "changed") is None
        assert kept.cell(("kuhn", "ada", "bob"), "another") == cell("bob", "another")
        assert kept.cell(("kuhn", "ada", "cid"), "k") is None
    with Kept(path, fresh=True) as kept:
        assert kept.cell(("kuhn", "ada", "ada"), "k") is None
    assert path.read_bytes() == b""


def test_half_a_line_is_no_cell_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    whole = msgspec.json.encode(cell("ada"))
    path.write_bytes(whole + b"\n" + whole[:40])
    with Kept(path) as kept:
        assert kept.cell(("kuhn", "ada", "ada"), "k") == cell("ada")
        kept.keep(cell("bob"))
    with Kept(path) as kept:
        assert kept.cell(("kuhn", "ada", "ada"), "k") == cell("ada")
        assert kept.cell(("kuhn", "ada", "bob"), "k") == cell("bob")
