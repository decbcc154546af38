"""What comes with the package besides its code: the pages of the protocols, and the conversations on paper."""

from functools import cache
from pathlib import Path
from typing import Final

import croupier
from croupier.core.transcript import Transcript, read

PACKAGE: Final = Path(croupier.__file__).parent
SOURCES: Final = PACKAGE.parents[1]

PAGES: Final = (PACKAGE / "protocols", SOURCES / "docs" / "protocols")
PAPERS: Final = (PACKAGE / "transcripts", SOURCES / "transcripts")
"""Where they are: in the package when it is installed, beside the source tree otherwise."""


def page(room: str) -> Path | None:
    """The page of a room's protocol, if there is one."""
    return next((folder / f"{room}.md" for folder in PAGES if (folder / f"{room}.md").exists()), None)


@cache
def transcripts(room: str) -> tuple[Transcript, ...]:
    """All transcripts of a room, by their names. Raises ValueError where there are none."""
    folder = next((folder / room for folder in PAPERS if (folder / room).is_dir()), None)
    if folder is None:
        raise ValueError(f"found no transcripts of {room!r}; allowed: some in {' or '.join(map(str, PAPERS))}")
    return tuple(read(path.read_text(encoding="utf-8"), path.stem) for path in sorted(folder.glob("*.txt")))
