"""The HTTP protocol of hold'em: requests, responses and the Game object, as messages and as bytes.

`Open`, `Join`, `Act` and `Leave` are the requests of an authenticated user; the response is `Created`, `Queued`,
`ActDone`, `PlayerLeft` or `RequestRefused`. `Close` comes from the account management; its response is `PlayerLeft`.
`ComeBack` comes from the web app; its response is `ActDone`.
`Game` is the displayed state of a table. The names and the order of the JSON keys are those of the document's tables
(ruling H3).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, field
from msgspec.json import Decoder, Encoder

type Dialect = Literal["readme", "hspe-go"]
"""The dialect of the protocol: as in the document, or as the published server speaks it (ruling H1)."""

type PlayerStatus = Literal["active", "called", "folded"]
"""The state of a player: yet to act in this betting round; has acted or is all-in; out of the hand."""

type Guid = str
"""A UUID in lower case, of a user or of a game (holdem-2.3)."""


class Open(Struct, frozen=True, gc=False, tag=str.lower, omit_defaults=True):
    """POST /games/: open a new game, in which the user takes the first seat (ruling H2).

    `is_person` is true for a person in the web app (holdem-9.15).
    """

    user: str
    is_person: bool = False

    def __str__(self) -> str:
        return f"{self.user} POST /games/"


class Join(Struct, frozen=True, gc=False, tag=str.lower, omit_defaults=True):
    """POST /games/:gameID/players/: take a seat, or a place in the queue (document: Join a game).

    `is_person` is true for a person in the web app (holdem-9.15).
    """

    user: str
    game: Guid
    is_person: bool = False

    def __str__(self) -> str:
        return f"{self.user} POST /games/{self.game}/players/"


class Act(Struct, frozen=True, gc=False, tag=str.lower):
    """POST /games/:gameID/players/:playerID/acts/ (document: Bet or Fold).

    `action` is ACTION_FOLD or ACTION_BET; `amount` is the chips added (ruling H4), clamped to ±MAX_AMOUNT.
    """

    user: str
    game: Guid
    player: Guid
    action: int
    amount: int = 0

    def __str__(self) -> str:
        body = f'"action":1,"betAmount":{self.amount}' if self.action else '"action":0'
        return f"{self.user} POST /games/{self.game}/players/{self.player}/acts/ {{{body}}}"


class Leave(Struct, frozen=True, gc=False, tag=str.lower):
    """DELETE /games/:gameID/players/:playerID (document: Leave game)."""

    user: str
    game: Guid
    player: Guid

    def __str__(self) -> str:
        return f"{self.user} DELETE /games/{self.game}/players/{self.player}"


class Close(Struct, frozen=True, gc=False, tag=str.lower):
    """The account of the user is closed: the user leaves every seat and every queue. Not an HTTP request."""

    user: str

    def __str__(self) -> str:
        return f"{self.user} is closed"


class ComeBack(Struct, frozen=True, gc=False, tag=str.lower):
    """A person who was away is back (holdem-9.15). Not an HTTP request."""

    user: str
    game: Guid
    player: Guid

    def __str__(self) -> str:
        return f"{self.user} is back in {self.game}"


type HoldemRequest = Open | Join | Act | Leave | Close | ComeBack


class Created(Struct, frozen=True, gc=False):
    """A user has been created (`game` is empty), or a player has got a seat in a game.

    `guid` is the GUID of the user and of the player. `is_new_game` is true if the game was created by the request.
    """

    guid: Guid
    game: Guid = ""
    is_new_game: bool = False

    def __str__(self) -> str:
        return f"201 {self.guid}"


class Queued(Struct, frozen=True, gc=False):
    """The user is queued for a seat in the game; `guid` is the GUID of the future player."""

    guid: Guid
    game: Guid

    def __str__(self) -> str:
        return f"202 {self.guid}"


class ActDone(Struct, frozen=True, gc=False):
    """The act has been done. If an invalid bet was turned into a fold, `reason` is the reason (ruling H5)."""

    reason: str = ""

    def __str__(self) -> str:
        return f"201, X-Fold-Reason: {self.reason}" if self.reason else "201"


class PlayerLeft(Struct, frozen=True, gc=False):
    """The player has left."""

    def __str__(self) -> str:
        return "200"


class RequestRefused(Struct, frozen=True, gc=False):
    """The request has been refused without effect: HTTP status, clause, and the problem as `found …; allowed: …`."""

    status: int
    clause: str
    detail: str

    def __str__(self) -> str:
        return f"{self.status} {self.clause}: {self.detail}"


type HoldemResponse = Created | Queued | ActDone | PlayerLeft | RequestRefused

ACT_DONE: Final = ActDone()
PLAYER_LEFT: Final = PlayerLeft()

ACTION_FOLD: Final = 0
ACTION_BET: Final = 1
"""The actions of an act (document: Act)."""


class Player(Struct, frozen=True, gc=False):
    """A player at the table (document: Player). `wealth` is the chips left, `bet_so_far` the bet of this round."""

    player_id: Guid = field(name="playerID")
    handle: str
    state: PlayerStatus
    wealth: int
    bet_so_far: int
    small_blind: bool


class Turn(Struct, frozen=True, gc=False):
    """The player to act (document: Turn); `NO_TURN` if there is none. `expiry` is the end of the turn, by RFC 3339.

    `bet_to_player` is the total to match in this round, `minimum_raise` the smallest raise on top of it (ruling H4).
    """

    player_id: Guid = field(name="playerID")
    bet_so_far: int
    bet_to_player: int
    minimum_raise: int
    expiry: str


class Cards(Struct, frozen=True, gc=False):
    """The cards that the viewer sees (document: Cards dictionary). Streets that are still to come are null.

    `hole` is empty for a viewer without hole cards; in dialect hspe-go it is null then (ruling H1).
    """

    hole: Sequence[str] | None
    flop: Sequence[str] | None = None
    turn: Sequence[str] | None = None
    river: Sequence[str] | None = None

    @property
    def board(self) -> tuple[str, ...]:
        """The cards of the board, in the order of the deal."""
        return (*(self.flop or ()), *(self.turn or ()), *(self.river or ()))


class Pot(Struct, frozen=True, gc=False):
    """A pot (document: Pot) and the players who have paid into it, in the order of seats."""

    size: int
    players: Sequence[Guid]


class Winner(Struct, frozen=True, gc=False):
    """A winner of a showdown, with their best five cards (dialect hspe-go, ruling H1)."""

    player_id: Guid = field(name="PlayerID")
    hand: tuple[str, ...] = field(name="Hand")


class Game(Struct, frozen=True, gc=False):
    """The displayed state of a table (document: Game). Only dialect hspe-go has `last_winners`."""

    game_id: Guid = field(name="gameID")
    table: Sequence[Player]
    turn: Turn
    cards: Cards
    pots: Sequence[Pot]
    last_winners: Sequence[Winner] | UnsetType = UNSET


NO_TURN: Final = Turn("", 0, 0, 0, "0001-01-01T00:00:00Z")
"""The turn while no player is to act: an object, so that clients can access its fields without a null check."""

NO_POT: Final = (Pot(0, ()),)
"""The pots while no hand is running: there is always at least one (document: Game, Notes)."""

MAX_AMOUNT: Final = 1 << 63
"""Amounts are clamped to ±this value, which is larger than any stack (ruling H5)."""

ALLOWED_ACT_BODIES: Final = '{"action": 0}, {"action": 1, "betAmount": an integer}'
"""The allowed bodies of an act (holdem-4.2), for error messages."""

INTEGER_PATTERN: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)")
"""A JSON number written as an integer."""


class ActBody(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The usual form of the body of an act."""

    action: int
    amount: int | None = field(name="betAmount", default=None)


DECODE_ACT_BODY: Final = Decoder(ActBody).decode
DECODE_ANY_OBJECT: Final = Decoder(dict[str, Raw]).decode


def parse_act(user: str, game: Guid, player: Guid, body: bytes) -> Act | RequestRefused:
    """Parse the act of a user; RequestRefused if its body is malformed (holdem-4.2 to holdem-4.4)."""
    action: int | None
    try:
        usual = DECODE_ACT_BODY(body)
        action, amount = usual.action, usual.amount
    except (DecodeError, UnicodeDecodeError):
        action, amount = _parse_unusual_body(body)
    if action == ACTION_FOLD:
        return Act(user, game, player, ACTION_FOLD)
    if action != ACTION_BET or amount is None:
        return RequestRefused(400, "holdem-4.4", f"found {body[:100]!r}; allowed: {ALLOWED_ACT_BODIES}")
    return Act(user, game, player, ACTION_BET, max(-MAX_AMOUNT, min(amount, MAX_AMOUNT)))


def _parse_unusual_body(body: bytes) -> tuple[int | None, int | None]:
    """Parse the action and the amount of a body with unusual keys or numbers; None for a missing or invalid one.

    Integers too long for the JSON decoder are accepted, and unknown keys may have any value.
    """
    fields: dict[str, int | None] = {}
    try:
        body.decode()
        for key, value in DECODE_ANY_OBJECT(body).items():
            fields[key.replace("_", "").lower()] = _parse_integer(bytes(value).strip())
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None, None
    return fields.get("action"), fields.get("betamount")


def _parse_integer(text: bytes) -> int | None:
    """Parse a JSON value as an integer, clamped to ±MAX_AMOUNT if it is very long; None if it is not an integer."""
    if not INTEGER_PATTERN.fullmatch(text):
        return None
    if len(text) > 20:
        return -MAX_AMOUNT if text[:1] == b"-" else MAX_AMOUNT
    return int(text)


type HoldemHeaders = list[tuple[bytes, bytes]]
"""The headers of a response, names in lower case."""

CONTENT_TYPES: Final[Mapping[Dialect, bytes]] = {"readme": b"application/json", "hspe-go": b"text/plain; charset=utf-8"}
"""The media type of JSON bodies (ruling H1)."""

_encode: Final = Encoder().encode


def encode(games: Game | Sequence[Game], dialect: Dialect) -> bytes:
    """Encode one game, or a list of games, as JSON; dialect hspe-go adds a newline (ruling H1)."""
    return _encode(games) if dialect == "readme" else _encode(games) + b"\n"


def render_response(
    answer: HoldemResponse, dialect: Dialect, public_view: Callable[[Guid], Game]
) -> tuple[int, HoldemHeaders, bytes]:
    """Return the HTTP status, headers and body of a response. `public_view` returns the public view of a game.

    In dialect hspe-go the response to a join is the public view of the game (ruling H1). JSON bodies of that dialect
    have no Content-Length, so that they are sent as one chunk.
    """
    match answer:
        case ActDone(""):
            return 201, [EMPTY_BODY_HEADER], b""
        case ActDone(reason):
            return 201, [EMPTY_BODY_HEADER, (b"x-fold-reason", reason.encode())], b""
        case PlayerLeft():
            return 200, [EMPTY_BODY_HEADER], b""
        case RequestRefused(status, clause, detail):
            text = f"{clause}: {detail}\n".encode()
            length = (b"content-length", b"%d" % len(text))
            return status, [(b"content-type", CONTENT_TYPES["hspe-go"]), length], text
        case Created(guid, ""):
            return _json_response(201, guid if dialect == "readme" else {"PlayerID": guid}, dialect)
        case Created(guid, game) | Queued(guid, game):
            status = 202 if isinstance(answer, Queued) or dialect == "hspe-go" else 201
            is_new_game = isinstance(answer, Created) and answer.is_new_game
            location = [(b"location", f"/games/{game}".encode())] if is_new_game else []
            if dialect == "readme":
                return _json_response(status, guid, dialect, *location)
            return _json_response(status, public_view(game), dialect, *location)


EMPTY_BODY_HEADER: Final = (b"content-length", b"0")


def _json_response(
    status: int, body: object, dialect: Dialect, *others: tuple[bytes, bytes]
) -> tuple[int, HoldemHeaders, bytes]:
    content_type = (b"content-type", CONTENT_TYPES[dialect])
    text = _encode(body)
    if dialect == "hspe-go":
        return status, [content_type, *others], text + b"\n"
    return status, [content_type, (b"content-length", b"%d" % len(text)), *others], text
