"""`croupier verify`: verify the deal record of a server."""

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


def verify(file: Path, /) -> int:
    """Verify that the hands in a deal record were dealt as promised.

    Exit status: 0 if every promise was kept (promises at the end of the record may still be unopened), 1 if one was
    broken, 2 if none was broken but one was never opened, a result could not be checked, or the record proves nothing.

    Parameters
    ----------
    file:
        Record written by `croupier serve --deals`.
    """
    console = Console(highlight=False, soft_wrap=True)
    counts: Counter[str] = Counter()
    is_incomplete = False
    try:
        with file.open("rb") as lines:
            for finding in findings(lines, lambda room: ROOMS[room].pack, lambda room: ROOMS[room].net_check):
                mark = _mark(finding)
                counts[mark] += 1
                is_incomplete |= finding.is_incomplete
                text = printable(f"line {finding.line}: {finding.message}")
                console.print(Text.assemble((f"{mark:<11}", MARK_STYLES[mark]), " ", text))
    except OSError as error:
        return fail(f"cannot read {file}: {error.strerror}", 2)
    kept, broken, not_opened = counts["kept"], counts["BROKEN"], counts["not opened"]
    unopened = f", {format_count(not_opened, 'promise')} not opened" if not_opened else ""
    console.print(f"{format_count(kept, 'table')} as promised{unopened}, {format_count(broken, 'fault')}", markup=False)
    if broken:
        return 1
    return 0 if kept and not is_incomplete else 2


def _mark(finding: RecordFinding) -> str:
    if not finding.is_opened:
        return "not opened"
    return {True: "kept", False: "BROKEN", None: "unproved"}[finding.is_proved]
