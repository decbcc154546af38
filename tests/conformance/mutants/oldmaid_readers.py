"""Readers of Old Maid messages that take the data of one read for one message, for tables and for players."""

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from croupier.rooms.oldmaid.wire import Wire
from tests.conformance.mutants.mutation import Reader
from tests.conformance.mutants.operators import READERS

GARBAGE = b"\0" * 16
"""The end of what the readers take for garbage: a part of a JSON object would otherwise wait for its end."""


def _read(new_reader: Callable[[Any], Reader], role: Any, room: object) -> Reader:
    read = new_reader(SimpleNamespace(codec=lambda strict, options: Wire(role)))
    return lambda data: [
        b"?\n" if piece.endswith(GARBAGE) else piece for piece in read(data) if piece.removesuffix(GARBAGE).strip()
    ]


def readers(role: str) -> Mapping[str, Callable[[Any], Reader]]:
    """The readers of one end, by what they do."""
    return {what: partial(_read, new_reader, role) for what, new_reader in READERS.items()}
