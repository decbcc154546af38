"""Data files of the package: the protocol pages and the transcripts."""

from functools import cache
from pathlib import Path
from typing import Final

from croupier.core.transcript import Transcript, parse_transcript

PACKAGE: Final = Path(__file__).parents[1]
SOURCES: Final = PACKAGE.parents[1]

PAGE_FOLDERS: Final = (PACKAGE / "protocols", SOURCES / "docs" / "protocols")
TRANSCRIPT_FOLDERS: Final = (PACKAGE / "transcripts", SOURCES / "transcripts")
"""Where they are: inside the package when it is installed, otherwise in the source tree."""


def find_page(room: str) -> Path | None:
    """Return the path of a room's protocol page, None if there is none."""
    return next((folder / f"{room}.md" for folder in PAGE_FOLDERS if (folder / f"{room}.md").exists()), None)


@cache
def transcripts(room: str) -> tuple[Transcript, ...]:
    """Return all transcripts of a room, sorted by name. Raises ValueError if there are none."""
    folder = next((folder / room for folder in TRANSCRIPT_FOLDERS if (folder / room).is_dir()), None)
    if folder is None:
        raise ValueError(
            f"found no transcripts of {room!r}; allowed: some in {' or '.join(map(str, TRANSCRIPT_FOLDERS))}"
        )
    return tuple(parse_transcript(path.read_text(encoding="utf-8"), path.stem) for path in sorted(folder.glob("*.txt")))
