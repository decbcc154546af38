"""The ids of the cases: scripts, reports and teachers' notes name them, so none may change."""

from pathlib import Path

from croupier.conformance.suite import ROLES, find_suite
from croupier.rooms import ROOMS

FILE = Path(__file__).parent / "case_ids.txt"


def test_every_case_keeps_its_id() -> None:
    """Add the ids of new cases to the file; never change or remove one."""
    known = FILE.read_text(encoding="utf-8").splitlines()
    ids = [f"{role} {case.id}" for room in ROOMS.values() for role in ROLES for case in find_suite(room, role).cases]
    assert sorted(ids) == known
