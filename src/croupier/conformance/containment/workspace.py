"""Removal of the folders of strangers."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove_tree(path: Path) -> None:
    """Remove a folder and everything in it, as far as the user may, at any depth and with any permissions."""
    with suppress(RecursionError):  # before Python 3.13, rmtree calls itself for each level
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():  # it cannot enter folders without permissions, and needs a descriptor for each level
        for command in (["chmod", "-R", "u+rwx", "--"], ["rm", "-rf", "--"]):
            subprocess.run(  # noqa: S603 -- a path is no option after --
                [*command, path], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
