"""Copies of the folders of strangers, and their removal."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MAX_COPY_BYTES: Final = 1 << 30
MAX_COPY_FILES: Final = 50_000


def copy_tree(source: Path, target: Path, *, max_bytes: int = MAX_COPY_BYTES, max_files: int = MAX_COPY_FILES) -> None:
    """Copy a folder with its files, folders and symbolic links; `target` must not exist. Names may be any bytes.

    Named pipes, sockets and devices are left out, and symbolic links are copied as they are. The sizes of files count
    as if they had no holes. Raises ValueError if there is more than is allowed, and OSError if a file cannot be read.
    Whatever was copied by then stays.
    """
    size = 0
    target.mkdir(parents=True)
    for count, (entry, copy) in enumerate(_entries(source, target), 1):
        if count > max_files:
            raise ValueError(f"found more than {max_files:,} files in {str(source)!r}; allowed: {max_files:,}")
        if entry.is_symlink():
            copy.symlink_to(Path(entry).readlink())
        elif entry.is_dir():
            copy.mkdir()
        elif entry.is_file():
            size += entry.stat().st_size
            if size > max_bytes:
                raise ValueError(
                    f"found more than {max_bytes:,} bytes of files in {str(source)!r}; allowed: {max_bytes:,}"
                )
            shutil.copy2(entry, copy)


def _entries(source: Path, target: Path) -> Iterator[tuple[os.DirEntry[str], Path]]:
    """Yield everything in a folder, with the path of its copy; folders before what is in them."""
    waiting = [(source, target)]
    while waiting:
        folder, copy = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry, copy / entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((Path(entry.path), copy / entry.name))


def remove_tree(path: Path) -> None:
    """Remove a folder and everything in it, as far as the user may, however deep it is and whatever its permissions."""
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():  # rmtree cannot enter folders without permissions, and needs a descriptor for each level
        for command in (["chmod", "-R", "u+rwx", "--"], ["rm", "-rf", "--"]):
            subprocess.run(  # noqa: S603 -- a path is no option after --
                [*command, path], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
