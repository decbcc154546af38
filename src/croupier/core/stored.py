"""Structs that are stored as JSON."""

from typing import Any, ClassVar, Self

from msgspec import Raw, Struct
from msgspec.json import decode, encode


class Stored(Struct, frozen=True):
    """A struct that is stored as JSON. `MALFORMED` describes data from which it cannot be decoded.

    A field may be an object of another class that has `to_json` and `from_json`, such as a hand of hold'em.
    """

    MALFORMED: ClassVar[str]

    def to_json(self) -> bytes:
        """Encode as JSON."""
        return encode(self, enc_hook=_encode_object)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Decode from JSON. Raises ValueError if it is malformed."""
        try:
            return decode(data, type=cls, dec_hook=_decode_object)
        except (ValueError, RecursionError) as error:  # of JSON, of UTF-8, and of too many levels
            raise ValueError(f"found {cls.MALFORMED}: {error}") from None


def _encode_object(value: Any) -> Raw:
    return Raw(value.to_json())


def _decode_object(kind: Any, value: object) -> object:
    return kind.from_json(encode(value))
