"""The state of a run of the tester while it runs, as another process reads it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from croupier.conformance.report.summary import ShownLine


class CauseView(Struct, frozen=True):
    """Why tests fail: a sentence, the broken clause, the number of tests, titles of some of them, and a dialogue."""

    text: str
    clause: str
    count: int
    tests: Sequence[str]
    dialogue: Sequence[ShownLine]


class RunState(Struct, frozen=True):
    """A run: how many tests are done, and what was found.

    `remark` is what the tester has said last beside its results. At the end, `verdict` is a sentence, or the reason why
    nothing could be tested, and `reports` has the report in each format, without any if nothing could be tested. All
    sentences are English.
    """

    total: int
    is_running: bool = True
    done: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    causes: Sequence[CauseView] = ()
    remark: str = ""
    verdict: str = ""
    reports: Mapping[str, str] = {}
