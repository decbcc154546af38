"""Errors of PEM files, with what the `ssl` module leaves out."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming_pem_files(content: str, *paths: Path | None) -> Iterator[None]:
    """Name the PEM files, which have to contain `content`, in the ValueError that replaces an OSError of the block.

    The `ssl` module names no file, and says where it has failed in the place of why.
    """
    try:
        yield
    except ssl.SSLError as error:
        raise ValueError(f"found {_listed(paths)}; allowed: {content} in PEM format") from error
    except OSError as error:
        raise ValueError(f"cannot read {_listed(paths)}: {error.strerror}") from error


def _listed(paths: Sequence[Path | None]) -> str:
    return " and ".join(str(path) for path in paths if path is not None)
