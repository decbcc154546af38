"""`croupier verify`: check a dealer's record."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from croupier.cli.output import fail
from croupier.core.record import verify as findings
from croupier.core.text import printable
from croupier.rooms import ROOMS

MARKS = {True: ("kept  ", "green"), False: ("BROKEN", "bold red"), None: ("open  ", "yellow")}


def verify(file: Path) -> int:
    """Check a dealer's record: was every hand dealt as promised?

    Exit status 0: all that can be checked is as promised; 1: something is not; 2: nothing could be checked.

    Parameters
    ----------
    file:
        A record written by `croupier serve --deals`.
    """
    console = Console(highlight=False, soft_wrap=True)
    good = bad = 0
    try:
        with file.open("rb") as lines:
            for finding in findings(lines, lambda room: ROOMS[room].pack):
                good += finding.good is True
                bad += finding.good is False
                told = printable(f"line {finding.line}: {finding.told}")
                console.print(Text.assemble(MARKS[finding.good], "  ", told))
    except OSError as error:
        return fail(f"cannot read {file}: {error.strerror}", 2)
    console.print(f"{good} tables as promised, {bad} faults", markup=False)
    return 1 if bad else 0 if good else 2
