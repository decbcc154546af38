"""What is asked of a table of hold'em over HTTP and what it answers, as messages and as bytes.

`Open`, `Join`, `Act` and `Leave` are the requests of a user whose password has been checked; they are answered by
`Made`, `Queued`, `Acted`, `Gone` or `Refused`. `Close` comes from those who keep the accounts and is answered by
`Gone`. What is to be seen at a table is a `Game`. The names of JSON keys, and their order, are those of the document's
tables (ruling H3).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, field
from msgspec.json import Decoder, Encoder

type Dialect = Literal["readme", "hspe-go"]
"""How to read the document: as it stands, or as the published server speaks it (ruling H1)."""

type PlayerStatus = Literal["active", "called", "folded"]
"""Of a player: has still to act in this betting round, has done so or is all-in, is out of the hand."""

type Guid = str
"""A UUID in lower case, of a user or of a game (holdem-2.3)."""


class Open(Struct, frozen=True, gc=False, tag=str.lower):
    """POST /games/: a new game, in which the user takes the first seat (ruling H2)."""

    user: str

    def __str__(self) -> str:
        return f"{self.user} POST /games/"


class Join(Struct, frozen=True, gc=False, tag=str.lower):
    """POST /games/:gameID/players/: a seat, or a place in the queue (document: Join a game)."""

    user: str
    game: Guid

    def __str__(self) -> str:
        return f"{self.user} POST /games/{self.game}/players/"


class Act(Struct, frozen=True, gc=False, tag=str.lower):
    """POST /games/:gameID/players/:playerID/acts/ (document: Bet or Fold).

    `action` is FOLD or BET; `amount` is what the player adds now (ruling H4), LARGEST at most.
    """

    user: str
    game: Guid
    player: Guid
    action: int
    amount: int = 0

    def __str__(self) -> str:
        told = f'"action":1,"betAmount":{self.amount}' if self.action else '"action":0'
        return f"{self.user} POST /games/{self.game}/players/{self.player}/acts/ {{{told}}}"


class Leave(Struct, frozen=True, gc=False, tag=str.lower):
    """DELETE /games/:gameID/players/:playerID (document: Leave game)."""

    user: str
    game: Guid
    player: Guid

    def __str__(self) -> str:
        return f"{self.user} DELETE /games/{self.game}/players/{self.player}"


class Close(Struct, frozen=True, gc=False, tag=str.lower):
    """The account of the user is closed: every seat and every place in a queue is given up. Not asked over HTTP."""

    user: str

    def __str__(self) -> str:
        return f"{self.user} is closed"


type HoldemRequest = Open | Join | Act | Leave | Close


class Created(Struct, frozen=True, gc=False):
    """Something has been made: a user, if there is no game; else a player, who has a seat in it.

    `guid` is that of the user and the player. `opened` says that the game was made for him.
    """

    guid: Guid
    game: Guid = ""
    is_new_game: bool = False

    def __str__(self) -> str:
        return f"201 {self.guid}"


class Queued(Struct, frozen=True, gc=False):
    """The user waits for a seat in the game; `guid` is that of the player he will be."""

    guid: Guid
    game: Guid

    def __str__(self) -> str:
        return f"202 {self.guid}"


class ActDone(Struct, frozen=True, gc=False):
    """The act has been done; `reason` says why it was a fold although it was no fold that was asked for (ruling H5)."""

    reason: str = ""

    def __str__(self) -> str:
        return f"201, X-Fold-Reason: {self.reason}" if self.reason else "201"


class PlayerLeft(Struct, frozen=True, gc=False):
    """The player has left."""

    def __str__(self) -> str:
        return "200"


class RequestRefused(Struct, frozen=True, gc=False):
    """Nothing has changed: an HTTP status, the clause that says so, and `found …; allowed: …`."""

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
"""What an act may be (document: Act)."""


class Player(Struct, frozen=True, gc=False):
    """Somebody at the table (document: Player). `wealth` is what he has behind, `bet_so_far` his bet of this round."""

    player_id: Guid = field(name="playerID")
    handle: str
    state: PlayerStatus
    wealth: int
    bet_so_far: int
    small_blind: bool


class Turn(Struct, frozen=True, gc=False):
    """Whose turn it is (document: Turn), and until when, by RFC 3339. See `NOBODY` for when it is nobody's.

    `bet_to_player` is the total to match in this round, `minimum_raise` the least raise on top of it (ruling H4).
    """

    player_id: Guid = field(name="playerID")
    bet_so_far: int
    bet_to_player: int
    minimum_raise: int
    expiry: str


class Cards(Struct, frozen=True, gc=False):
    """The cards that the viewer sees (document: Cards dictionary); those of a street that is still to come are null.

    `hole` is empty for who has none; in dialect hspe-go it is null then (ruling H1).
    """

    hole: Sequence[str] | None
    flop: Sequence[str] | None = None
    turn: Sequence[str] | None = None
    river: Sequence[str] | None = None


class Pot(Struct, frozen=True, gc=False):
    """A pot (document: Pot) and who has paid into it, in the order of seats."""

    size: int
    players: Sequence[Guid]


class Winner(Struct, frozen=True, gc=False):
    """Who won at a showdown, and with which five cards (dialect hspe-go, ruling H1)."""

    player_id: Guid = field(name="PlayerID")
    hand: tuple[str, ...] = field(name="Hand")


class Game(Struct, frozen=True, gc=False):
    """What is to be seen at a table (document: Game). Only dialect hspe-go has `last_winners`."""

    game_id: Guid = field(name="gameID")
    table: Sequence[Player]
    turn: Turn
    cards: Cards
    pots: Sequence[Pot]
    last_winners: Sequence[Winner] | UnsetType = UNSET


NO_TURN: Final = Turn("", 0, 0, 0, "0001-01-01T00:00:00Z")
"""Nobody's turn: an object nevertheless, so that a client may look into it unasked."""

NO_POT: Final = (Pot(0, ()),)
"""The pots while no hand runs: there is always one (document: Game, Notes)."""

MAX_AMOUNT: Final = 1 << 63
"""An amount that is larger, or as much below nothing, is told as this: no stack is as large (ruling H5)."""

ALLOWED_ACT_BODIES: Final = '{"action": 0}, {"action": 1, "betAmount": an integer}'
"""What the body of an act may be (holdem-4.2)."""

INTEGER_PATTERN: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)")
"""A JSON number that is written as an integer."""


class ActBody(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The body of an act as nearly everybody writes it."""

    action: int
    amount: int | None = field(name="betAmount", default=None)


DECODE_ACT_BODY: Final = Decoder(ActBody).decode
DECODE_ANY_OBJECT: Final = Decoder(dict[str, Raw]).decode


def parse_request(method: str, path: str, user: str, body: bytes, dialect: Dialect) -> HoldemRequest | RequestRefused:  # noqa: ARG001 -- both dialects ask alike
    """The request of a user; `path` is decoded, with or without a slash at its end (ruling H2).

    Refused are what is no command of this page (holdem-8.3) and an act of wrong form (holdem-4.4).
    """
    match method, path.removesuffix("/").split("/"):
        case "POST", ["", "games", game, "players", player, "acts"] if game and player:
            return _parse_act(user, game, player, body)
        case "POST", ["", "games"]:
            return Open(user)
        case "POST", ["", "games", game, "players"] if game:
            return Join(user, game)
        case "DELETE", ["", "games", game, "players", player] if game and player:
            return Leave(user, game, player)
    return RequestRefused(404, "holdem-8.3", f"found {method} {path[:100]!r}; allowed: {', '.join(COMMANDS)}")


COMMANDS: Final = (
    "POST /games/",
    "POST /games/:gameID/players/",
    "POST /games/:gameID/players/:playerID/acts/",
    "DELETE /games/:gameID/players/:playerID",
)
"""What changes a game (holdem-1.2)."""


def _parse_act(user: str, game: Guid, player: Guid, body: bytes) -> Act | RequestRefused:
    """The act that a body tells (holdem-4.2 to holdem-4.4)."""
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
    """The action and the amount of a body that spells its keys or its numbers in another way; None for none.

    Integers that are longer than a parser takes are integers all the same, and unknown keys may hold anything.
    """
    found: dict[str, int | None] = {}
    try:
        body.decode()
        for key, value in DECODE_ANY_OBJECT(body).items():
            found[key.replace("_", "").lower()] = _parse_integer(bytes(value).strip())
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None, None
    return found.get("action"), found.get("betamount")


def _parse_integer(text: bytes) -> int | None:
    """The number of a JSON value, None if it is no integer."""
    if not INTEGER_PATTERN.fullmatch(text):
        return None
    if len(text) > 20:
        return -MAX_AMOUNT if text[:1] == b"-" else MAX_AMOUNT
    return int(text)


type HoldemHeaders = list[tuple[bytes, bytes]]
"""The headers of an answer, names in lower case."""

CONTENT_TYPES: Final[Mapping[Dialect, bytes]] = {"readme": b"application/json", "hspe-go": b"text/plain; charset=utf-8"}
"""The type of a body that is JSON (ruling H1)."""

_encode: Final = Encoder().encode


def encode(games: Game | Sequence[Game], dialect: Dialect) -> bytes:
    """One game, or all of them, as JSON; the reader of dialect hspe-go wants a line end behind it (ruling H1)."""
    return _encode(games) if dialect == "readme" else _encode(games) + b"\n"


class ViewableTable(Protocol):
    """A table that shows itself."""

    def view(self, user: str | None) -> Game:
        """What a user sees of it; None is the public."""
        ...


class TableLookup(Protocol):
    """Where the tables are."""

    def game(self, guid: Guid) -> ViewableTable | None:
        """The table of a game, None if there is none."""
        ...


def render_response(answer: HoldemResponse, dialect: Dialect, tables: TableLookup) -> tuple[int, HoldemHeaders, bytes]:
    """The status, the headers and the body of an answer.

    In dialect hspe-go a joiner is shown the game as the public sees it (ruling H1). Bodies of that dialect have no
    Content-Length, so that they go as one chunk.
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
            opened = isinstance(answer, Created) and answer.is_new_game
            where = [(b"location", f"/games/{game}".encode())] if opened else []
            if dialect == "readme":
                return _json_response(status, guid, dialect, *where)
            table = tables.game(game)
            assert table is not None, "who has just joined a game keeps it open"
            return _json_response(status, table.view(None), dialect, *where)


EMPTY_BODY_HEADER: Final = (b"content-length", b"0")


def _json_response(
    status: int, body: object, dialect: Dialect, *others: tuple[bytes, bytes]
) -> tuple[int, HoldemHeaders, bytes]:
    """An answer with a body that is JSON."""
    content = (b"content-type", CONTENT_TYPES[dialect])
    text = _encode(body)
    if dialect == "hspe-go":
        return status, [content, *others], text + b"\n"
    return status, [content, (b"content-length", b"%d" % len(text)), *others], text
