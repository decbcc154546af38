"""`croupier verify`: check a dealer's record."""

from collections import Counter
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from croupier.cli.output import fail
from croupier.core.deal_record import RecordFinding
from croupier.core.deal_record import verify_record as findings
from croupier.core.plural import format_count
from croupier.core.text import printable
from croupier.rooms import ROOMS

MARK_STYLES: Final = {"kept": "green", "BROKEN": "bold red", "not opened": "yellow", "unproved": "yellow"}


def verify(file: Path) -> int:
    """Check a dealer's record: was every hand dealt as promised?

    Exit status 0: every promise was kept, but for those at the end of the record that are not opened yet; 1: something
    is broken; 2: nothing is broken, but a promise was never opened, nets could not be checked, or nothing was kept.

    Parameters
    ----------
    file:
        A record written by `croupier serve --deals`.
    """
    console = Console(highlight=False, soft_wrap=True)
    found: Counter[str] = Counter()
    lacking = False
    try:
        with file.open("rb") as lines:
            for finding in findings(lines, lambda room: ROOMS[room].pack, lambda room: ROOMS[room].net_check):
                mark = _mark(finding)
                found[mark] += 1
                lacking |= finding.is_incomplete
                told = printable(f"line {finding.line}: {finding.message}")
                console.print(Text.assemble((f"{mark:<11}", MARK_STYLES[mark]), " ", told))
    except OSError as error:
        return fail(f"cannot read {file}: {error.strerror}", 2)
    kept, broken, closed = found["kept"], found["BROKEN"], found["not opened"]
    told = f", {format_count(closed, 'promise')} not opened" if closed else ""
    console.print(f"{format_count(kept, 'table')} as promised{told}, {format_count(broken, 'fault')}", markup=False)
    if broken:
        return 1
    return 0 if kept and not lacking else 2


def _mark(finding: RecordFinding) -> str:
    if not finding.is_opened:
        return "not opened"
    return {True: "kept", False: "BROKEN", None: "unproved"}[finding.is_proved]
