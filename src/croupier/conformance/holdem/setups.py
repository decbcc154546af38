"""The setups of the bot cases: opponents, settings, delivery of responses, and injected faults."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from croupier.conformance.case import Case
from croupier.conformance.holdem.delivery import (
    DEFAULT_DELIVERY,
    RequestFault,
    ResponseDelivery,
    add_unknown_keys,
    escape_json,
    game_transform,
    indent_json,
    reverse_keys,
    spell_key_as_example,
    unchanged,
)

ROOM: Final = "holdem"

SIMPLEST_RANK: Final = 0
PLAIN_RANK: Final = 1
VARIATION_RANK: Final = 2
"""The order of the cases: one opponent who calls first, unusual responses last."""


@dataclass(frozen=True)
class TableSetup:
    """A table for one bot.

    `opponents` are the styles of the other players in seat order. `chips` is what some of them bring, by style; the
    others bring the stack of the settings. `late_seconds` is how long after the bot they join; 0 means before it. The
    case passes when the bot has finished `hands` hands, or is broke. `excused_clauses` are clauses that the setup
    provokes the bot to break. `is_registered` and `is_seated`: the bot's user or player exists already. `name_end` is
    the end of the names of the other players. `has_full_game`: there are several games, and the first is full.
    `needs_queue`: the case is skipped unless the bot waits for a seat.
    """

    opponents: Sequence[str] = ("calls",)
    settings: Mapping[str, Any] = field(default_factory=dict)
    chips: Mapping[str, int] = field(default_factory=dict)
    late_seconds: float = 0.0
    hands: int = 3
    delivery: ResponseDelivery = DEFAULT_DELIVERY
    faults: Sequence[RequestFault] = ()
    transform_body: Callable[[bytes], bytes] | None = None
    is_registered: bool = False
    is_seated: bool = False
    has_full_game: bool = False
    name_end: str = ""
    needs_queue: bool = False
    excused_clauses: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class HoldemClientCase(Case):
    """A case for bots."""

    setup: TableSetup


SHORT_STACK: Final = {"stack": 100}
PAUSE: Final = {"pause_seconds": 0.3}

JOIN_ONCE_CLAUSES: Final = ("holdem-3.7",)


QUEUE_SETUP: Final = TableSetup(("leaves", "thinks"), {"seats": 2}, hands=1, needs_queue=True)
SIDE_POT_SETUP: Final = TableSetup(("calls", "raises", "shoves"), chips={"shoves": 60}, hands=6)
SHORT_ALL_IN_SETUP: Final = TableSetup(("calls", "calls", "shoves"), chips={"shoves": 30}, hands=8)
"""A player with few chips is all-in in most hands, and the others go on betting."""

SEATED_SETUP: Final = TableSetup(is_registered=True, is_seated=True, excused_clauses=JOIN_ONCE_CLAUSES)


def _delivered(hands: int = 3, **delivery: Any) -> TableSetup:
    """A table at which responses are delivered in an unusual way."""
    return TableSetup(delivery=ResponseDelivery(**delivery), hands=hands)


def _written(change: Callable[[Any], Any], write: Callable[[Any], str] = json.dumps) -> TableSetup:
    """A table whose Games are written in another way."""
    return TableSetup(transform_body=game_transform(change, write))


def _failing(operation: str, status: int | None = 503, *, is_executed: bool = False) -> TableSetup:
    """A table at which the first request for an operation fails; see `RequestFault`."""
    return TableSetup(faults=(RequestFault(operation, status, is_executed),))


SETUPS: Final[Sequence[tuple[str, str, str, TableSetup]]] = (
    ("4.1", "against-one-who-calls", "It plays against an opponent who always calls", TableSetup()),
    ("4.1", "against-two", "It plays against two opponents", TableSetup(("calls", "calls"))),
    ("4.1", "against-five", "It plays against five", TableSetup(("calls", "folds", "raises", "calls", "folds"))),
    ("3.1", "against-nine", "It plays at a full table", TableSetup(("calls",) * 9, hands=2)),
    ("4.5", "against-one-who-gambles", "It plays against a random opponent", TableSetup(("gambles",), hands=4)),
    ("4.5", "against-three-who-gamble", "It plays against three at random", TableSetup(("gambles",) * 3, hands=4)),
    ("4.6", "against-one-who-folds", "It plays against an opponent who folds to every bet", TableSetup(("folds",))),
    ("6.13", "against-one-who-gives-up", "It wins when the opponent folds", TableSetup(("gives-up",), hands=4)),
    ("4.9", "against-an-all-in", "It answers an all-in", TableSetup(("shoves",))),
    ("4.9", "against-two-all-ins", "It answers two all-ins", TableSetup(("shoves", "shoves"))),
    ("6.12", "beside-side-pots", "It plays with side pots", SIDE_POT_SETUP),
    ("4.11", "against-small-raises", "It answers minimum raises", TableSetup(("raises",), hands=4)),
    ("4.11", "against-small-raises-of-two", "It answers minimum raises of two", TableSetup(("raises", "raises"))),
    ("6.8", "against-large-raises", "It answers bets of the pot", TableSetup(("bets-pots",), hands=4)),
    ("4.9", "few-chips", "It plays with five big blinds", TableSetup(("calls",), SHORT_STACK, hands=4)),
    ("4.9", "few-chips-of-three", "It plays for five big blinds", TableSetup(("gambles",) * 2, SHORT_STACK, hands=4)),
    ("6.10", "chips-for-one-blind", "It plays with one big blind", TableSetup(("calls",), {"stack": 20})),
    ("6.10", "chips-for-less", "It plays with less than the big blind", TableSetup(("calls",), {"stack": 15})),
    ("6.9", "short-all-ins", "It plays with short all-ins", SHORT_ALL_IN_SETUP),
    ("4.9", "many-chips", "It plays with more chips than 32 bits hold", TableSetup(("raises",), {"stack": 10**11})),
    ("6.3", "small-blinds", "It plays for blinds of 1 and 2", TableSetup(("raises",), {"blinds": "1/2"})),
    ("6.3", "large-blinds", "It plays for blinds of 500 and 1000", TableSetup(("raises",), {"blinds": "500/1000"})),
    ("6.3", "no-small-blind", "It plays without a small blind", TableSetup(("calls",), {"blinds": "0/20"})),
    ("6.17", "an-ante", "It plays with antes", TableSetup(("calls", "raises"), {"ante": 5})),
    ("6.17", "a-straddle", "It plays with a straddle", TableSetup(("calls", "raises"), {"straddle": 40})),
    ("5.18", "a-pause", "It waits while the end of a hand is shown", TableSetup(("calls",), PAUSE)),
    ("5.18", "a-pause-of-three", "It waits for the next hand of three players", TableSetup(("calls", "folds"), PAUSE)),
    ("4.15", "a-slow-opponent", "It waits for a slow opponent", TableSetup(("thinks",), hands=1)),
    ("4.15", "two-slow-opponents", "It waits for two slow opponents", TableSetup(("thinks", "thinks"), hands=1)),
    ("4.13", "alone-at-first", "It waits while it is alone", TableSetup(("calls",), late_seconds=1.0)),
    ("4.13", "alone-for-long", "It waits longer", TableSetup(("calls",), late_seconds=2.5, hands=1)),
    ("3.6", "in-the-queue", "It waits in the queue", QUEUE_SETUP),
    ("3.5", "in-mid-hand", "It joins during a hand", TableSetup(("thinks", "thinks", "calls"), hands=1)),
    ("3.11", "one-who-leaves", "It plays on when an opponent leaves", TableSetup(("leaves", "calls"))),
    ("3.10", "one-who-comes-and-goes", "It plays with one who leaves and joins again", TableSetup(("comes-and-goes",))),
    ("3.10", "two-who-come-and-go", "It plays with two of them", TableSetup(("comes-and-goes",) * 2)),
    ("3.13", "an-opponent-is-broke", "It waits for an opponent", TableSetup(("shoves",), {"stack": 40}, hands=2)),
    ("3.14", "broke", "It sends no acts when it is broke", TableSetup(("shoves",), {"stack": 20}, hands=6)),
    ("5.1", "more-than-one-game", "It finds a seat among several games", TableSetup(("calls",), has_full_game=True)),
    ("2.6", "its-name-is-there", "It plays as a user that exists", TableSetup(is_registered=True)),
    ("1.8", "byte-by-byte", "It reads responses that arrive byte by byte", _delivered(1, max_piece_bytes=1)),
    ("1.8", "in-sevens", "It reads responses that arrive in pieces", _delivered(2, max_piece_bytes=7)),
    ("1.8", "with-pauses", "It reads slow responses", _delivered(1, max_piece_bytes=100, delay_seconds=0.02)),
    ("1.8", "late", "It waits for responses", _delivered(1, delay_seconds=0.25)),
    ("1.1", "chunked", "It reads responses in chunks", _delivered(is_chunked=True)),
    ("1.1", "closing", "It opens a new connection", _delivered(closes_connection=True)),
    ("1.1", "headers-in-capitals", "It reads headers in capitals", _delivered(has_upper_case_headers=True)),
    ("1.1", "headers-in-small-letters", "It reads small headers", _delivered(has_lower_case_headers=True)),
    ("1.5", "letters-of-the-world", "It reads names with any letters", TableSetup(name_end=" Ægir ♠")),
    ("1.5", "pretty", "It reads JSON on many lines", _written(unchanged, indent_json)),
    ("1.5", "escaped", "It reads JSON with escaped letters", _written(unchanged, escape_json)),
    ("5.3", "backwards", "It reads keys in any order", _written(reverse_keys)),
)  # fmt: skip
"""(clause number, slug, title, setup) of what every bot that follows the document must handle."""

LOST_ACT_RESPONSE: Final = _failing("post_acts", None, is_executed=True)
LOST_JOIN_RESPONSE: Final = _failing("post_players", None, is_executed=True)

NO_GAME_AT_FIRST: Final = TableSetup(faults=(RequestFault("get_games", 200, body=b"[]"),))

OPTIONAL_SETUPS: Final[Sequence[tuple[str, str, str, TableSetup]]] = (
    ("3.7", "it-sits-already", "It plays on in a game that it is in", SEATED_SETUP),
    ("5.1", "no-game-at-first", "It lists again, or opens a game, when there is none", NO_GAME_AT_FIRST),
    ("5.3", "more-keys", "It reads a Game with unknown keys", _written(add_unknown_keys)),
    ("5.7", "the-slip-of-the-example", "It reads the key of the example", _written(spell_key_as_example)),
    ("3.15", "busy-when-listing", "It lists again when the server is busy", _failing("get_games")),
    ("3.15", "busy-when-looking", "It reads again when the server is busy", _failing("get_game")),
    ("3.15", "busy-when-joining", "It joins again when the server is busy", _failing("post_players")),
    ("3.15", "busy-when-acting", "It acts again when the server is busy", _failing("post_acts")),
    ("3.17", "failed-when-looking", "It reads again after an error", _failing("get_game", 500)),
    ("9.10", "too-often", "It reads again after status 429", _failing("get_game", 429)),
    ("3.16", "cut-off-when-looking", "It reads again when cut off", _failing("get_game", None)),
    ("3.16", "cut-off-when-acting", "It acts again when cut off", _failing("post_acts", None)),
    ("3.17", "cut-off-behind-an-act", "It finds out whether it has acted", LOST_ACT_RESPONSE),
    ("3.17", "cut-off-behind-joining", "It finds out whether it has joined", LOST_JOIN_RESPONSE),
)  # fmt: skip
"""The same for what the document leaves open: a bot may give up."""


@cache
def client_cases() -> tuple[HoldemClientCase, ...]:
    """Return all cases for bots, in the order of their clauses."""
    cases = [_case(*spec, failure_is_choice=False) for spec in SETUPS] + [
        _case(*spec, failure_is_choice=True) for spec in OPTIONAL_SETUPS
    ]
    return tuple(sorted(cases, key=lambda case: (case.clause_number, case.id)))


def _case(number: str, slug: str, title: str, setup: TableSetup, *, failure_is_choice: bool) -> HoldemClientCase:
    rank = PLAIN_RANK if setup != TableSetup() else SIMPLEST_RANK
    if (setup.delivery, setup.transform_body, setup.faults, setup.name_end) != (DEFAULT_DELIVERY, None, (), ""):
        rank = VARIATION_RANK
    return HoldemClientCase(
        clause=f"{ROOM}-{number}",
        slug=slug,
        title=title,
        rank=rank,
        setup=setup,
        failure_is_choice=failure_is_choice,
    )
