"""Files of conversations and deals: what players said and held is for the owner of the server alone."""

import os


def private_opener(path: str, flags: int) -> int:
    """Open a file as `open` does, for its `opener`: a new file can be read and written by its owner only."""
    return os.open(path, flags, 0o600)
