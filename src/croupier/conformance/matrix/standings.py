"""Scores of each student, and their export: CSV for Moodle, Gradescope files, and JSON."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from croupier.conformance.matrix.cells import Cell, CellKind, CellLine
from croupier.conformance.matrix.submission import Submission
from croupier.version import __version__

ROLES: Final = ("server", "client")
FORMULA_PREFIXES: Final = ("=", "+", "-", "@", "\t", "\r")
"""The characters that begin a formula in a spreadsheet."""


class Score(Struct, frozen=True):
    """The number of cells in which a program has played well, and in which it is to blame.

    A cell in which only the other program is to blame does not count.
    """

    good: int = 0
    bad: int = 0

    @property
    def percent(self) -> float | None:
        """0 to 100; None if nothing counts."""
        return 100 * self.good / (self.good + self.bad) if self.good + self.bad else None

    def __add__(self, other: "Score") -> "Score":
        return Score(self.good + other.good, self.bad + other.bad)

    def __str__(self) -> str:
        return "" if self.percent is None else f"{self.percent:.1f}"


def counts_for_role(cell: Cell, role: str) -> bool:
    """Whether a cell counts for the program that plays a role in it."""
    return cell.finding.kind is CellKind.WELL or role in cell.finding.blame


def score(cells: Sequence[Cell], submission: Submission, role: str, room: str | None = None) -> Score:
    """The score of a submission in a role, in one room or in all of them."""
    own = [cell for cell in cells if getattr(cell, role) == submission.id and room in {None, cell.room}]
    counted = [cell for cell in own if counts_for_role(cell, role)]
    good = sum(cell.finding.kind is CellKind.WELL for cell in counted)
    return Score(good, len(counted) - good)


def moodle(cells: Sequence[Cell], submissions: Sequence[Submission], rooms: Sequence[str]) -> str:
    """CSV with a line per student: the scores in percent, over all rooms and in each; empty if nothing counts."""
    file = io.StringIO(newline="")
    lines = csv.writer(file)
    heads = [f"{room} {role} score" for room in rooms for role in ROLES] if len(rooms) > 1 else []
    lines.writerow(("Name", "Folder", "Server score", "Client score", *heads))
    for each in submissions:
        found = [score(cells, each, role) for role in ROLES]
        found += [score(cells, each, role, room) for room in rooms for role in ROLES] if len(rooms) > 1 else []
        lines.writerow((_escape_formula(each.name), _escape_formula(each.id), *map(str, found)))
    return file.getvalue()


def _escape_formula(text: str) -> str:
    """Escape text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(FORMULA_PREFIXES) else text


def gradescope(cells: Sequence[Cell], submission: Submission, names: Mapping[str, str]) -> str:
    """Gradescope's results.json of one student: a test for every cell that counts, one point each."""
    tests = [_test(cell, role, names) for role in ROLES for cell in _own(cells, submission, role)]
    other = sum(
        not counts_for_role(cell, role) for role in ROLES for cell in cells if getattr(cell, role) == submission.id
    )
    output = submission.fault or f"Cells that count for nothing, because only the other program is to blame: {other}."
    return _json({"score": sum(test["score"] for test in tests), "output": output, "tests": tests})


def _own(cells: Sequence[Cell], submission: Submission, role: str) -> Iterator[Cell]:
    return (cell for cell in cells if getattr(cell, role) == submission.id and counts_for_role(cell, role))


def _test(cell: Cell, role: str, names: Mapping[str, str]) -> dict[str, Any]:
    good = cell.finding.kind is CellKind.WELL
    other = cell.client if role == "server" else cell.server
    parts = [_sentence(cell), *map(line_text, cell.finding.dialogue), cell.stderr]
    return {
        "name": f"{cell.room}: your {role} against {names.get(other, other)}",
        "score": int(good),
        "max_score": 1,
        "status": "passed" if good else "failed",
        "output": "\n".join(part for part in parts if part),
        "visibility": "visible",
    }


def line_text(line: CellLine) -> str:
    """A line of a dialogue as text."""
    return (
        f"{line.side:<6} {'>' if line.side == 'client' else '<'} {line.words}{f'  = {line.data}' if line.data else ''}"
    )


def _sentence(cell: Cell) -> str:
    text = str(cell.finding)
    games = f"games: {cell.games}, conversations: {cell.connections}"
    return f"{text[:1].upper()}{text[1:]} ({games})."


def full_json(
    cells: Sequence[Cell], submissions: Sequence[Submission], rooms: Sequence[str], *, is_complete: bool
) -> str:
    """Everything as JSON: `version`, `rooms`, `whole` (no cell is left to play), `students` and `cells`."""
    students = [
        {
            "id": each.id,
            "name": each.name,
            "digest": each.digest,
            "fault": each.fault,
            "scores": {
                role: {room or "all": score(cells, each, role, room).percent for room in (None, *rooms)}
                for role in ROLES
            },
        }
        for each in submissions
    ]
    return _json(
        {"version": __version__, "rooms": list(rooms), "whole": is_complete, "students": students, "cells": list(cells)}
    )


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
