"""Generated faults of hold'em servers, at the level of the JSON of their answers.

Our own service answers, and a mutation changes what leaves it: a key, a type or a value of a Game in one state of the
hand, or the status of a route.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.conformance.holdem.faulty_programs import (
    BackwardButton,
    FaultyServer,
    ForgottenQueue,
    LastComeFirstServed,
    Reply,
    ResponseTransform,
    SkippingButton,
    clause_names,
    in_games,
    with_seats,
)
from tests.conformance.mutants import decks
from tests.conformance.mutants.mutation import AnyMutation, Role

ACE_OF_SPADES = 51

type Json = Any
type ValueChange = Callable[[Json], Json]


@dataclass(frozen=True, kw_only=True)
class HoldemMutation(AnyMutation):
    """A fault of a hold'em server."""

    faulty: FaultyServer
    room: str = "holdem"
    role: Role = "server"


OBJECTS: Mapping[str, tuple[str, Mapping[str, type]]] = {
    "Game": ("5.3", {"gameID": str, "table": list, "turn": dict, "cards": dict, "pots": list}),
    "Player": (
        "5.7",
        {"playerID": str, "handle": str, "state": str, "wealth": int, "bet_so_far": int, "small_blind": bool},
    ),
    "Turn": (
        "5.10",
        {"playerID": str, "bet_so_far": int, "bet_to_player": int, "minimum_raise": int, "expiry": str},
    ),
    "Cards": ("5.5", {"hole": list, "flop": list, "turn": list, "river": list}),
    "Pot": ("5.13", {"size": int, "players": list}),
}
"""Each object with its clause and its keys."""

OTHER_TYPES: Mapping[type, Sequence[tuple[str, ValueChange]]] = {
    int: (("as text", str), ("with a decimal point", float), ("as null", lambda _: None)),
    str: (("as a number", lambda _: 7), ("as null", lambda _: None)),
    bool: (("as a number", int), ("as text", str)),
    list: (("as an object", lambda _: {}),),
    dict: (("as an array", lambda value: [value]),),
}

STATES: Mapping[str, Callable[[Json], bool]] = {
    "before the flop": lambda game: bool(game["turn"]["playerID"]) and not game["cards"]["flop"],
    "after the flop": lambda game: bool(game["turn"]["playerID"]) and bool(game["cards"]["flop"]),
    "on the river": lambda game: bool(game["turn"]["playerID"]) and bool(game["cards"]["river"]),
}
"""The states of a hand in which a fault shows."""


def of_object(name: str, change: ValueChange) -> ValueChange:
    """Return a change of all objects of this name in a Game."""

    def changed(game: Json) -> Json:
        match name:
            case "Game":
                return change(game)
            case "Player":
                return {**game, "table": [change(one) for one in game["table"]]}
            case "Pot":
                return {**game, "pots": [change(one) for one in game["pots"]]}
            case _:
                return {**game, name.lower(): change(game[name.lower()])}

    return changed


def of_key(name: str, key: str, change: ValueChange) -> ValueChange:
    """Return a change of one key of all objects of this name."""
    return of_object(name, lambda value: {**value, key: change(value[key])})


def rename(key: str, other: str, value: Json) -> Json:
    return {other if name == key else name: each for name, each in value.items()}


def drop(key: str, value: Json) -> Json:
    return {name: each for name, each in value.items() if name != key}


def while_in(state: str, change: ValueChange) -> ValueChange:
    return lambda game: change(game) if STATES[state](game) else game


def mutant(operator: str, what: str, numbers: str, change: ResponseTransform, state: str = "always") -> HoldemMutation:
    clauses = clause_names(*numbers.split())
    faulty = FaultyServer(clauses, change, settings={"turn_seconds": 4.0})
    return HoldemMutation(operator=operator, state=state, what=what, clauses=clauses, faulty=faulty)


# Forms.


def forms() -> Iterator[HoldemMutation]:
    """Keys that are missing or renamed, and values of another type."""
    for name, (clause, keys) in OBJECTS.items():
        for key, kind in keys.items():
            what = f"{key} of a {name}"
            change = of_object(name, partial(drop, key))
            yield mutant("dropped", what, clause, in_games(change))
            yield mutant("renamed", what, clause, in_games(of_object(name, partial(rename, key, f"{key}_value"))))
            for how, other in OTHER_TYPES[kind]:
                if (name, kind) != ("Cards", list) or how != "as null":
                    more = " 5.12" if (key, kind) == ("turn", dict) else " 5.11" if key == "expiry" else ""
                    yield mutant("retyped", f"{what} {how}", clause + more, in_games(of_key(name, key, other)))


# Values.


def next_player(game: Json) -> Json:
    guids = [one["playerID"] for one in game["table"]]
    own = game["turn"]["playerID"]
    return {**game, "turn": {**game["turn"], "playerID": guids[(guids.index(own) + 1) % len(guids)]}}


def states_changed(before: str, after: str) -> ValueChange:
    return of_key("Player", "state", lambda state: after if state == before else state)


def first_pot_without_first_payer(game: Json) -> Json:
    first, *rest = game["pots"]
    return {**game, "pots": [{**first, "players": first["players"][1:]}, *rest]}


def without_player(index: int, game: Json) -> Json:
    others = [one for one in game["table"] if one is not game["table"][index]]
    return {**game, "table": others}


def same_board_card(game: Json) -> Json:
    cards = game["cards"]
    return {**game, "cards": {**cards, "flop": [cards["flop"][0]] * 3}} if cards["flop"] else game


VALUE_FAULTS: Sequence[tuple[str, str, ValueChange]] = (
    ("a chip too many in every wealth", "5.17 3.1 4.5 6.3 5.7", of_key("Player", "wealth", lambda chips: chips + 1)),
    ("no bet_so_far of players", "5.7 4.5 6.3", of_key("Player", "bet_so_far", lambda _: 0)),
    ("a bet_so_far of players that is too high", "5.7 4.5 6.3", of_key("Player", "bet_so_far", lambda bet: bet + 5)),
    ("everybody active", "5.9 4.6 4.7", states_changed("called", "active")),
    ("everybody called", "5.9", states_changed("active", "called")),
    ("everybody folded", "5.9 4.5 6.3 6.6 6.4 4.1", states_changed("active", "folded")),
    ("a turn of the next player", "5.10 6.4 6.6 6.7 4.13 4.1 4.5 4.6", next_player),
    ("no bet_so_far in the turn", "5.10", of_key("Turn", "bet_so_far", lambda bet: bet + 1)),
    ("bet_to_player too high", "5.10", of_key("Turn", "bet_to_player", lambda bet: bet + 10)),
    ("bet_to_player without the own bet", "5.10", of_key("Turn", "bet_to_player", lambda bet: max(0, bet - 10))),
    ("minimum_raise too high", "6.8 5.10", of_key("Turn", "minimum_raise", lambda chips: 2 * chips)),
    ("minimum_raise of nothing", "6.8 5.10", of_key("Turn", "minimum_raise", lambda _: 0)),
    ("a pot without a chip", "5.15 6.12 5.17 5.13", of_key("Pot", "size", lambda chips: max(0, chips - 1))),
    ("a pot that is twice as large", "5.15 6.12 5.17 5.13", of_key("Pot", "size", lambda chips: 2 * chips)),
    ("a pot without its first payer", "5.13 5.14", first_pot_without_first_payer),
    ("no pots", "5.15", lambda game: {**game, "pots": []}),
    ("a table backwards", "5.3 5.8 3.5 6.2 6.6 6.4 6.3", lambda game: {**game, "table": game["table"][::-1]}),
    ("a table without its first player", "5.8 4.5 6.3", partial(without_player, 0)),
    ("a table without its last player", "5.8 4.5 6.3", partial(without_player, -1)),
    ("nobody has the small blind", "5.7 6.3", of_key("Player", "small_blind", lambda _: False)),
    ("everybody has the small blind", "5.7 6.3", of_key("Player", "small_blind", lambda _: True)),
    ("an expiry of last year", "5.11 4.15 4.16", of_key("Turn", "expiry", lambda _: "2014-09-24T19:14:53.021000Z")),
    ("hole cards for nobody", "5.6 5.5", of_key("Cards", "hole", lambda _: [])),
    ("one hole card", "5.5 5.6", of_key("Cards", "hole", lambda cards: cards[:1])),
    ("the same hole card twice", "6.1 5.6", of_key("Cards", "hole", lambda cards: cards[:1] * 2)),
    ("cards in small letters", "5.4", of_key("Cards", "hole", lambda cards: [card.lower() for card in cards])),
    ("hole cards that change places", "5.6 6.5 6.1", of_key("Cards", "hole", lambda cards: cards[::-1])),
)
"""Wrong values: what, the clauses, and the change of a Game."""

BOARD_FAULTS: Sequence[tuple[str, str, ValueChange]] = (
    ("a flop of two cards", "5.5", of_key("Cards", "flop", lambda cards: cards and cards[:2])),
    ("no flop", "5.5 6.5 6.7", of_key("Cards", "flop", lambda _: None)),
    ("no turn card", "5.5 6.5 6.7", of_key("Cards", "turn", lambda _: None)),
    ("no river card", "5.5 6.5 6.7", of_key("Cards", "river", lambda _: None)),
    ("a flop of one card three times", "6.1", same_board_card),
    ("the flop backwards on the river", "6.5", of_key("Cards", "flop", lambda cards: cards and cards[::-1])),
)


def values() -> Iterator[HoldemMutation]:
    """Wrong values in each state of a hand."""
    for state in STATES:
        for what, numbers, change in VALUE_FAULTS:
            yield mutant("value", what, numbers, in_games(while_in(state, change)), state)
    for what, numbers, change in BOARD_FAULTS:
        state = "on the river" if "river" in what else "after the flop"
        yield mutant("board", what, numbers, in_games(while_in(state, change)), state)


# Statuses.

ROUTES: Sequence[tuple[str, str, int, Sequence[int]]] = (
    ("POST users", "2.2", 201, (200, 204, 400, 500)),
    ("POST games", "3.3 3.5", 201, (200, 400, 500)),
    ("POST games/:/players", "3.5", 201, (200, 202, 400, 500)),
    ("POST games/:/players/:/acts", "4.1 4.5 4.6", 201, (200, 202, 204, 400, 500)),
    ("DELETE games/:/players/:", "3.10", 200, (201, 202, 204, 404, 500)),
    ("GET games", "5.1", 200, (201, 204, 404, 500)),
    ("GET games/:", "5.2", 200, (201, 204, 404, 500)),
    ("POST users", "2.5", 400, (201, 401, 500)),
    ("POST users", "2.6", 403, (201, 409, 500)),
    ("POST games/:/players", "3.7", 409, (201, 403, 500)),
    ("POST games/:/players", "2.7", 401, (400, 403, 500)),
    ("POST games/:/players/:/acts", "4.13 4.14 8.8", 403, (201, 400, 409, 500)),
    ("POST games/:/players/:/acts", "4.4", 400, (201, 500)),
    ("POST games/:/players/:/acts", "8.4 8.5 4.16 3.14", 404, (201, 400, 403, 500)),
    ("GET games/:", "8.4", 404, (200, 400, 500)),
    ("GET games/:", "2.8 2.7", 401, (400, 403, 500)),
)
"""Routes with their clauses, a status, and others in its place."""


def statuses() -> Iterator[HoldemMutation]:
    """Another status of a route."""
    for route, numbers, before, others in ROUTES:
        for after in others:

            def change(reply: Reply, route: str = route, before: int = before, after: int = after) -> Reply:
                is_meant = (reply.route, reply.status) == (route, before)
                return reply._replace(status=after) if is_meant else reply

            yield mutant("status", f"{after} instead of {before}", numbers, change, f"to {route}")


# Bodies.


def bodies() -> Iterator[HoldemMutation]:
    """Bodies of another kind."""

    def body_of(route: str, body: bytes) -> ResponseTransform:
        return lambda reply: reply._replace(body=body) if reply.route == route and reply.status < 300 else reply

    for route, numbers, body in (
        ("POST users", "2.2", b'{"guid": 1}'),
        ("POST users", "2.2", b""),
        ("POST games/:/players", "3.5", b""),
        ("POST games/:/players", "3.5", b"null"),
        ("GET games", "5.1 1.5", b"{}"),
        ("GET games", "5.1 1.5", b"games"),
        ("GET games/:", "5.2 1.5", b"null"),
        ("GET games/:", "5.2 1.5", b"[]"),
        ("GET games/:", "5.2 1.5", b""),
    ):
        yield mutant("body", f"{body.decode() or 'nothing'} as the body", numbers, body_of(route, body), f"to {route}")


# Deals and seats.


def server(operator: str, what: str, numbers: str, **faults: Any) -> HoldemMutation:
    clauses = clause_names(*numbers.split())
    faulty = FaultyServer(clauses, settings={"turn_seconds": 4.0}, **faults)
    return HoldemMutation(operator=operator, state="always", what=what, clauses=clauses, faulty=faulty)


def tables() -> Iterator[HoldemMutation]:
    """Unfair decks, a button that goes astray, and a queue out of order."""
    for what, dealer in (
        ("no shuffle", decks.unshuffled),
        ("no ace of spades", decks.without_cards(ACE_OF_SPADES)),
        ("always the ace of spades first", decks.with_cards_first(ACE_OF_SPADES)),
    ):
        yield server("deal", what, "6.1 5.6", dealer=dealer)
    for what, numbers, seats in (
        ("the button goes backwards", "6.2 6.3", BackwardButton),
        ("the button goes on by two", "6.2 6.3", SkippingButton),
        ("the last of the queue is first", "3.9 3.6", LastComeFirstServed),
        ("the queue is forgotten", "3.9 3.6", ForgottenQueue),
    ):
        yield server("seats", what, numbers, table=with_seats(seats))


def servers() -> Iterator[HoldemMutation]:
    """All mutations of servers."""
    yield from forms()
    yield from values()
    yield from statuses()
    yield from bodies()
    yield from tables()
