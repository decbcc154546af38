"""Known dialects of hold'em servers: consistent departures from the document, which the tester can undo."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from croupier.conformance.channel.json_values import change_json
from croupier.conformance.diagnosis.message_dialect import MessageDialect, MessageTransform, normalise
from croupier.conformance.holdem.operations import match_target
from croupier.conformance.holdem.schema import OBJECT_KEYS
from croupier.http.wire import ReceivedResponse
from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.wire import Cards

type ObjectTransform = Callable[[dict[str, Any]], dict[str, Any]]
"""Maps a JSON object as received to the object that the document prescribes."""

type HttpDialect = MessageDialect[ReceivedResponse, str]
"""A dialect of responses to requests ("METHOD path"). Refusals stay as they are."""

type ResponseTransform = MessageTransform[ReceivedResponse, str]

CARD_KEYS: Final = frozenset(Cards.__struct_fields__)

WINNER_KEYS: Final = frozenset({"PlayerID", "Hand"})
"""Keys of a winner in dialect hspe-go, which must not be normalised."""


KEYS_BY_NORMALISED: Final[Mapping[str, str]] = {
    normalise(key): key for key in (*CARD_KEYS, *(name for keys in OBJECT_KEYS.values() for name in keys))
}
INTEGER_KEYS: Final = frozenset(key for keys in OBJECT_KEYS.values() for key, kind in keys.items() if kind is int)
BOOLEAN_KEYS: Final = frozenset(key for keys in OBJECT_KEYS.values() for key, kind in keys.items() if kind is bool)


def _of_objects(change: ObjectTransform) -> ResponseTransform:
    """Return the transform of successful responses that a transform of every JSON object in them makes."""

    def transform(response: ReceivedResponse, _: str) -> ReceivedResponse:
        if response.status >= 300:
            return response
        return replace(response, body=change_json(response.body, lambda found: _transform_objects(found, change)))

    return transform


def _transform_objects(found: Any, transform: ObjectTransform) -> Any:
    """Apply a transform to every object in a JSON value, innermost first."""
    if isinstance(found, dict):
        return transform({key: _transform_objects(value, transform) for key, value in found.items()})
    return [_transform_objects(one, transform) for one in found] if isinstance(found, list) else found


def _restore_keys(found: dict[str, Any]) -> dict[str, Any]:
    return (
        found
        if found.keys() <= WINNER_KEYS
        else {KEYS_BY_NORMALISED.get(normalise(key), key): value for key, value in found.items()}
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


def _join_pots(found: dict[str, Any]) -> dict[str, Any]:
    """Join each pot with the one below it, unless a player who is all-in has paid only into the lower one."""
    try:
        table = [(player["playerID"], player["wealth"], player["state"]) for player in found["table"]]
        all_in = {player for player, wealth, state in table if wealth == 0 and state != "folded"}
        joined: list[dict[str, Any]] = []
        for pot in found["pots"]:
            below = joined[-1] if joined else pot
            only_below = {*below["players"]} - {*pot["players"]}
            if {*pot["players"]} < {*below["players"]} and not only_below & all_in:
                joined[-1] = {**below, "size": below["size"] + pot["size"]}
            else:
                joined.append(pot)
    except (KeyError, TypeError):
        return found
    return {**found, "pots": joined}


def _ok_to_created(response: ReceivedResponse, request: str) -> ReceivedResponse:
    found = match_target(request)
    is_creating = found is not None and 201 in found.operation.success_content
    return replace(response, status=201) if response.status == 200 and is_creating else response


def is_answered_with_guid(request: str) -> bool:
    """Whether the success of a request has a GUID."""
    found = match_target(request)
    return found is not None and found.operation.success_content.get(201) is str


def _quote_guid(response: ReceivedResponse, request: str) -> ReceivedResponse:
    body = response.body.strip()
    bare = response.status < 300 and is_answered_with_guid(request) and re.fullmatch(rb"[0-9A-Za-z-]+", body)
    return replace(response, body=b'"%s"' % body) if bare else response


GAME_TRANSFORMS: Final[Mapping[str, ObjectTransform]] = {
    "spells its keys in another way than the document": _restore_keys,
    "writes numbers as text": _transform_values(INTEGER_KEYS, _text_to_int),
    "writes numbers with a decimal point": _transform_values(INTEGER_KEYS, _float_to_int),
    "writes booleans in another way than true or false": _transform_values(BOOLEAN_KEYS, _to_bool),
    "writes the ten as 10": _transform_cards(lambda card: card.replace("10", "T")),
    "writes cards in small letters": _transform_cards(str.upper),
}
"""What restores the objects of a Game, by the description of its dialect."""

FORM_DIALECTS: Final[Sequence[HttpDialect]] = tuple(
    MessageDialect(description, (_of_objects(change),)) for description, change in GAME_TRANSFORMS.items()
)
"""The dialects in which a Game is written in another form."""

POT_OF_EACH_BET_DIALECT: Final[HttpDialect] = MessageDialect(
    "shows a pot for each amount that players have bet, not only where a player is all-in", (_of_objects(_join_pots),)
)

HSPE_GO_DIALECT: Final[HttpDialect] = MessageDialect(
    "speaks dialect hspe-go, that of the published server", option="hspe-go"
)
BARE_GUID_DIALECT: Final = MessageDialect("writes GUIDs without quotes", (_quote_guid,))
STATUS_200_DIALECT: Final = MessageDialect("answers 200 where 201 is required", (_ok_to_created,))

HSPE_GO_ONLY: Final[HttpDialect] = MessageDialect(
    "reads responses in no form but that of the dialect hspe-go", option="hspe-go", section="7.1"
)
"""What a client departs from that knows only the published server."""
