"""JSON in what a program under test has sent, which may be anything."""

from collections.abc import Callable
from typing import Any

from msgspec.json import decode, encode


def parse_json(data: bytes | str) -> Any:
    """Return a JSON value. Raises ValueError for anything else, and for a value that is nested too deeply."""
    try:
        return decode(data)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def json_object(data: bytes | str) -> dict[str, Any]:
    """Return a JSON object, {} for anything else."""
    try:
        found = parse_json(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def change_json(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return JSON with a change of its value; the bytes as they are if they cannot be read, or nothing changes."""
    try:
        found = parse_json(data)
        changed = encode(change(found))
        return data if changed == encode(found) else changed
    except (ValueError, RecursionError):
        return data
