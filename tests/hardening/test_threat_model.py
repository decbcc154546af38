"""The threat model names tests that exist, and every test of this folder."""

import re

from tests.processes import ROOT

NAMED_PATTERN = re.compile(r"`tests/(\w+/test_\w+\.py)`")


def test_the_tests_of_the_threat_model_exist() -> None:
    table = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("## Fuzzing")[0]
    named = {*NAMED_PATTERN.findall(table)}
    assert {name for name in named if not (ROOT / "tests" / name).exists()} == set()
    own = {f"hardening/{path.name}" for path in (ROOT / "tests" / "hardening").glob("test_*.py")}
    assert own - named == {"hardening/test_threat_model.py"}
