"""Names what a program does not read of a message: the field after the bytes that it has read."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from croupier.conformance.conversation import MESSAGE_SECTION
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.common_dialects import ProtocolLayout
from croupier.conformance.diagnosis.dialect import CODE_FIELD, NotInDialectError
from croupier.conformance.diagnosis.layouts import LAYOUTS

LENGTH_SECTIONS: Final[Mapping[str, str]] = {"card": "2.4"}
"""The numbers of the clauses about the length of a field, if they are not those about its values."""


class UnreadPart(NamedTuple):
    """The cause of what a program does that does not read the whole of a message, and the code of the message."""

    cause: Cause
    code: str


def unread_part(room: str, read: bytes) -> UnreadPart | None:
    """Return the part of a message of a room after the bytes that a program has read; None if they begin no message.

    Example:
        >>> unread_part("sevenhalf", b"ANTE ").cause.clause
        'sevenhalf-2.3'
    """
    protocol = LAYOUTS[room]
    code = next((code for code in protocol.layout if read.upper().startswith(code)), None)
    if code is None:
        return None
    name = _first_unread_field(protocol, code, read)
    section = LENGTH_SECTIONS.get(name) or protocol.sections.get(name, MESSAGE_SECTION)
    cause = Cause(f"it does not read the whole of {code.decode()}", clause=f"{room}-{section}")
    return UnreadPart(cause, code.decode())


def _first_unread_field(protocol: ProtocolLayout, code: bytes, read: bytes) -> str:
    """The first field after these bytes; the last one if there is none, and empty after a field with a wrong value."""
    at, name = len(code), CODE_FIELD
    for name in protocol.layout[code]:
        try:
            found = protocol.fields[name].read(read, at)
        except NotInDialectError:
            return ""
        if found is None:
            break
        at = found[1]
    return name
