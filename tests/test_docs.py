"""The documentation is what the code says, and builds without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest
from docs.generate import pages

from tests.processes import ROOT


@pytest.mark.parametrize(("path", "text"), [pytest.param(path, text, id=path.name) for path, text in pages()])
def test_generated_pages_are_up_to_date(path: Path, text: str) -> None:
    assert path.read_text() == text, "make docs writes it anew"


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "protocols" / "kuhn.html").exists()
