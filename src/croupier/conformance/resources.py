"""What comes with the package besides its code: the pages of the protocols, and the conversations on paper."""

from functools import cache
from pathlib import Path
from typing import Final

from croupier.core.transcript import Transcript, parse_transcript

PACKAGE: Final = Path(__file__).parents[1]
SOURCES: Final = PACKAGE.parents[1]

PAGE_FOLDERS: Final = (PACKAGE / "protocols", SOURCES / "docs" / "protocols")
TRANSCRIPT_FOLDERS: Final = (PACKAGE / "transcripts", SOURCES / "transcripts")
"""Where they are: in the package when it is installed, beside the source tree otherwise."""


def find_page(room: str) -> Path | None:
    """The page of a room's protocol, if there is one."""
    return next((folder / f"{room}.md" for folder in PAGE_FOLDERS if (folder / f"{room}.md").exists()), None)


@cache
def transcripts(room: str) -> tuple[Transcript, ...]:
    """All transcripts of a room, by their names. Raises ValueError where there are none."""
    folder = next((folder / room for folder in TRANSCRIPT_FOLDERS if (folder / room).is_dir()), None)
    if folder is None:
        raise ValueError(
            f"found no transcripts of {room!r}; allowed: some in {' or '.join(map(str, TRANSCRIPT_FOLDERS))}"
        )
    return tuple(parse_transcript(path.read_text(encoding="utf-8"), path.stem) for path in sorted(folder.glob("*.txt")))
