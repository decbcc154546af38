"""The ids and titles of the cases: scripts, reports and teachers' notes name them, so no id may change."""

import re
from pathlib import Path

import pytest
from docs.check_prose import check_text

from croupier.conformance.suite import ROLES, Role, find_suite
from croupier.core.room import Room
from croupier.rooms import ROOMS

FILE = Path(__file__).parent / "case_ids.txt"

UNCLEAR = re.compile(
    r"^(?:Also|And|But|Nor|Not even|So (?:does|is)|Who|Another one|Whether)\b"
    r"|\bbehind (?!or level)|\bswallow|\bthe talk\b"
)
"""Beginnings that continue another title or have no subject, and words for "after", "ignore" and "the conversation"."""


def test_every_case_keeps_its_id() -> None:
    """Add the ids of new cases to the file; never change or remove one."""
    known = FILE.read_text(encoding="utf-8").splitlines()
    ids = [f"{role} {case.id}" for room in ROOMS.values() for role in ROLES for case in find_suite(room, role).cases]
    assert sorted(ids) == known


@pytest.mark.parametrize("room", ROOMS.values(), ids=lambda room: room.name)
@pytest.mark.parametrize("role", ROLES)
def test_every_title_can_be_read_alone(room: Room, role: Role) -> None:
    suite = find_suite(room, role)
    texts = [*(case.title for case in suite.cases), *suite.untestable.values()]
    assert [text for text in texts if [*check_text(text)] or UNCLEAR.search(text)] == []
