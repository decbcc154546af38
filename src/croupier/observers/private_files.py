"""Opens private files: conversations and deals are readable only by the owner of the server process."""

import os


def private_opener(path: str, flags: int) -> int:
    """An `opener` for `open`: new files can be read and written only by their owner."""
    return os.open(path, flags, 0o600)
