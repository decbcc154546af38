"""Structs that are stored as JSON."""

from typing import ClassVar, Self

from msgspec import Struct
from msgspec.json import decode, encode


class Stored(Struct, frozen=True):
    """A struct that is stored as JSON. `MALFORMED` describes data from which it cannot be decoded."""

    MALFORMED: ClassVar[str]

    def to_json(self) -> bytes:
        """Encode as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Decode from JSON. Raises ValueError if it is malformed."""
        try:
            return decode(data, type=cls)
        except (ValueError, RecursionError) as error:  # of JSON, of UTF-8, and of too many levels
            raise ValueError(f"found {cls.MALFORMED}: {error}") from None
