"""Messages and JSON codec of Old Maid (docs/protocols/oldmaid.md, sections 2 and 8).

The connections between players use the same format as those to the table, so there is one codec for all. Messages are
not framed; they end at the closing bracket (see `framing`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder, Encoder

from croupier.core.errors import Violation
from croupier.core.session import Address
from croupier.rooms.oldmaid.cards import WireCard as Card
from croupier.rooms.oldmaid.framing import JsonFramer, JsonValueTooLong

type Dialect = Literal["document", "njaal"]
"""The form of the table's player list: as in the document, or as the exercise's table on njaal sends it (ruling O2)."""

type WireRole = Literal["table", "player"]

type ListedPlayer = tuple[Address, str]
"""A player in the table's list: the address for its right neighbour, and its nick."""


class JsonMessage(Struct, frozen=True, gc=False):
    """A message; as text, its JSON."""

    def __str__(self) -> str:
        return JSON_ENCODER.encode(self).decode()


class Join(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="join", omit_defaults=True):
    """A player asks to play; `port` is its listening port if that is not its source port (§4; ruling O3)."""

    nick: str
    port: int | None = None


class Draw(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="draw"):
    """A player asks for a card (§5)."""


class Discard(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="discard", omit_defaults=True):
    """A player discards a pair; `last_cards` says whether its hand is now empty, None if missing (§6; ruling O7).

    Tolerated forms keep their values: `last_cards` as a boolean, and the key `last_card` in its place.
    """

    cards: tuple[Card, Card]
    last_cards: Literal["true", "false"] | bool | None = None
    last_card: Literal["true", "false"] | bool | None = None


class OutOfCards(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="out_of_cards"):
    """A player has no cards left (§7)."""


class Status(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="status"):
    """A player asks for the standing (§8)."""


class YourTurn(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="your_turn"):
    """The turn to draw passes to the left neighbour (§10)."""


class Offer(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="offer"):
    """The left neighbour may pick one of `num_cards` cards (§11).

    Example:
        >>> print(Offer(7))
        {"cmd":"offer","num_cards":7}
    """

    num_cards: Annotated[int, Meta(ge=0)]


class Pick(JsonMessage, frozen=True, gc=False, tag_field="cmd", tag="pick"):
    """The sender picks the card at a position, from 0, of the right neighbour's hand (§12).

    Example:
        >>> print(Pick(0))
        {"cmd":"pick","card_num":0}
    """

    card_num: int


class Reply(JsonMessage, frozen=True, gc=False, omit_defaults=True):
    """An answer: ok, out, last_card or error, with the data that was requested (§4 to §12)."""

    result: str
    message: str | None = None
    card: Card | None = None
    players: tuple[ListedPlayer, ...] | None = None


class Standing(JsonMessage, frozen=True, gc=False, rename={"inside": "in", "outside": "out"}):
    """The answer to Status: the nicks of the players in and of those out (§8; ruling O8)."""

    inside: tuple[str, ...]
    outside: tuple[str, ...]


type ToTable = Join | Draw | Discard | OutOfCards | Status
type ToPlayer = YourTurn | Offer | Pick
type Request = ToTable | ToPlayer
type Answer = Reply | Standing
type Message = Request | Answer

JSON_ENCODER: Final = Encoder()

OK: Final = Reply("ok")
OUT: Final = Reply("out")
DISCARD_OK: Final = Reply("ok", "ok")
"""The answer to Discard (§6)."""

MAX_FRAME_BYTES: Final = 65_536
"""The length limit of a message (oldmaid-8.9)."""


def refusal(violation: Violation) -> Reply:
    """The answer to a request that breaks a clause (oldmaid-2.9)."""
    return Reply("error", str(violation))


class _InvalidMessage(Exception):
    """A value breaks a clause; has what was found, what is allowed, and the key whose value is wrong, if it is one."""

    def __init__(self, clause: str, found: object, allowed: str, key: str = "") -> None:
        super().__init__(clause, found, allowed, key)
        self.clause, self.found, self.allowed, self.key = clause, found, allowed, key


class Wire:
    """The codec of one end of a connection, a table or a player. See `core.codec.Codec`.

    Requests for the other kind of end, such as `your_turn` to a table, are violations (oldmaid-8.6). Invalid answers
    break oldmaid-8.11 or oldmaid-3.19; a receiver that waits for no answer ignores them. Answers to a table are not
    parsed, because it asks nothing.
    """

    __slots__ = ("_decode_fast", "_dialect", "_framing", "_is_fatal", "_parsers", "_strict", "tolerated")

    def __init__(self, role: WireRole, *, strict: bool = False, dialect: Dialect = "document") -> None:
        self.tolerated: frozenset[str] = frozenset()
        self._parsers = _REQUEST_PARSERS[role]
        self._decode_fast = _FAST_DECODERS[role]
        self._strict = strict
        self._dialect = dialect
        self._framing = JsonFramer(MAX_FRAME_BYTES)
        self._is_fatal = False

    def encode(self, message: Message) -> bytes:
        """The bytes of a message, with a line end (oldmaid-1.5)."""
        if type(message) is Reply and message.players is not None:
            listed: object = message.players
            if self._dialect == "document":
                listed = {f"player{number}": seated for number, seated in enumerate(message.players, start=1)}
            return JSON_ENCODER.encode({"result": message.result, "players": listed}) + b"\n"
        return JSON_ENCODER.encode(message) + b"\n"

    def to_text(self, message: Message) -> str:
        """A message as on the wire, without the line end."""
        return self.encode(message)[:-1].decode()

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        """Return the messages that these bytes complete; the fast path is a read of exactly one message."""
        is_mid_value = self._is_fatal or self._framing.buffer
        if (
            not is_mid_value
            and len(data) <= MAX_FRAME_BYTES
            and data[:1] == b"{"
            and data.find(b"\n") in {-1, len(data) - 1}
        ):
            message = self._parse_plain(data)
            if message is not None:
                return (message,)
        return self._parse(data)

    def feed_with_ends(self, data: bytes) -> Sequence[tuple[Message | Violation, int]]:
        """As `feed`, each with the offset in `data` at which it ends. See `core.codec.SpanCodec`."""
        ends: list[int] = []
        return list(zip(self._parse(data, ends), ends, strict=True))

    def _parse(self, data: bytes, ends: list[int] | None = None) -> Sequence[Message | Violation]:
        """Parse all complete values. If `ends` is given, the offset in `data` after each of them is added to it."""
        messages: list[Message | Violation] = []
        if self._is_fatal:
            return messages
        framing = self._framing
        try:
            for value in framing.feed(data):
                if ends is not None:
                    ends.append(len(data) - len(framing.buffer))
                message = self._parse_value(value)
                messages.append(message)
                if isinstance(message, Violation) and message.fatal:
                    break
        except JsonValueTooLong:
            if ends is not None:
                ends.append(len(data) - len(framing.buffer) + MAX_FRAME_BYTES)
            messages.append(
                self._fail("oldmaid-8.9", f"a message of more than {MAX_FRAME_BYTES:,} bytes", "a shorter one")
            )
        return messages

    def _fail(self, clause: str, found: str, allowed: str) -> Violation:
        self._is_fatal = True
        self._framing = JsonFramer(MAX_FRAME_BYTES)  # drop the buffered input
        return Violation(clause, found, allowed, fatal=True)

    def _parse_plain(self, value: bytes) -> Request | None:
        """Decode a frequent request that needs no tolerance; None for anything else."""
        if not value.isascii():
            return None
        try:
            message = self._decode_fast(value)
        except (DecodeError, RecursionError):
            return None
        return None if type(message) is Discard and type(message.last_cards) is not str else message

    def _parse_value(self, value: bytes) -> Message | Violation:
        """Parse a complete value; a violation names the first clause that applies (oldmaid-8.2)."""
        message = self._parse_plain(value)
        if message is not None:
            return message
        try:
            value.decode()
        except UnicodeDecodeError:
            return self._fail("oldmaid-8.8", _excerpt(value), "UTF-8")
        try:
            return self._parse_message(_decode_json(value))
        except _InvalidMessage as wrong:
            found = wrong.found if isinstance(wrong.found, str) else _excerpt(value)
            return Violation(wrong.clause, found, wrong.allowed, about=wrong.key)

    def _parse_message(self, fields: object) -> Message:
        if not isinstance(fields, dict):
            raise _InvalidMessage("oldmaid-8.4", None, "a JSON object")
        if "cmd" not in fields:
            return self._parse_answer(fields)
        cmd = fields["cmd"]
        if not isinstance(cmd, str):
            raise _InvalidMessage("oldmaid-8.5", None, "the key cmd with a string")
        reader = self._parsers.get(cmd)
        if reader is None:
            raise _InvalidMessage("oldmaid-8.6", f"cmd {cmd[:_MAX_EXCERPT_CHARS]!r}", ", ".join(self._parsers))
        return reader(self, fields)

    def _tolerate(self, clause: str, found: str, allowed: str) -> None:
        if self._strict:
            raise _InvalidMessage(clause, found, allowed)
        self.tolerated |= {clause}

    # Requests.

    def _parse_join(self, fields: Mapping[str, Any]) -> Join:
        nick = _checked_field(fields, "nick", lambda nick: isinstance(nick, str), "a string")
        if "port" not in fields:
            return Join(nick)
        port = _checked_field(fields, "port", lambda port: type(port) is int, "an integer, 1 to 65535")
        if not 0 < port < 65536:
            raise _InvalidMessage("oldmaid-3.5", None, "a port of 1 to 65535")
        self._tolerate("oldmaid-3.5", f"the port {port}", "the port that the connection comes from")
        return Join(nick, port)

    def _parse_discard(self, fields: Mapping[str, Any]) -> Discard:
        cards = _checked_field(fields, "cards", _are_cards, "two cards, each an array of two strings")
        key = "last_cards" if "last_cards" in fields else "last_card"
        pair = _to_card(cards[0]), _to_card(cards[1])
        if key not in fields:
            self._tolerate("oldmaid-2.8", "no last_cards", "the key last_cards")
            return Discard(pair)
        last = _checked_field(fields, key, _is_boolean, "one of the strings true and false")
        if key == "last_card":
            self._tolerate("oldmaid-2.7", "the key last_card", "the key last_cards")
        if isinstance(last, bool):
            self._tolerate("oldmaid-2.6", f"the boolean {str(last).lower()}", "one of the strings true and false")
        return Discard(pair, last) if key == "last_cards" else Discard(pair, last_card=last)

    def _parse_offer(self, fields: Mapping[str, Any]) -> Offer:
        return Offer(
            _checked_field(
                fields, "num_cards", lambda count: type(count) is int and count >= 0, "an integer, 0 or more"
            )
        )

    def _parse_pick(self, fields: Mapping[str, Any]) -> Pick:
        return Pick(_checked_field(fields, "card_num", lambda number: type(number) is int, "an integer"))

    # Answers.

    def _parse_answer(self, fields: Mapping[str, Any]) -> Answer:
        if "result" in fields:
            return _IGNORED_REPLY if self._parsers is _REQUEST_PARSERS["table"] else self._parse_reply(fields)
        standing = [fields.get("in"), fields.get("out")]
        if self._parsers is _REQUEST_PARSERS["table"] or not all(map(_are_strings, standing)):
            raise _InvalidMessage("oldmaid-8.5", None, "an object with the key cmd")
        return Standing(*(tuple(cast(list[str], nicks)) for nicks in standing))

    def _parse_reply(self, fields: Mapping[str, Any]) -> Reply:
        result, message, card = fields["result"], fields.get("message"), fields.get("card")
        is_error = result == "error"
        is_card = card is None or is_error or _is_card(card)
        if not isinstance(result, str) or not isinstance(message, str | None) or not is_card:
            raise _InvalidMessage("oldmaid-8.11", None, "an answer of oldmaid-2.3")
        if is_error:
            return Reply(result, message)
        players = self._parse_players(fields["players"]) if "players" in fields else None
        return Reply(result, message, None if card is None else _to_card(card), players)

    def _parse_players(self, listed: object) -> tuple[ListedPlayer, ...]:
        """Parse the list of players in either dialect (oldmaid-3.3, oldmaid-10.1)."""
        form: Dialect = "document" if isinstance(listed, dict) else "njaal"
        if isinstance(listed, dict):
            try:
                listed = [listed[f"player{number}"] for number in range(1, len(listed) + 1)]
            except KeyError:
                raise _InvalidMessage("oldmaid-3.19", None, "the keys player1, player2, …") from None
        if not isinstance(listed, list) or not all(map(_is_seated, listed)):
            raise _InvalidMessage("oldmaid-3.19", None, 'a list of players, each [["address", port], "nick"]')
        if form != self._dialect:
            self._tolerate("oldmaid-10.2", f"the list as in the dialect {form}", f"the dialect {self._dialect}")
        return tuple(((self._parse_host(host), port), nick) for (host, port), nick in listed)

    def _parse_host(self, host: str) -> str:
        bare = host.removeprefix(_MAPPED_IPV4_PREFIX)
        if bare != host:
            self._tolerate(
                "oldmaid-3.6", f"the address {host[:_MAX_EXCERPT_CHARS]}", f"it without {_MAPPED_IPV4_PREFIX}"
            )
        return bare


type _RequestParser = Callable[[Wire, Mapping[str, Any]], Request]

_REQUEST_PARSERS: Final[Mapping[WireRole, Mapping[str, _RequestParser]]] = {
    "table": {
        "join": Wire._parse_join,
        "draw": lambda *_: Draw(),
        "discard": Wire._parse_discard,
        "out_of_cards": lambda *_: OutOfCards(),
        "status": lambda *_: Status(),
    },
    "player": {"your_turn": lambda *_: YourTurn(), "offer": Wire._parse_offer, "pick": Wire._parse_pick},
}
"""The parsers of the requests that each role receives (oldmaid-2.2)."""

_FAST_DECODERS: Final[Mapping[WireRole, Callable[[bytes], Request]]] = {
    "table": Decoder(Draw | Discard | OutOfCards | Status).decode,
    "player": Decoder(YourTurn | Offer | Pick).decode,
}
"""Decoders for the frequent requests of each role in their strict form."""

_IGNORED_REPLY: Final = Reply("ignored")
_MAPPED_IPV4_PREFIX: Final = "::ffff:"
_MAX_EXCERPT_CHARS: Final = 80
"""The most characters of a value that an error repeats."""

_JSON_DECODER: Final = Decoder()


def _decode_json(value: bytes) -> object:
    try:
        return _JSON_DECODER.decode(value)
    except (DecodeError, RecursionError):
        raise _InvalidMessage("oldmaid-8.3", None, "JSON") from None


def _checked_field(fields: Mapping[str, Any], key: str, fits: Callable[[Any], bool], allowed: str) -> Any:
    """The value of a key. Raises _InvalidMessage if it is missing or invalid."""
    if key not in fields:
        raise _InvalidMessage("oldmaid-8.7", f"no key {key}", f"{key} with {allowed}")
    if not fits(fields[key]):
        raise _InvalidMessage("oldmaid-8.7", f"{key} {_excerpt(JSON_ENCODER.encode(fields[key]))}", allowed, key)
    return fields[key]


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool) or value in ("true", "false")


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_card(value: object) -> bool:
    return _are_strings(value) and len(cast(list[str], value)) == 2


def _are_cards(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_card, value))


def _to_card(value: Sequence[str]) -> Card:
    return value[0], value[1]


def _is_seated(value: object) -> bool:
    match value:
        case [[str(), int(port)], str()]:
            return type(port) is int and 0 <= port < 65536
    return False


def _excerpt(value: bytes) -> str:
    """The representation of a value for messages, shortened if it is long."""
    text = value.decode(errors="backslashreplace")
    return repr(text if len(text) <= _MAX_EXCERPT_CHARS else f"{text[:_MAX_EXCERPT_CHARS]}…")
