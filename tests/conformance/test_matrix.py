"""The matrix with real programs: faulty, hanging, crashing and chatty submissions are normal input."""

import asyncio
import errno
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from croupier.conformance.matrix.cells import Cell, CellFile, CellKind
from croupier.conformance.matrix.matrix import Matrix, MatrixPlan, write_results
from croupier.conformance.matrix.programs import PairingTerms
from croupier.conformance.matrix.standings import Results
from croupier.conformance.matrix.submission import load_submissions, reference_submission
from croupier.rooms import HOUSE_ROOMS
from tests.processes import PATIENCE

PUPIL = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(Path(__file__).with_name('student_program.py')))}"


SILENT_HABITS = {"hangs", "never-listens", "says-nothing", "never-connects", "stays"}
SILENCE_SECONDS = 8.0
"""How long a program that falls silent is waited for; all others have as long as they need on a busy machine."""


def hand_in(
    folder: Path, name: str, server: str | None = "honest", client: str | None = "honest", build: str = "true"
) -> None:
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    lines = [f'name = "{name.title()}"', 'room = "kuhn"', f"build = '{build}'"]
    if server is not None:
        lines.append(f"server = '{PUPIL} server {server} {{port}}'")
    if client is not None:
        lines.append(f"client = '{PUPIL} client {client} {{host}} {{port}}'")
    (place / "submission.toml").write_text("\n".join(lines))


def plan(folder: Path, out: Path, *, parallel_servers: int = 2, is_fresh: bool = False, **terms: object) -> MatrixPlan:
    known = {"conversations": 1, "max_output_bytes": 1 << 16, "timeout_seconds": PATIENCE, **terms}
    return MatrixPlan(
        terms=[PairingTerms(room=HOUSE_ROOMS["kuhn"], **known)],  # type: ignore[arg-type]  # each is of its type
        submissions=load_submissions(folder, out),
        output_folder=out,
        parallel_servers=parallel_servers,
        is_fresh=is_fresh,
    )


def patience(habit: str) -> float:
    """How long the conversations of a program with this habit may take, in seconds."""
    return SILENCE_SECONDS if habit in SILENT_HABITS else PATIENCE


def played(one: MatrixPlan) -> tuple[list[Cell], list[bool]]:
    """The cells in order, and whether each was played before."""
    seen: list[bool] = []
    matrix = Matrix(one, lambda cell, before: seen.append(before))
    assert asyncio.run(matrix.play())
    return [*one.results(matrix.cells, is_complete=True).cells], seen


def found(cells: Iterable[Cell]) -> dict[tuple[str, str], tuple[CellKind, tuple[str, ...], str]]:
    return {(cell.server, cell.client): (cell.finding.kind, cell.finding.blame, cell.finding.clause) for cell in cells}


def test_all_pairs_are_played_and_finished_cells_are_not_played_again(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada")
    hand_in(folder, "bob", server="deals-twice", client="acts-first")
    hand_in(folder, "cid", server="serves-once", client=None)
    cells, seen = played(plan(folder, out, conversations=2))
    well = (CellKind.WELL, (), "")
    acts_first = (CellKind.BROKE, ("client",), "kuhn-6.2")
    assert found(cells) == {
        ("ada", "ada"): well,
        ("ada", "bob"): acts_first,
        ("bob", "ada"): (CellKind.BROKE, ("server",), "kuhn-5.4"),
        ("bob", "bob"): acts_first,
        ("cid", "ada"): well,
        ("cid", "bob"): acts_first,
    }
    assert (cells[0].connections, cells[0].games) == (2, 4)
    assert seen == [False] * 6
    again, seen = played(plan(folder, out, conversations=2))
    assert (again, seen) == (cells, [True] * 6)
    hand_in(folder, "bob", server="honest", client="acts-first")
    changed, seen = played(plan(folder, out, conversations=2))
    assert sorted(seen) == [False] * 4 + [True] * 2
    assert found(changed)["bob", "ada"] == well
    assert [cell for cell in changed if "bob" not in cell.position] == [cells[0], cells[4]]
    _, seen = played(plan(folder, out, conversations=2, is_fresh=True))
    assert seen == [False] * 6


@pytest.mark.parametrize(
    ("server", "kind", "clause", "note"),
    [
        ("crashes", CellKind.CRASHED, "kuhn-4.1", "the server has ended (SIGSEGV)"),
        pytest.param("hangs", CellKind.HUNG, "kuhn-4.1", "found silence", marks=pytest.mark.extended),
        ("ends-at-once", CellKind.UNHEARD, "", "has ended (exit status 1)"),
        pytest.param("never-listens", CellKind.UNHEARD, "", "takes no connections", marks=pytest.mark.extended),
        ("says-nonsense", CellKind.BROKE, "kuhn-2.6", "found 'CARD 1_1'"),
        ("ends-in-nul", CellKind.BROKE, "kuhn-2.7", "the likely cause is that it "),
        ("chatty", CellKind.CHATTY, "", "written more output than --max-output-bytes allows"),
    ],
)
def test_a_server_that_is_no_good_is_distinguished_from_the_client(
    tmp_path: Path, server: str, kind: CellKind, clause: str, note: str
) -> None:
    hand_in(tmp_path / "class", "ada", server=server)
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out", timeout_seconds=patience(server)))
    assert (cell.finding.kind, cell.finding.blame, cell.finding.clause) == (kind, ("server",), clause)
    assert note in cell.finding.note


@pytest.mark.parametrize(
    ("client", "kind", "note"),
    [
        ("cannot-start", CellKind.CRASHED, "the client has ended (exit status 1)"),
        ("crashes", CellKind.CRASHED, "the client has ended (SIGABRT)"),
        pytest.param(
            "never-connects", CellKind.ABSENT, "has not connected within its time", marks=pytest.mark.extended
        ),
        ("says-nothing", CellKind.HUNG, "sends nothing more"),
        pytest.param("stays", CellKind.HUNG, "goes on when the house has closed", marks=pytest.mark.extended),
        ("leaves-at-once", CellKind.IDLE, "has ended every conversation before a game was over"),
        ("chatty", CellKind.CHATTY, "has written more output than --max-output-bytes allows"),
    ],
)
def test_a_client_that_is_no_good_is_distinguished_from_the_server(
    tmp_path: Path, client: str, kind: CellKind, note: str
) -> None:
    hand_in(tmp_path / "class", "ada", client=client)
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out", timeout_seconds=patience(client)))
    assert (cell.finding.kind, cell.finding.blame) == (kind, ("client",))
    assert note in cell.finding.note
    assert client != "cannot-start" or "ImportError: no module named cards" in cell.stderr


def test_a_client_that_has_failed_at_two_servers_without_a_word_is_not_tried_with_others(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada", server=None, client="cannot-start")
    for name in ("bob", "cid", "dan"):
        hand_in(tmp_path / "class", name, client=None)
    cells, _ = played(plan(tmp_path / "class", tmp_path / "out", parallel_servers=1))
    assert [cell.finding.kind for cell in cells] == 3 * [CellKind.CRASHED]
    begun = (tmp_path / "out" / "work").glob("ada-*/begun.txt")
    assert [len(each.read_text()) for each in begun] == [2]


def test_a_client_that_has_left_and_does_not_end_has_played_well(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada", client="hangs-at-its-end")
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out", conversations=1))
    assert (cell.finding.kind, cell.finding.blame) == (CellKind.WELL, ())


@pytest.mark.extended
def test_a_good_client_that_leaves_a_silent_server_has_played_well(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada", server=None, client="gives-up")
    hand_in(tmp_path / "class", "bob", server="hangs", client=None)
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out", timeout_seconds=SILENCE_SECONDS))
    assert (cell.finding.kind, cell.finding.blame, cell.finding.clause) == (CellKind.HUNG, ("server",), "kuhn-4.1")


@pytest.mark.extended
def test_a_server_that_answers_in_time_is_not_silent_for_a_client_that_gives_up(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada", server="thinks", client="gives-up")
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out"))
    assert (cell.finding.blame, cell.finding.clause) == (("client",), "")


@pytest.mark.parametrize(
    ("server", "kind", "blame"),
    [("ends-slowly", CellKind.WELL, ()), ("crashes-slowly", CellKind.CRASHED, ("server",))],
)
def test_the_end_of_a_server_is_noticed_after_any_time(
    tmp_path: Path, server: str, kind: CellKind, blame: tuple[str, ...]
) -> None:
    hand_in(tmp_path / "class", "ada", server=server)
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out", conversations=3))
    assert (cell.finding.kind, cell.finding.blame) == (kind, blame), cell.finding.note
    assert kind is not CellKind.WELL or (cell.connections, cell.games) == (3, 6)


@pytest.mark.parametrize(
    ("copies", "runs"), [(2, 2), pytest.param(10, 10, marks=pytest.mark.extended)], ids=["some", "ten"]
)
def test_copies_of_a_submission_have_one_mark_in_every_run(tmp_path: Path, copies: int, runs: int) -> None:
    """The fault of these servers shows only when our client bets four times in succession."""
    for number in range(copies):
        hand_in(tmp_path / "class", f"copy{number}", server="fears-four-bets", client="honest" if number == 0 else None)
    marks = set()
    for seed in (1, 4):
        found = set()
        for _ in range(runs):
            one = plan(tmp_path / "class", tmp_path / "out", conversations=3, is_fresh=True, seed=seed)
            one = replace(one, submissions=(*one.submissions, reference_submission()))
            cells, _ = played(one)
            results = Results(cells, one.submissions, one.titles)
            found |= {str(results.score(each, "server")) for each in results.students}
            faulty = [cell for cell in cells if cell.finding.kind is not CellKind.WELL]
            assert [cell for cell in faulty if cell.client != "croupier"] == []
            assert len(found) == 1, [(cell.server, cell.finding.note, cell.stderr) for cell in faulty]
        marks |= found
    assert len(marks) == 2, "with one seed the fault shows, with the other it does not"


def test_everything_is_built_before_anything_plays(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    hand_in(folder, "ada")
    hand_in(folder, "bob", server=None, build="touch ../bob-is-built")
    toml = folder / "ada" / "submission.toml"
    needs_bob = "server = \"sh -c 'test -e ../bob-is-built && exec "
    toml.write_text(toml.read_text().replace("server = '", needs_bob).replace("{port}'", "{port}'\"", 1))
    cells, _ = played(plan(folder, tmp_path / "out", parallel_servers=1))
    assert {cell.finding.kind for cell in cells} == {CellKind.WELL}, cells


def test_a_matrix_shows_what_it_builds_and_plays_now(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada")
    hand_in(tmp_path / "class", "bob", server=None)
    hand_in(tmp_path / "class", "cid", server="ends-at-once", client=None)
    seen: list[tuple[list[str], list[tuple[str, str, str]], int]] = []

    def note(matrix: Matrix) -> None:
        seen.append(([*matrix.building], [*matrix.running], len(matrix.cells)))

    one = plan(tmp_path / "class", tmp_path / "out", parallel_servers=1)
    matrix = Matrix(one, lambda cell, is_stored: None, note)
    assert asyncio.run(matrix.play())
    builds = [state for name in ("ada", "bob", "cid") for state in ([name], [])]
    assert [building for building, _, _ in seen[:6]] == builds
    assert [(running, cells) for _, running, cells in seen[6:]] == [
        ([("kuhn", "ada", "ada")], 0),
        ([], 0),
        ([], 1),
        ([("kuhn", "ada", "bob")], 1),
        ([], 1),
        ([], 2),
        ([("kuhn", "cid", "ada")], 2),
        ([], 2),
        ([], 3),
        ([], 4),  # a server that has not listened is not started for the next client
    ]


def test_folders_with_a_dot_come_along(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada", build="cp .settings/rules built")
    (tmp_path / "class" / "ada" / ".settings").mkdir()
    (tmp_path / "class" / "ada" / ".settings" / "rules").write_text("ante 1")
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out"))
    assert cell.finding.kind is CellKind.WELL


def test_a_client_that_plays_for_ever_was_seen_often_enough(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada", client="plays-for-ever")
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out"))
    assert (cell.finding.kind, cell.games, cell.messages) == (CellKind.WELL, 500, 2000)


def test_unusable_submissions_have_cells_and_results_are_written(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada")
    hand_in(folder, "bob")
    (folder / "bob" / "submission.toml").write_text(
        'build = "false"\nroom = "kuhn"\nserver = "s {port}"\nclient = "c {port}"'
    )
    (folder / "cid").mkdir()
    one = plan(folder, out)
    assert one.cells == 9
    cells, _ = played(one)
    assert {place: blame for place, (kind, blame, _) in found(cells).items() if kind is CellKind.UNUSABLE} == {
        ("ada", "bob"): ("client",),
        ("ada", "cid"): ("client",),
        **{(server, client): ("server",) for server in ("bob", "cid") for client in ("ada", "bob", "cid")},
    }
    (out / "gradescope").mkdir()
    (out / "gradescope" / "of-an-earlier-run.json").write_text("{}")
    write_results(one.results(cells, is_complete=True), out)
    page = (out / "matrix.html").read_text()
    assert "<dt>bob</dt><dd>cannot be built: &#x27;false&#x27; has ended (exit status 1)" in page
    assert "<dt>cid</dt><dd>found no submission.toml" in page
    assert sorted(path.name for path in out.iterdir()) == [
        *("cells.jsonl", "gradescope", "matrix.csv", "matrix.html", "matrix.json", "work"),
    ]
    assert sorted(path.name for path in (out / "gradescope").iterdir()) == ["ada.json", "bob.json", "cid.json"]
    assert "Ada,ada,100.0,100.0" in (out / "matrix.csv").read_text()


def test_a_program_that_does_not_exist_is_no_use(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada")
    toml = tmp_path / "class" / "ada" / "submission.toml"
    toml.write_text('room = "kuhn"\nserver = "./no-such-server {port}"\nclient = "./no-such-client {port}"')
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out"))
    assert (cell.finding.kind, cell.finding.blame) == (CellKind.UNUSABLE, ("server",))
    assert cell.finding.note.startswith("the server './no-such-server' cannot be started: ")
    hand_in(tmp_path / "class", "ada")
    toml.write_text(toml.read_text().partition("client")[0] + 'client = "./no-such-client {port}"')
    (cell,), _ = played(plan(tmp_path / "class", tmp_path / "out"))
    assert (cell.finding.kind, cell.finding.blame) == (CellKind.UNUSABLE, ("client",))


def test_a_failed_write_of_a_cell_ends_the_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(kept: CellFile, cell: Cell) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CellFile, "save", full)
    hand_in(tmp_path / "class", "ada")
    hand_in(tmp_path / "class", "bob")
    seen: list[Cell] = []
    matrix = Matrix(plan(tmp_path / "class", tmp_path / "out"), lambda cell, before: seen.append(cell))
    with pytest.raises(OSError, match="No space left on device"):
        asyncio.run(matrix.play())
    assert seen == []
