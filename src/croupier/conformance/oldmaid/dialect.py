"""Reads JSON messages that are consistently misspelt."""

from collections.abc import Callable
from typing import Any

from croupier.conformance.channel.json_values import change_json, parse_json
from croupier.conformance.diagnosis.message_dialect import MessageDialect, MessageTransform
from croupier.rooms.oldmaid.wire import Message

type JsonDialect = MessageDialect[bytes, Message | None]
"""A dialect of messages whose requests are known or not. A message may turn out to be none: then it is b""."""

type JsonTransform = MessageTransform[bytes, Message | None]

type TextTransform = Callable[[str], str]
"""Maps text that is not JSON to JSON; "" if it contains no message; unchanged if it is not in this dialect."""

type ObjectTransform = Callable[[Any, Message | None], Any]
"""Maps an object as received, and the request it answers if known, to the object that the protocol prescribes."""


def of_text(change: TextTransform) -> JsonTransform:
    """Return the transform of messages that a transform of their text makes, where that leads to JSON."""

    def transform(data: bytes, _: Message | None) -> bytes:
        try:
            changed = change(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
            if changed:
                parse_json(changed)
        except ValueError:
            return data
        return changed

    return transform


def of_object(change: ObjectTransform) -> JsonTransform:
    """Return the transform of messages that a transform of their objects makes."""

    def transform(data: bytes, request: Message | None) -> bytes:
        return change_json(data, lambda found: change(found, request) if isinstance(found, dict) else found)

    return transform
