"""Scores of each student, and their export: CSV for Moodle, Gradescope files, and JSON."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, Final

import msgspec
from msgspec import Struct

from croupier.conformance.matrix.cells import Cell, CellKind
from croupier.conformance.matrix.submission import REFERENCE_ID, Submission
from croupier.conformance.suite import ROLES
from croupier.rooms import HOUSE_ROOMS
from croupier.version import __version__

WEIGHT_PATTERN: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
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

    def __str__(self) -> str:
        return "" if self.percent is None else f"{self.percent:.1f}"


def counts_for_role(cell: Cell, role: str) -> bool:
    """Whether a cell counts for the program that plays a role in it."""
    return cell.finding.kind is CellKind.WELL or role in cell.finding.blame


class Grading(Struct, frozen=True):
    """What the results count.

    `weights` has the weights of roles, rooms, and roles in a room ("client", "kuhn", "kuhn.client"); what it does not
    name weighs 1. `points` are for a submission that plays well everywhere. `visibility` is Gradescope's word for who
    sees the tests against programs of other students.
    """

    weights: Mapping[str, float] = {}
    points: float = 100.0
    visibility: str = "visible"

    def weight(self, room: str, role: str) -> float:
        """The weight of a role in a room."""
        return prod(self.weights.get(key, 1.0) for key in (room, role, f"{room}.{role}"))


def parse_grading(weights: str, points: float, visibility: str) -> Grading:
    """Parse weights, as in `client=2,kuhn=0.5`. Raises ValueError.

    Example:
        >>> parse_grading("client=2,kuhn.client=3", 100, "hidden").weight("kuhn", "client")
        6.0
    """
    allowed = {*ROLES, *HOUSE_ROOMS, *(f"{room}.{role}" for room in HOUSE_ROOMS for role in ROLES)}
    parsed: dict[str, float] = {}
    for entry in filter(None, weights.split(",")):
        name, _, number = entry.strip().partition("=")
        if name not in allowed or WEIGHT_PATTERN.fullmatch(number) is None:
            names = f"{', '.join((*ROLES, *HOUSE_ROOMS))}, kuhn.client and the like"
            raise ValueError(f"found the weight {entry!r}; allowed: NAME=NUMBER for {names}")
        parsed[name] = float(number)
    return Grading(parsed, points, visibility)


class Results(Struct, frozen=True, dict=True):
    """The cells of a class. `titles` maps the names of its rooms to their titles.

    `is_complete`: no cell is left to play.
    """

    cells: Sequence[Cell]
    submissions: Sequence[Submission]
    titles: Mapping[str, str]
    grading: Grading = Grading()
    is_complete: bool = True

    @property
    def names(self) -> Mapping[str, str]:
        """The names of the submissions by id."""
        return {each.id: each.name for each in self.submissions}

    @property
    def students(self) -> Sequence[Submission]:
        """The submissions without our own programs."""
        return [each for each in self.submissions if not each.is_reference]

    def score(self, submission: Submission, role: str, room: str | None = None) -> Score:
        """The score of a submission in a role, in one room or in all of them."""
        return Score(*(self._counts[submission.id, role, room, is_good] for is_good in (True, False)))

    @cached_property
    def _counts(self) -> Counter[tuple[str, str, str | None, bool]]:
        """The number of cells that count, by submission, role, room, and whether the program has played well.

        None stands for all rooms.
        """
        return Counter(
            (getattr(cell, role), role, room, cell.finding.kind is CellKind.WELL)
            for cell in self.cells
            for role in ROLES
            if counts_for_role(cell, role)
            for room in (None, cell.room)
        )

    def mark(self, submission: Submission) -> float | None:
        """The weighted mean of its scores in all rooms and roles, in percent; None if nothing counts."""
        shares = self.shares(submission)
        scores = {part: self.score(submission, *part).percent or 0.0 for part in shares}
        return sum(share * scores[part] for part, share in shares.items()) if shares else None

    def shares(self, submission: Submission) -> Mapping[tuple[str, str], float]:
        """The share of each role and room in the mark of a submission; those in which nothing counts have none."""
        weights = {
            (role, room): self.grading.weight(room, role)
            for room in self.titles
            for role in ROLES
            if self.score(submission, role, room).percent is not None
        }
        total = sum(weights.values())
        return {part: weight / total for part, weight in weights.items() if weight}


def moodle(results: Results) -> str:
    """CSV with a line per student for Moodle's grade import: marks in percent, `-` where nothing counts.

    Moodle gives the marks of a line without a student to the student of the line before. The folder therefore stands in
    for an ID or e-mail address that is missing or that two submissions claim: Moodle refuses it by name.
    """
    file = io.StringIO(newline="")
    lines = csv.writer(file)
    parts = [(role, room) for room in results.titles for role in ROLES] if len(results.titles) > 1 else []
    heads = [f"{room} {role} score" for role, room in parts]
    lines.writerow(("ID number", "Email address", "Name", "Folder", "Total", "Server score", "Client score", *heads))
    claimed = Counter(text for each in results.students for text in (each.student_id, each.email))
    for each in results.students:
        person = [text if text and claimed[text] == 1 else each.id for text in (each.student_id, each.email)]
        scores = [results.score(each, *part).percent for part in [*zip(ROLES), *parts]]
        marks = ("-" if found is None else f"{found:.1f}" for found in (results.mark(each), *scores))
        lines.writerow((*map(_escape_formula, (*person, each.name, each.id)), *marks))
    return file.getvalue()


def _escape_formula(text: str) -> str:
    """Escape text that a spreadsheet would take for a formula."""
    return f"'{text}" if text.startswith(FORMULA_PREFIXES) else text


def gradescope(results: Results, submission: Submission) -> str:
    """Gradescope's results.json of one student: a test for every cell that counts, which share the points by weight."""
    own = [(role, cell) for role in ROLES for cell in results.cells if getattr(cell, role) == submission.id]
    counted = [(role, cell) for role, cell in own if counts_for_role(cell, role)]
    sizes: Counter[tuple[str, str]] = Counter((role, cell.room) for role, cell in counted)
    points = {part: results.grading.points * share / sizes[part] for part, share in results.shares(submission).items()}
    tests = [_test(results, cell, role, points.get((role, cell.room), 0.0)) for role, cell in counted]
    other = len(own) - len(counted)
    output = submission.faults or f"Cells that count for nothing, because only the other program is to blame: {other}."
    return _json({"score": round(sum(test["score"] for test in tests), 2), "output": output, "tests": tests})


def _test(results: Results, cell: Cell, role: str, points: float) -> dict[str, Any]:
    good = cell.finding.kind is CellKind.WELL
    other = cell.client if role == "server" else cell.server
    parts = [_sentence(cell), *map(str, cell.finding.dialogue), cell.stderr]
    return {
        "name": f"{cell.room}: your {role} against {results.names.get(other, other)}",
        "score": points * good,
        "max_score": points,
        "status": "passed" if good else "failed",
        "output": "\n".join(part for part in parts if part),
        "visibility": "visible" if other == REFERENCE_ID else results.grading.visibility,
    }


def _sentence(cell: Cell) -> str:
    text = str(cell.finding)
    games = f"games: {cell.games}, conversations: {cell.connections}"
    return f"{text[:1].upper()}{text[1:]} ({games})."


def full_json(results: Results) -> str:
    """Everything as JSON: `version`, `rooms`, `whole` (no cell is left to play), `students` and `cells`."""
    students = [
        {
            "id": each.id,
            "name": each.name,
            "digest": each.digest,
            "fault": each.faults,
            "student_id": each.student_id,
            "email": each.email,
            "mark": results.mark(each),
            "scores": {
                role: {room or "all": results.score(each, role, room).percent for room in (None, *results.titles)}
                for role in ROLES
            },
        }
        for each in results.submissions
    ]
    matrix = {"version": __version__, "rooms": [*results.titles], "whole": results.is_complete}
    return _json({**matrix, "students": students, "cells": results.cells})


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
