"""The examples about libraries of others, on pages and in docstrings, run as they are printed."""

import re

import pytest

from tests.docstring_examples import run_examples
from tests.processes import ROOT

pytestmark = pytest.mark.interop

PAGES = ("environments",)
EXAMPLES = [
    pytest.param(block, id=f"{page}-{number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE | re.DOTALL)
    )
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example: str) -> None:
    exec(compile(example, "example", "exec"), {})


def test_the_docstrings_of_the_environments_give_what_they_show() -> None:
    run_examples("croupier.environments")
