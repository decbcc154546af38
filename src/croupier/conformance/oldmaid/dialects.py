"""Known dialects of Old Maid programs: consistent misspellings of messages."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

from croupier.conformance.diagnosis.dialect import greets_with, without_digits
from croupier.conformance.diagnosis.message_dialect import MessageDialect, normalise
from croupier.conformance.oldmaid.dialect import JsonDialect, ObjectTransform, of_object
from croupier.conformance.oldmaid.near_json import TEXT_DIALECTS
from croupier.rooms.oldmaid.cards import SUITS, VALUES, WIRE_JOKER
from croupier.rooms.oldmaid.wire import Discard, Message

type CardTransform = Callable[[Any], Any]
"""Maps a card as received to the form of the protocol; unchanged if it is not in this dialect."""

RESULTS: Final = frozenset({"ok", "out", "error", "last_card"})

RESULT_WORDS: Final[Mapping[str, Collection[str]]] = {"result": RESULTS, "message": {"ok"}}
"""The words that programs use, by key."""

ERROR_WORDS: Final = frozenset(
    {"err", "fail", "failed", "failure", "nok", "not ok", "ko", "invalid", "denied", "refused"}
)
"""Words used in place of "error"."""

COMMANDS: Final = ("join", "draw", "discard", "out_of_cards", "status", "your_turn", "offer", "pick")

REQUEST_KEYS: Final = ("cmd", "nick", "port", "cards", "last_cards", "num_cards", "card_num")
ANSWER_KEYS: Final = ("result", "message", "card", "players")

NUMBER_KEYS: Final = ("port", "num_cards", "card_num")

VALUES_BY_NUMBER: Final = {1: "A", 11: "J", 12: "Q", 13: "K", 14: "A"}

VALUES_BY_NAME: Final = {"jack": "J", "knave": "J", "queen": "Q", "king": "K", "ace": "A"}

SUITS_BY_SIGN: Final = {
    sign: suit for signs, suit in zip(("♠♤", "♣♧", "♦♢", "♥♡"), SUITS, strict=True) for sign in signs
}
SUITS_BY_LETTER: Final = {suit[0]: suit for suit in SUITS} | {suit.removesuffix("s"): suit for suit in SUITS}

ADDRESS_TEXT_PATTERN: Final = re.compile(r"(.+):(\d+)")

CARD_TEXT_PATTERN: Final = re.compile(rf"({'|'.join(VALUES)}|joker)[ ,_:/-]*(?:of )?({'|'.join(SUITS)}|maid)")


COMMANDS_BY_NORMALISED: Final = {normalise(word): word for word in COMMANDS}
KEYS_BY_NORMALISED: Final = {normalise(word): word for word in (*REQUEST_KEYS, *ANSWER_KEYS)}


def _transform_value(key: str, change: Callable[[Any], Any]) -> ObjectTransform:
    """Return a transform of the value of one key."""
    return lambda message, _: {**message, key: change(message[key])} if key in message else message


def _transform_cards(change: CardTransform) -> ObjectTransform:
    """Return a transform of every card."""

    def transform(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
        if "card" in message:
            return {**message, "card": change(message["card"])}
        if isinstance(message.get("cards"), list):
            return {**message, "cards": [change(card) for card in message["cards"]]}
        return message

    return transform


def _transform_card_pairs(change: Callable[[Any, Any], list[Any]]) -> ObjectTransform:
    """Return a transform of every card that is an array of two."""
    return _transform_cards(lambda card: change(*card) if isinstance(card, list) and len(card) == 2 else card)


def _transform_suits(change: Callable[[str], str]) -> ObjectTransform:
    return _transform_card_pairs(lambda value, suit: [value, change(suit) if isinstance(suit, str) else suit])


def _transform_players(change: Callable[[Any], Any]) -> ObjectTransform:
    """Return a transform of every player in the table's list."""

    def changed(players: Any) -> Any:
        if isinstance(players, dict):
            return {key: change(seat) for key, seat in players.items()}
        return [change(seat) for seat in players] if isinstance(players, list) else players

    return _transform_value("players", changed)


# Answers.


def _lower_results(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    def lower(key: str, value: Any) -> Any:
        is_known = isinstance(value, str) and value.lower() in RESULT_WORDS.get(key, ())
        return value.lower() if is_known else value

    return {key: lower(key, value) for key, value in message.items()}


def _restore_error(value: Any) -> Any:
    return "error" if isinstance(value, str) and value.lower() in ERROR_WORDS else value


def _bool_to_result(value: Any) -> Any:
    return {True: "ok", False: "error"}[value] if isinstance(value, bool) else value


def _status_to_result(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    value = message.get("status")
    if "result" in message or not isinstance(value, str):
        return message
    return {"result": value, **{key: value for key, value in message.items() if key != "status"}}


def _add_ok_message(message: dict[str, Any], request: Message | None) -> dict[str, Any]:
    is_ok = message.get("result") == "ok" and isinstance(request, Discard)
    return {**message, "message": "ok"} if is_ok else message


def _add_error_message(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    is_error = message.get("result") == "error" and not isinstance(message.get("message"), str)
    return {**message, "message": "no reason is given"} if is_error else message


def _wrap_nicks(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    if not {"in", "out"} <= message.keys():
        return message
    empty: Mapping[str, Any] = {key: [] for key in ("in", "out") if message[key] is None or message[key] == {}}
    alone = {key: [message[key]] for key in ("in", "out") if isinstance(message[key], str)}
    return {**message, **empty, **alone}


# Cards.


def _split_card_text(card: Any) -> Any:
    found = CARD_TEXT_PATTERN.fullmatch(card) if isinstance(card, str) else None
    return [found[1], found[2]] if found else card


def _swap_suit_and_value(value: Any, suit: Any) -> list[Any]:
    return [suit, value] if value in (*SUITS, WIRE_JOKER[1]) else [value, suit]


def _card_object_to_array(card: Any) -> Any:
    if not isinstance(card, dict) or len(card) != 2:
        return card
    suit = next((key for key in card if key.lower() in {"suit", "color", "colour", "type", "kind"}), None)
    value = next((key for key in card if key.lower() in {"value", "rank", "number", "face", "val"}), None)
    return card if suit is None or value is None else [card[value], card[suit]]


def _restore_ten(value: Any, suit: Any) -> list[Any]:
    return ["10" if value in ("T", "t") else value, suit]


def _number_to_value(value: Any, suit: Any) -> list[Any]:
    return [VALUES_BY_NUMBER.get(value, str(value)) if type(value) is int else value, suit]


def _restore_court(value: Any, suit: Any) -> list[Any]:
    if not isinstance(value, str):
        return [value, suit]
    known = {**VALUES_BY_NAME, **{letter.lower(): letter for letter in "JQKA"}}
    numbers = {str(number): name for number, name in VALUES_BY_NUMBER.items()}
    return [known.get(value.lower(), numbers.get(value, value)), suit]


def _restore_maid(value: Any, suit: Any) -> list[Any]:
    names = {"joker", "maid", "old maid", "oldmaid", "old_maid", "old"}
    is_joker = isinstance(value, str) and value.lower() in names
    return [*WIRE_JOKER] if is_joker else [value, suit]


def _unwrap_card(card: Any) -> Any:
    return card[0] if isinstance(card, list) and len(card) == 1 and isinstance(card[0], list) else card


def _split_flat_pair(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    match message.get("cards"):
        case [str(), str(), str(), str()] as cards:
            return {**message, "cards": [cards[:2], cards[2:]]}
    return message


# Players.


def _restore_player_keys(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    players = message.get("players")
    numbers = {key: re.fullmatch(r"\D*(\d+)", key) for key in players} if isinstance(players, dict) else {}
    if not isinstance(players, dict) or not all(numbers.values()):
        return message
    order = sorted(players, key=lambda key: int(match[1]) if (match := numbers[key]) else 0)
    return {**message, "players": {f"player{at}": players[key] for at, key in enumerate(order, start=1)}}


def _split_address_text(address: Any) -> Any:
    found = ADDRESS_TEXT_PATTERN.fullmatch(address) if isinstance(address, str) else None
    return [found[1], int(found[2])] if found else address


def _nest_address(seat: Any) -> Any:
    match seat:
        case [str(address), str(nick)]:
            return [_split_address_text(address), nick]
        case [str(host), port, str(nick)]:
            return [[host, port], nick]
        case [str(nick), [str(host), port]] | [[str(nick)], [str(host), port]]:
            return [[host, port], nick]
    return seat


def _player_object_to_array(seat: Any) -> Any:
    if not isinstance(seat, dict):
        return seat
    nick = next((seat[key] for key in ("nick", "name", "nickname") if key in seat), None)
    address = next((seat[key] for key in ("address", "addr", "host", "ip") if key in seat), None)
    match [_split_address_text(address), seat.get("port")]:
        case [[str(), _] as address, None]:
            return [address, nick]
        case [str(host), port]:
            return [[host, port], nick]
    return seat


def _restore_port(seat: Any) -> Any:
    match seat:
        case [[str(host), str(port)], nick] if port.isdecimal():
            return [[host, int(port)], nick]
    return seat


# Requests.


def _strings_to_numbers(message: dict[str, Any], request: Message | None) -> dict[str, Any]:
    numbers = {key: message[key] for key in NUMBER_KEYS if isinstance(message.get(key), str)}
    found = {key: int(value) for key, value in numbers.items() if value.strip().isdecimal()}
    restored: dict[str, Any] = _transform_players(_restore_port)({**message, **found}, request)
    return restored


def _floats_to_ints(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    numbers = {key: message[key] for key in NUMBER_KEYS if isinstance(message.get(key), float)}
    return {**message, **{key: int(value) for key, value in numbers.items() if value.is_integer()}}


def _lower_command(value: Any) -> Any:
    return value.lower() if isinstance(value, str) and value.lower() in COMMANDS else value


def _restore_command(value: Any) -> Any:
    return COMMANDS_BY_NORMALISED.get(normalise(value), value) if isinstance(value, str) else value


def _restore_keys(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    return {KEYS_BY_NORMALISED.get(normalise(key), key): value for key, value in message.items()}


def _restore_cmd_key(message: dict[str, Any], _: Message | None) -> dict[str, Any]:
    key = next((key for key in ("command", "action", "type", "msg", "message") if message.get(key) in COMMANDS), None)
    if "cmd" in message or key is None:
        return message
    return {"cmd": message[key], **{name: value for name, value in message.items() if name != key}}


OBJECT_TRANSFORMS: Final[Mapping[str, ObjectTransform]] = {
    "writes its results in capitals": _lower_results,
    "has another word for error": _transform_value("result", _restore_error),
    "has a truth value for a result, where ok and error are": _transform_value("result", _bool_to_result),
    "has the key status, where result is": _status_to_result,
    'answers a discard without the message "ok"': _add_ok_message,
    "gives no reason with an error": _add_error_message,
    "does not put nicks into an array": _wrap_nicks,
    "writes suits in capitals": _transform_suits(str.lower),
    "writes suits as signs": _transform_suits(lambda suit: SUITS_BY_SIGN.get(suit, suit)),
    "writes suits as letters, or in the singular": _transform_suits(
        lambda suit: SUITS_BY_LETTER.get(suit.lower(), suit)
    ),
    "writes the ten as T": _transform_card_pairs(_restore_ten),
    "writes values as numbers, where they are strings": _transform_card_pairs(_number_to_value),
    "has other names for jack, queen, king and ace than J, Q, K and A": _transform_card_pairs(_restore_court),
    'has another name for the old maid than ["joker", "maid"]': _transform_card_pairs(_restore_maid),
    "puts the suit before the value": _transform_card_pairs(_swap_suit_and_value),
    "writes a card as a single string, where it is an array of two": _transform_cards(_split_card_text),
    "writes a card as an object, where it is an array of two": _transform_cards(_card_object_to_array),
    "puts a card into one more array": _transform_cards(_unwrap_card),
    "puts the two cards of a discard into one array of four": _split_flat_pair,
    "has other keys for the players than player1, player2, …": _restore_player_keys,
    'does not list a player as [["address", port], "nick"]': _transform_players(_nest_address),
    'lists a player as an object, where it is [["address", port], "nick"]': _transform_players(_player_object_to_array),
    "puts quotes around its numbers": _strings_to_numbers,
    "writes its integers with a fraction": _floats_to_ints,
    "writes its commands in capitals": _transform_value("cmd", _lower_command),
    "spells its commands otherwise than out_of_cards and your_turn": _transform_value("cmd", _restore_command),
    "has another key for a command than cmd": _restore_cmd_key,
    "spells its keys otherwise, where they are as num_cards and last_cards": _restore_keys,
}
"""What restores an object, by the description of its dialect."""

DIALECTS: Final[Sequence[JsonDialect]] = (
    *TEXT_DIALECTS,
    *(MessageDialect(description, (of_object(change),)) for description, change in OBJECT_TRANSFORMS.items()),
)
"""All dialects; of those that make a message right the first one counts."""

NJAAL_ONLY: Final[JsonDialect] = MessageDialect(
    "reads the list of players in no form but that of the dialect njaal, an array", option="njaal", section="3.3"
)
"""What a player departs from that knows only the table of the exercise; what it sends is as the document has it."""


def is_in_greeting(data: bytes, greeting: bytes) -> bool:
    """Whether data is a part of a greeting, whatever numbers are in it."""
    text = without_digits(data).strip()
    return bool(text) and text in without_digits(greeting)


@cache
def greeting_dialect(greeting: bytes) -> JsonDialect:
    """The dialect of a table that sends this greeting before its first answer; prompts are parts of it."""

    def skip_greeting(data: bytes, _: Message | None) -> bytes:
        return b"" if is_in_greeting(data, greeting) else data

    return MessageDialect(greets_with(greeting), (skip_greeting,), greeting)
