"""The ways in which programs spell the messages of Old Maid otherwise than the protocol has them."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from croupier.conformance.oldmaid.dialect import Spelling, Tree
from croupier.conformance.oldmaid.near_json import TEXTS
from croupier.rooms.oldmaid.cards import MAID, SUITS, VALUES
from croupier.rooms.oldmaid.wire import Discard, Message

type Card = Callable[[Any], Any]
"""A card as it was said in, as the protocol has it out; as it was where it is spelt otherwise."""

RESULTS: Final = frozenset({"ok", "out", "error", "last_card"})

ERRORS: Final = frozenset({"err", "fail", "failed", "failure", "nok", "not ok", "ko", "invalid", "denied", "refused"})
"""What programs say in place of error."""

COMMANDS: Final = ("join", "draw", "discard", "out_of_cards", "status", "your_turn", "offer", "pick")

KEYS: Final = ("cmd", "nick", "port", "cards", "last_cards", "num_cards", "card_num")
KEYS_OF_ANSWERS: Final = ("result", "message", "card", "players")

NUMBERS: Final = ("port", "num_cards", "card_num")

COURT: Final = {1: "A", 11: "J", 12: "Q", 13: "K", 14: "A"}

WORDS: Final = {"jack": "J", "knave": "J", "queen": "Q", "king": "K", "ace": "A"}

SIGNS: Final = {sign: suit for signs, suit in zip(("♠♤", "♣♧", "♦♢", "♥♡"), SUITS, strict=True) for sign in signs}
LETTERS: Final = {suit[0]: suit for suit in SUITS} | {suit.removesuffix("s"): suit for suit in SUITS}

TOGETHER: Final = re.compile(rf"({'|'.join(VALUES)}|joker)[ ,_:/-]*(?:of )?({'|'.join(SUITS)}|maid)")


def _joined(word: str) -> str:
    """A word without what stands between its parts."""
    return re.sub(r"[\W_]", "", word).lower()


COMMANDS_JOINED: Final = {_joined(word): word for word in COMMANDS}
KEYS_JOINED: Final = {_joined(word): word for word in (*KEYS, *KEYS_OF_ANSWERS)}


def _value(key: str, change: Callable[[Any], Any]) -> Tree:
    """The value of one key."""
    return lambda told, _: {**told, key: change(told[key])} if key in told else told


def _cards(change: Card) -> Tree:
    """Every card."""

    def tree(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
        if "card" in told:
            return {**told, "card": change(told["card"])}
        if isinstance(told.get("cards"), list):
            return {**told, "cards": [change(card) for card in told["cards"]]}
        return told

    return tree


def _pairwise(change: Callable[[Any, Any], list[Any]]) -> Tree:
    """Every card that is an array of two."""
    return _cards(lambda card: change(*card) if isinstance(card, list) and len(card) == 2 else card)


def _suits(words: Callable[[str], str]) -> Tree:
    return _pairwise(lambda value, suit: [value, words(suit) if isinstance(suit, str) else suit])


def _seats(change: Callable[[Any], Any]) -> Tree:
    """Every player in the table's list."""

    def changed(players: Any) -> Any:
        if isinstance(players, dict):
            return {key: change(seat) for key, seat in players.items()}
        return [change(seat) for seat in players] if isinstance(players, list) else players

    return _value("players", changed)


# Answers.


def _result(said: Any) -> Any:
    return said.lower() if isinstance(said, str) and said.lower() in RESULTS else said


def _taken(said: Any) -> Any:
    return "ok" if isinstance(said, str) and said.lower() == "ok" else said


def _error(said: Any) -> Any:
    return "error" if isinstance(said, str) and said.lower() in ERRORS else said


def _truth(said: Any) -> Any:
    return {True: "ok", False: "error"}[said] if isinstance(said, bool) else said


def _status(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    said = told.get("status")
    if "result" in told or not isinstance(said, str):
        return told
    return {"result": said, **{key: value for key, value in told.items() if key != "status"}}


def _bare(told: dict[str, Any], asked: Message | None) -> dict[str, Any]:
    taken = told.get("result") == "ok" and isinstance(asked, Discard)
    return {**told, "message": "ok"} if taken else told


def _reasonless(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    refused = told.get("result") == "error" and not isinstance(told.get("message"), str)
    return {**told, "message": "no reason is given"} if refused else told


def _listless(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    if not {"in", "out"} <= told.keys():
        return told
    empty: Mapping[str, Any] = {key: [] for key in ("in", "out") if told[key] is None or told[key] == {}}
    alone = {key: [told[key]] for key in ("in", "out") if isinstance(told[key], str)}
    return {**told, **empty, **alone}


# Cards.


def _together(card: Any) -> Any:
    found = TOGETHER.fullmatch(card) if isinstance(card, str) else None
    return [found[1], found[2]] if found else card


def _turned(value: Any, suit: Any) -> list[Any]:
    return [suit, value] if value in (*SUITS, MAID[1]) else [value, suit]


def _object(card: Any) -> Any:
    if not isinstance(card, dict) or len(card) != 2:
        return card
    suit = next((key for key in card if key.lower() in {"suit", "color", "colour", "type", "kind"}), None)
    value = next((key for key in card if key.lower() in {"value", "rank", "number", "face", "val"}), None)
    return card if suit is None or value is None else [card[value], card[suit]]


def _ten(value: Any, suit: Any) -> list[Any]:
    return ["10" if value in ("T", "t") else value, suit]


def _number(value: Any, suit: Any) -> list[Any]:
    return [COURT.get(value, str(value)) if type(value) is int else value, suit]


def _court(value: Any, suit: Any) -> list[Any]:
    if not isinstance(value, str):
        return [value, suit]
    known = {**WORDS, **{letter.lower(): letter for letter in "JQKA"}}
    numbers = {str(number): name for number, name in COURT.items()}
    return [known.get(value.lower(), numbers.get(value, value)), suit]


def _maid(value: Any, suit: Any) -> list[Any]:
    words = {"joker", "maid", "old maid", "oldmaid", "old_maid", "old"}
    hers = isinstance(value, str) and value.lower() in words
    return [*MAID] if hers else [value, suit]


def _within(card: Any) -> Any:
    return card[0] if isinstance(card, list) and len(card) == 1 and isinstance(card[0], list) else card


def _flat(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    match told.get("cards"):
        case [str(), str(), str(), str()] as cards:
            return {**told, "cards": [cards[:2], cards[2:]]}
    return told


# Players.


def _keys_of_players(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    players = told.get("players")
    numbers = {key: re.fullmatch(r"\D*(\d+)", key) for key in players} if isinstance(players, dict) else {}
    if not isinstance(players, dict) or not all(numbers.values()):
        return told
    order = sorted(players, key=lambda key: int(match[1]) if (match := numbers[key]) else 0)
    return {**told, "players": {f"player{at}": players[key] for at, key in enumerate(order, start=1)}}


def _unnested(seat: Any) -> Any:
    match seat:
        case [str(host), port, str(nick)]:
            return [[host, port], nick]
        case [str(nick), [str(host), port]] | [[str(nick)], [str(host), port]]:
            return [[host, port], nick]
    return seat


def _seat(seat: Any) -> Any:
    if not isinstance(seat, dict):
        return seat
    nick = next((seat[key] for key in ("nick", "name", "nickname") if key in seat), None)
    match [next((seat[key] for key in ("address", "addr", "host", "ip") if key in seat), None), seat.get("port")]:
        case [[str(), _] as address, None]:
            return [address, nick]
        case [str(host), port]:
            return [[host, port], nick]
    return seat


def _port(seat: Any) -> Any:
    match seat:
        case [[str(host), str(port)], nick] if port.isdecimal():
            return [[host, int(port)], nick]
    return seat


# Requests.


def _of_strings(told: dict[str, Any], asked: Message | None) -> dict[str, Any]:
    numbers = {key: told[key] for key in NUMBERS if isinstance(told.get(key), str)}
    found = {key: int(said) for key, said in numbers.items() if said.strip().isdecimal()}
    mended: dict[str, Any] = _seats(_port)({**told, **found}, asked)
    return mended


def _whole(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    numbers = {key: told[key] for key in NUMBERS if isinstance(told.get(key), float)}
    return {**told, **{key: int(said) for key, said in numbers.items() if said.is_integer()}}


def _capitals(said: Any) -> Any:
    return said.lower() if isinstance(said, str) and said.lower() in COMMANDS else said


def _command(said: Any) -> Any:
    return COMMANDS_JOINED.get(_joined(said), said) if isinstance(said, str) else said


def _keys(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    return {KEYS_JOINED.get(_joined(key), key): value for key, value in told.items()}


def _cmd(told: dict[str, Any], _: Message | None) -> dict[str, Any]:
    key = next((key for key in ("command", "action", "type", "msg", "message") if told.get(key) in COMMANDS), None)
    if "cmd" in told or key is None:
        return told
    return {"cmd": told[key], **{name: value for name, value in told.items() if name != key}}


SPELLINGS: Final = (
    *TEXTS,
    Spelling("writes its results in capitals", trees=(_value("result", _result), _value("message", _taken))),
    Spelling("has another word for error", trees=(_value("result", _error),)),
    Spelling("has a truth value for a result, where ok and error are", trees=(_value("result", _truth),)),
    Spelling("has the key status, where result is", trees=(_status,)),
    Spelling('answers a discard without the message "ok"', trees=(_bare,)),
    Spelling("gives no reason with an error", trees=(_reasonless,)),
    Spelling("does not put nicks into an array", trees=(_listless,)),
    Spelling("writes suits in capitals", trees=(_suits(str.lower),)),
    Spelling("writes suits as signs", trees=(_suits(lambda suit: SIGNS.get(suit, suit)),)),
    Spelling(
        "writes suits as letters, or in the singular", trees=(_suits(lambda suit: LETTERS.get(suit.lower(), suit)),)
    ),
    Spelling("writes the ten as T", trees=(_pairwise(_ten),)),
    Spelling("writes values as numbers, where they are strings", trees=(_pairwise(_number),)),
    Spelling("has other names for jack, queen, king and ace than J, Q, K and A", trees=(_pairwise(_court),)),
    Spelling('has another name for the old maid than ["joker", "maid"]', trees=(_pairwise(_maid),)),
    Spelling("puts the suit before the value", trees=(_pairwise(_turned),)),
    Spelling("writes a card as a single string, where it is an array of two", trees=(_cards(_together),)),
    Spelling("writes a card as an object, where it is an array of two", trees=(_cards(_object),)),
    Spelling("puts a card into one more array", trees=(_cards(_within),)),
    Spelling("puts the two cards of a discard into one array of four", trees=(_flat,)),
    Spelling("has other keys for the players than player1, player2, …", trees=(_keys_of_players,)),
    Spelling('does not list a player as [["address", port], "nick"]', trees=(_seats(_unnested),)),
    Spelling('lists a player as an object, where it is [["address", port], "nick"]', trees=(_seats(_seat),)),
    Spelling("puts quotes around its numbers", trees=(_of_strings,)),
    Spelling("writes its integers with a fraction", trees=(_whole,)),
    Spelling("writes its commands in capitals", trees=(_value("cmd", _capitals),)),
    Spelling("spells its commands otherwise than out_of_cards and your_turn", trees=(_value("cmd", _command),)),
    Spelling("has another key for a command than cmd", trees=(_cmd,)),
    Spelling("spells its keys otherwise, where they are as num_cards and last_cards", trees=(_keys,)),
)
"""Every spelling; of those by which a message may be right the first counts."""
