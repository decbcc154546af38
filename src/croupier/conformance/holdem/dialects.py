"""Ways in which servers of hold'em depart from the document all along: named once, and read as what they mean."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final

from msgspec import DecodeError
from msgspec.json import decode, encode
from msgspec.structs import replace

from croupier.conformance.diagnosis.dialect import CONJUNCTION
from croupier.conformance.holdem.http_client import ReceivedResponse
from croupier.conformance.holdem.schema import OBJECT_KEYS
from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.wire import Dialect

type ObjectTransform = Callable[[dict[str, Any]], dict[str, Any]]
"""An object of JSON as it came in, as the document has it out."""

type ResponseTransform = Callable[[str, ReceivedResponse], ReceivedResponse]
"""A request (its method and path) and the answer as it came in, the answer as the document has it out."""

CARD_KEYS: Final = frozenset({"hole", "flop", "turn", "river"})

WINNER_KEYS: Final = frozenset({"PlayerID", "Hand"})
"""The keys of dialect hspe-go that look like others."""

CREATING_REQUESTS: Final = re.compile(
    r"POST /(?:users|games|games/[^/]+/players|games/[^/]+/players/[^/]+/acts)/?(?:\?.*)?"
)
"""The requests of which 201 tells that all is well."""

GUID_REQUESTS: Final = re.compile(r"POST /(?:users|games|games/[^/]+/players)/?(?:\?.*)?")
"""The requests that are answered with a GUID."""

CAUSE_PREFIX: Final = "it "
"""What a cause begins with."""


def normalise_key(key: str) -> str:
    """A key without what different ways to spell it have between its words."""
    return re.sub(r"[\W_]", "", key).lower()


KEYS_BY_NORMALISED: Final[Mapping[str, str]] = {
    normalise_key(key): key for key in (*CARD_KEYS, *(name for keys in OBJECT_KEYS.values() for name in keys))
}
INTEGER_KEYS: Final = frozenset(key for keys in OBJECT_KEYS.values() for key, kind in keys.items() if kind is int)
BOOLEAN_KEYS: Final = frozenset(key for keys in OBJECT_KEYS.values() for key, kind in keys.items() if kind is bool)


@dataclass(frozen=True)
class HttpDialect:
    """A way to answer. `told` says it in words behind "it"; `trees` mend what JSON says, and `mends` whole answers.

    A server with a `dialect` speaks that.
    """

    description: str
    object_transforms: tuple[ObjectTransform, ...] = ()
    response_transforms: tuple[ResponseTransform, ...] = ()
    dialect: Dialect | None = None

    def read(self, request: str, response: ReceivedResponse) -> ReceivedResponse:
        """What is meant by the answer to a request (its method and path); a refusal is what it is."""
        if response.status >= 300:
            return response
        for mend in self.response_transforms:
            response = mend(request, response)
        if not self.object_transforms or not response.body:
            return response
        try:
            before = decode(response.body)
        except (DecodeError, RecursionError):
            return response
        found = encode(reduce(_transform_objects, self.object_transforms, before))
        return response if found == encode(before) else replace(response, body=found)

    def __add__(self, other: "HttpDialect") -> "HttpDialect":
        """Both at the same time."""
        return HttpDialect(
            f"{self.description}{CONJUNCTION}{other.description}",
            self.object_transforms + other.object_transforms,
            self.response_transforms + other.response_transforms,
            other.dialect or self.dialect,
        )


def _transform_objects(found: Any, tree: ObjectTransform) -> Any:
    """JSON with every object mended."""
    if isinstance(found, dict):
        return tree({key: _transform_objects(value, tree) for key, value in found.items()})
    return [_transform_objects(one, tree) for one in found] if isinstance(found, list) else found


def _restore_keys(found: dict[str, Any]) -> dict[str, Any]:
    return (
        found
        if found.keys() <= WINNER_KEYS
        else {KEYS_BY_NORMALISED.get(normalise_key(key), key): value for key, value in found.items()}
    )


def _transform_values(names: frozenset[str], change: Callable[[Any], Any]) -> ObjectTransform:
    """The values of some keys."""
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
    """Every card that is none as it stands."""

    def mend(found: Any) -> Any:
        if not isinstance(found, list) or not all(isinstance(card, str) for card in found):
            return found
        return [card if card in CARD_NUMBERS else change(card) for card in found]

    return _transform_values(CARD_KEYS, mend)


def _ok_to_created(asked: str, response: ReceivedResponse) -> ReceivedResponse:
    return replace(response, status=201) if response.status == 200 and CREATING_REQUESTS.fullmatch(asked) else response


def _quote_guid(asked: str, response: ReceivedResponse) -> ReceivedResponse:
    body = response.body.strip()
    bare = GUID_REQUESTS.fullmatch(asked) and re.fullmatch(rb"[0-9A-Za-z-]+", body)
    return replace(response, body=b'"%s"' % body) if bare else response


HSPE_GO_DIALECT: Final = HttpDialect("speaks dialect hspe-go, that of the published server", dialect="hspe-go")
MISSPELT_KEYS_DIALECT: Final = HttpDialect(
    "spells its keys otherwise than the document", object_transforms=(_restore_keys,)
)

DIALECTS: Final[Sequence[HttpDialect]] = (
    HSPE_GO_DIALECT,
    MISSPELT_KEYS_DIALECT,
    HttpDialect("writes numbers as text", object_transforms=(_transform_values(INTEGER_KEYS, _text_to_int),)),
    HttpDialect(
        "writes numbers with a decimal point", object_transforms=(_transform_values(INTEGER_KEYS, _float_to_int),)
    ),
    HttpDialect(
        "writes a truth as something else than true or false",
        object_transforms=(_transform_values(BOOLEAN_KEYS, _to_bool),),
    ),
    HttpDialect("writes the ten as 10", object_transforms=(_transform_cards(lambda card: card.replace("10", "T")),)),
    HttpDialect("writes cards in small letters", object_transforms=(_transform_cards(str.upper),)),
    HttpDialect("writes the GUID without quotes: that is no JSON", response_transforms=(_quote_guid,)),
    HttpDialect("answers 200 where 201 is due", response_transforms=(_ok_to_created,)),
)
"""The habits that are known."""


def dialect_from_cause(cause: str) -> HttpDialect | None:
    """The habit that a cause has named (`it writes numbers as text`); None where it is another cause."""
    words = {habit.description: habit for habit in DIALECTS}
    found = [words.get(part) for part in cause.removeprefix(CAUSE_PREFIX).split(CONJUNCTION)]
    habits = [habit for habit in found if habit is not None]
    return reduce(add, habits) if len(habits) == len(found) else None
