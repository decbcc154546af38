"""Scores, their export for Moodle, Gradescope and programs, the HTML page and the terminal tables."""

import csv
import io
import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from croupier.conformance.matrix.cells import LOOKS, Cell, CellFinding, CellKind
from croupier.conformance.matrix.chart import cell_label, html
from croupier.conformance.matrix.grid import grid
from croupier.conformance.matrix.standings import (
    Grading,
    Results,
    Score,
    full_json,
    gradescope,
    moodle,
    parse_grading,
)
from croupier.conformance.matrix.submission import Submission
from croupier.conformance.report.summary import ShownLine

ADA = Submission("ada", "Ada <Lovelace>", Path("ada"), "1")
BOB = Submission("bob", "=1+1", Path("bob"), "2", fault="found no <submission>")
FAIR = Submission("bob", "Bob", Path("bob"), "2")
BROKEN = CellFinding(
    CellKind.BROKE,
    ("server",),
    "kuhn-4.3",
    "the server breaks kuhn-4.3: found <b>; allowed: CARD",
    (ShownLine("client", "ACTN CHK"), ShownLine("server", "? '<b>'", "3c 62 3e")),
)
TITLES = {"kuhn": "Kuhn poker", "blackjack": "Blackjack"}


def cell(server: str, client: str, finding: CellFinding, room: str = "kuhn") -> Cell:
    return Cell(room, server, client, "k", finding, games=6, connections=3, messages=40, stderr="server; <oops>")


CELLS = [
    cell("ada", "ada", CellFinding(CellKind.WELL)),
    cell("ada", "bob", BROKEN),
    cell("bob", "ada", CellFinding(CellKind.CRASHED, ("client", "server"), "kuhn-6.2", "both")),
    cell("bob", "bob", CellFinding(CellKind.ABSENT, ("client",), note="the client has not connected")),
    cell("ada", "ada", CellFinding(CellKind.WELL), "blackjack"),
]


def of(cells: Sequence[Cell], *submissions: Submission, grading: Grading = Grading(), **more: object) -> Results:
    return Results(cells, submissions, TITLES, grading, **more)  # type: ignore[arg-type]  # each is of its type


def test_a_cell_counts_for_who_played_well_and_for_who_is_to_blame() -> None:
    assert of(CELLS).score(ADA, "server") == Score(2, 1)
    assert of(CELLS).score(ADA, "server", "kuhn") == Score(1, 1)
    assert of(CELLS).score(ADA, "client") == Score(2, 1)
    assert of(CELLS).score(BOB, "server") == Score(0, 1)
    assert of(CELLS).score(BOB, "client") == Score(0, 1)
    assert of(CELLS).score(BOB, "client", "blackjack") == Score()
    assert [str(found) for found in (Score(), Score(2, 1), Score(0, 3))] == ["", "66.7", "0.0"]


def test_moodle_has_a_line_a_student_and_no_formula() -> None:
    students = [replace(ADA, student_id="s0815", email="ada@example.org"), replace(BOB, student_id="=2")]
    lines = [*csv.reader(io.StringIO(moodle(replace(of(CELLS, *students), titles={"kuhn": "Kuhn poker"}))))]
    assert lines == [
        ["ID number", "Email address", "Name", "Folder", "Total", "Server score", "Client score"],
        ["s0815", "ada@example.org", "Ada <Lovelace>", "ada", "50.0", "66.7", "66.7"],
        ["'=2", "bob", "'=1+1", "bob", "0.0", "0.0", "0.0"],
    ]
    rooms = [*csv.reader(io.StringIO(moodle(of(CELLS, ADA))))]
    assert rooms[0][7:] == [
        "kuhn server score",
        "kuhn client score",
        "blackjack server score",
        "blackjack client score",
    ]
    assert rooms[1][4:] == ["75.0", "66.7", "66.7", "50.0", "50.0", "100.0", "100.0"]


def test_no_line_for_moodle_is_without_a_person_or_with_that_of_another_line() -> None:
    students = [replace(ADA, student_id="1"), replace(FAIR, student_id="1", email="bob@example.org")]
    lines = [*csv.reader(io.StringIO(moodle(replace(of([], *students), titles={"kuhn": "Kuhn poker"}))))]
    assert [line[:2] for line in lines[1:]] == [["ada", "ada"], ["bob", "bob@example.org"]]
    assert lines[1][4:] == ["-", "-", "-"], "Moodle's word for no grade"


def test_weights_are_those_of_rooms_and_roles_that_count() -> None:
    rooms = ["kuhn", "blackjack"]
    assert of(CELLS).mark(ADA) == 75
    assert of(CELLS, grading=Grading({"blackjack": 3})).mark(ADA) == 87.5
    assert of(CELLS, grading=Grading({"blackjack": 0})).mark(ADA) == 50
    assert of(CELLS, grading=Grading({"kuhn": 0, "blackjack": 0})).mark(ADA) is None
    assert of([CELLS[4]]).mark(ADA) == 100
    grading = parse_grading("client=2, kuhn.client=0.5", 10, "hidden")
    assert grading == Grading({"client": 2.0, "kuhn.client": 0.5}, 10, "hidden")
    assert [grading.weight(room, "client") for room in rooms] == [1, 2]


@pytest.mark.parametrize("text", ["whist=1", "kuhn", "kuhn=", "kuhn=-1", "kuhn=nan", "kuhn.player=1"])
def test_a_weight_that_makes_no_sense_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="allowed: NAME=NUMBER for server, client, kuhn, "):
        parse_grading(text, 100, "visible")


def test_gradescope_has_a_test_for_every_cell_that_counts() -> None:
    found = json.loads(gradescope(of(CELLS, FAIR, grading=Grading(points=40)), ADA))
    assert found["score"] == 30
    assert found["output"] == "Cells that count for nothing, because only the other program is to blame: 0."
    assert [(test["name"], test["score"], test["max_score"], test["status"]) for test in found["tests"]] == [
        ("kuhn: your server against ada", 5, 5, "passed"),
        ("kuhn: your server against Bob", 0, 5, "failed"),
        ("blackjack: your server against ada", 10, 10, "passed"),
        ("kuhn: your client against ada", 5, 5, "passed"),
        ("kuhn: your client against Bob", 0, 5, "failed"),
        ("blackjack: your client against ada", 10, 10, "passed"),
    ]
    assert found["tests"][1]["output"].splitlines() == [
        "The server breaks kuhn-4.3: found <b>; allowed: CARD (games: 6, conversations: 3).",
        "client  ACTN CHK",
        "server  ? '<b>'   [3c 62 3e]",
        "server; <oops>",
    ]
    other = (
        json.loads(gradescope(of([CELLS[3]]), ADA)),
        json.loads(gradescope(of([CELLS[1]]), FAIR)),
    )
    assert [one["output"][-2:] for one in other] == ["0.", "1."]
    assert json.loads(gradescope(of([]), BOB))["output"] == "found no <submission>"


def test_tests_against_other_students_can_be_hidden_and_all_points_are_given() -> None:
    against_us = cell("ada", "croupier", CellFinding(CellKind.WELL))
    found = json.loads(gradescope(of([*CELLS, against_us], grading=Grading({"client": 3}, 10, "hidden")), ADA))
    assert {test["visibility"] for test in found["tests"]} == {"hidden", "visible"}
    assert [test["name"] for test in found["tests"] if test["visibility"] == "visible"] == [
        "kuhn: your server against croupier"
    ]
    assert sum(test["max_score"] for test in found["tests"]) == pytest.approx(10)


def test_the_json_has_everything() -> None:
    found = json.loads(full_json(of(CELLS, ADA, BOB, is_complete=False)))
    assert found["whole"] is False
    assert found["rooms"] == ["kuhn", "blackjack"]
    assert found["students"][0]["scores"]["server"] == {"all": pytest.approx(200 / 3), "kuhn": 50.0, "blackjack": 100.0}
    assert found["students"][1]["fault"] == "found no <submission>"
    assert found["cells"][1]["finding"]["dialogue"][1] == {
        "side": "server",
        "text": "? '<b>'",
        "hex": "3c 62 3e",
        "pieces": "",
    }


class Page(HTMLParser):
    """A page that is well formed: its elements, what is linked to, and what there is to link to."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        assert not {"src", "onclick"} & found.keys()
        self.links += [found["href"] or ""] if "href" in found else []
        self.ids += [found["id"] or ""] if "id" in found else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_but_itself_and_every_cell_opens() -> None:
    page = Page(html(of(CELLS, ADA, BOB, is_complete=False)))
    assert not page.tags & {"script", "link", "img", "b", "oops", "lovelace"}
    assert len(page.ids) == len({*page.ids}) == len(CELLS)
    assert {*page.links} == {"#", *(f"#{each}" for each in page.ids)}
    for text in ("Ada <Lovelace>", "found <b>; allowed: CARD", "3c 62 3e", "server; <oops>", "found no <submission>"):
        assert text in page.text
    assert "more to come" in page.text
    assert "more to come" not in Page(html(of(CELLS, ADA))).text


def test_a_page_without_cells_is_one_too() -> None:
    assert "0 cells" in Page(html(of([], ADA))).text


def test_every_kind_has_a_sign_of_its_own_and_colours() -> None:
    assert len({look.sign for look in LOOKS.values()}) == len(CellKind)


@pytest.mark.parametrize(("number", "text"), [*enumerate(["✓", "S§4.3", "SC✗", "C○", "✓"])])
def test_a_cell_says_in_short_who_is_to_blame_for_what(number: int, text: str) -> None:
    assert cell_label(CELLS[number]) == text


def test_names_of_servers_are_broken_between_words_only() -> None:
    name = "Wilhelmina Featherstonehaugh-Cholmondeley [bold]of the Third Year"
    console = Console(width=80, file=io.StringIO(), record=True)
    for part in grid(of(CELLS, replace(ADA, name=name), BOB), 80):
        console.print(part)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.replace("… ", "")
    words = text.split()
    assert all(word in words for word in name.split())


@pytest.mark.parametrize("name", ["Ада Лавлейс", "阿达·洛芙莱斯", "آدا لوفلايس", "Ἀδα Λάβλεϊς", "एडा लवलेस"])
@pytest.mark.parametrize("width", [60, 120])
def test_names_in_any_script_are_printed(name: str, width: int) -> None:
    students = [Submission(f"s{number}", name, Path(), "1") for number in range(11)]
    cells = [cell(server.id, client.id, BROKEN) for server in students for client in students]
    console = Console(width=width, file=io.StringIO(), record=True)
    for part in grid(replace(of(cells, *students), titles={"kuhn": "Kuhn poker"}), width):
        console.print(part)
    text = console.export_text()
    words = " ".join(text.split())
    assert max(map(cell_len, text.splitlines())) <= width
    assert words.count(name.split(maxsplit=1)[0]) >= 11, text


@pytest.mark.parametrize("width", [20, 60, 200])
def test_the_tables_fit_the_terminal_or_are_parted(width: int) -> None:
    console = Console(width=max(width, 60), file=io.StringIO(), record=True)
    parts = [*grid(of(CELLS, ADA, BOB), width)]
    for part in parts:
        console.print(part)
    text = console.export_text()
    assert len(parts) == (6 if width == 20 else 5)
    for found in ("Kuhn poker", "Blackjack", "S§4.3", "SC✗", "Ada <Lovelace>", "client %", "○ never"):
        assert found in text
