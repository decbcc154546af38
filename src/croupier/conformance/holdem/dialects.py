"""Known dialects of hold'em servers: consistent departures from the document, which the tester can undo."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from msgspec import DecodeError
from msgspec.json import decode, encode
from msgspec.structs import replace

from croupier.conformance.channel.http import ReceivedResponse
from croupier.conformance.diagnosis.cause import CONJUNCTION
from croupier.conformance.holdem.schema import OBJECT_KEYS
from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.wire import Cards, Dialect

type ObjectTransform = Callable[[dict[str, Any]], dict[str, Any]]
"""Maps a JSON object as received to the object that the document prescribes."""

type ResponseTransform = Callable[[str, ReceivedResponse], ReceivedResponse]
"""Maps a request ("METHOD path") and its response as received to the response that the document prescribes."""

CARD_KEYS: Final = frozenset(Cards.__struct_fields__)

WINNER_KEYS: Final = frozenset({"PlayerID", "Hand"})
"""Keys of a winner in dialect hspe-go, which must not be normalised."""

CREATING_REQUESTS: Final = re.compile(
    r"POST /(?:users|games|games/[^/]+/players|games/[^/]+/players/[^/]+/acts)/?(?:\?.*)?"
)
"""The requests whose success is status 201."""

GUID_REQUESTS: Final = re.compile(r"POST /(?:users|games|games/[^/]+/players)/?(?:\?.*)?")
"""The requests that are answered with a GUID."""


def normalise_key(key: str) -> str:
    """Return a key in lower case without separators, so that spellings can be compared."""
    return re.sub(r"[\W_]", "", key).lower()


KEYS_BY_NORMALISED: Final[Mapping[str, str]] = {
    normalise_key(key): key for key in (*CARD_KEYS, *(name for keys in OBJECT_KEYS.values() for name in keys))
}
INTEGER_KEYS: Final = frozenset(key for keys in OBJECT_KEYS.values() for key, kind in keys.items() if kind is int)
BOOLEAN_KEYS: Final = frozenset(key for keys in OBJECT_KEYS.values() for key, kind in keys.items() if kind is bool)


@dataclass(frozen=True)
class HttpDialect:
    """A consistent way to write responses that differs from the document.

    `description` is a phrase that follows "it". `object_transforms` correct JSON objects, `response_transforms` whole
    responses. A server with a `dialect` is tested by the clauses of that dialect.
    """

    description: str
    object_transforms: tuple[ObjectTransform, ...] = ()
    response_transforms: tuple[ResponseTransform, ...] = ()
    dialect: Dialect | None = None

    def read(self, request: str, response: ReceivedResponse) -> ReceivedResponse:
        """Return the response as the document prescribes it to a request ("METHOD path"). Refusals stay as they are."""
        if response.status >= 300:
            return response
        for transform in self.response_transforms:
            response = transform(request, response)
        if not self.object_transforms or not response.body:
            return response
        try:
            before = decode(response.body)
        except (DecodeError, RecursionError):
            return response
        found = encode(reduce(_transform_objects, self.object_transforms, before))
        return response if found == encode(before) else replace(response, body=found)

    def __add__(self, other: "HttpDialect") -> "HttpDialect":
        """Combine two dialects."""
        return HttpDialect(
            f"{self.description}{CONJUNCTION}{other.description}",
            self.object_transforms + other.object_transforms,
            self.response_transforms + other.response_transforms,
            other.dialect or self.dialect,
        )


def _transform_objects(found: Any, transform: ObjectTransform) -> Any:
    """Apply a transform to every object in a JSON value, innermost first."""
    if isinstance(found, dict):
        return transform({key: _transform_objects(value, transform) for key, value in found.items()})
    return [_transform_objects(one, transform) for one in found] if isinstance(found, list) else found


def _restore_keys(found: dict[str, Any]) -> dict[str, Any]:
    return (
        found
        if found.keys() <= WINNER_KEYS
        else {KEYS_BY_NORMALISED.get(normalise_key(key), key): value for key, value in found.items()}
    )


def _transform_values(names: frozenset[str], change: Callable[[Any], Any]) -> ObjectTransform:
    """Return a transform that changes the values of some keys."""
    return lambda found: {key: change(value) if key in names else value for key, value in found.items()}


def _text_to_int(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value) else value


def _float_to_int(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _to_bool(value: Any) -> Any:
    return {0: False, 1: True, "0": False, "1": True, "false": False, "true": True}.get(
        value.lower() if isinstance(value, str) else value if isinstance(value, int) else "", value
    )


def _transform_cards(change: Callable[[str], str]) -> ObjectTransform:
    """Return a transform that changes every string that is not a card in lists of cards."""

    def transform(found: Any) -> Any:
        if not isinstance(found, list) or not all(isinstance(card, str) for card in found):
            return found
        return [card if card in CARD_NUMBERS else change(card) for card in found]

    return _transform_values(CARD_KEYS, transform)


def _ok_to_created(request: str, response: ReceivedResponse) -> ReceivedResponse:
    return (
        replace(response, status=201) if response.status == 200 and CREATING_REQUESTS.fullmatch(request) else response
    )


def _quote_guid(request: str, response: ReceivedResponse) -> ReceivedResponse:
    body = response.body.strip()
    bare = GUID_REQUESTS.fullmatch(request) and re.fullmatch(rb"[0-9A-Za-z-]+", body)
    return replace(response, body=b'"%s"' % body) if bare else response


HSPE_GO_DIALECT: Final = HttpDialect("speaks dialect hspe-go, that of the published server", dialect="hspe-go")
MISSPELT_KEYS_DIALECT: Final = HttpDialect(
    "spells its keys in another way than the document", object_transforms=(_restore_keys,)
)

TEXT_NUMBERS_DIALECT: Final = HttpDialect(
    "writes numbers as text", object_transforms=(_transform_values(INTEGER_KEYS, _text_to_int),)
)
DECIMAL_NUMBERS_DIALECT: Final = HttpDialect(
    "writes numbers with a decimal point", object_transforms=(_transform_values(INTEGER_KEYS, _float_to_int),)
)
TRUTHS_DIALECT: Final = HttpDialect(
    "writes booleans in another way than true or false",
    object_transforms=(_transform_values(BOOLEAN_KEYS, _to_bool),),
)
TEN_DIALECT: Final = HttpDialect(
    "writes the ten as 10", object_transforms=(_transform_cards(lambda card: card.replace("10", "T")),)
)
SMALL_LETTERS_DIALECT: Final = HttpDialect(
    "writes cards in small letters", object_transforms=(_transform_cards(str.upper),)
)
BARE_GUID_DIALECT: Final = HttpDialect("writes GUIDs without quotes", response_transforms=(_quote_guid,))
STATUS_200_DIALECT: Final = HttpDialect("answers 200 where 201 is required", response_transforms=(_ok_to_created,))

FORM_DIALECTS: Final[Sequence[HttpDialect]] = (
    MISSPELT_KEYS_DIALECT,
    TEXT_NUMBERS_DIALECT,
    DECIMAL_NUMBERS_DIALECT,
    TRUTHS_DIALECT,
    TEN_DIALECT,
    SMALL_LETTERS_DIALECT,
)
"""The dialects in which a Game is written in another form."""

DIALECTS: Final[Sequence[HttpDialect]] = (
    HSPE_GO_DIALECT,
    *FORM_DIALECTS,
    BARE_GUID_DIALECT,
    STATUS_200_DIALECT,
)
"""The known dialects."""
