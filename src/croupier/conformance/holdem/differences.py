"""Compares expected JSON with a response; each difference names the clauses that it can violate."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from croupier.core.http_transcript import NAME_PATTERN
from croupier.rooms.holdem.cards import CARD_NUMBERS

TABLE_CLAUSES: Final = tuple(
    f"holdem-{section}.{number}"
    for section, numbers in (
        (1, (2, 7, 8)),
        (3, (9, 10, 11, 12, 13)),
        (4, (1, *range(4, 17))),
        (5, (16, 17, 18)),
        (6, (1, 2, 3, 4, 6, 7, *range(9, 16))),
        (8, (1, 8)),
    )
    for number in numbers
)
"""The clauses that almost any number at a table can violate."""

CLAUSES_BY_FIELD: Final[Mapping[str, tuple[str, ...]]] = {
    "handle": ("holdem-5.7", "holdem-2.4"),
    "state": ("holdem-5.9", *TABLE_CLAUSES),
    "wealth": ("holdem-5.7", "holdem-3.1", *TABLE_CLAUSES),
    "small_blind": ("holdem-5.7", "holdem-6.2", "holdem-6.3", "holdem-6.4"),
    "turn.playerID": ("holdem-5.10", *TABLE_CLAUSES),
    "turn.bet_so_far": ("holdem-5.10", "holdem-4.5"),
    "turn.bet_to_player": ("holdem-5.10", "holdem-6.9", "holdem-6.10"),
    "turn.minimum_raise": ("holdem-5.10", "holdem-6.8", "holdem-6.9"),
    "bet_so_far": ("holdem-5.7", *TABLE_CLAUSES),
    "hole": ("holdem-5.5", "holdem-5.6"),
    "board": ("holdem-5.5", "holdem-6.5", "holdem-6.7", "holdem-6.14", "holdem-8.1", "holdem-5.16"),
    "size": ("holdem-5.13", "holdem-5.15", *TABLE_CLAUSES),
    "players": ("holdem-5.13", "holdem-5.14", "holdem-5.15", "holdem-6.12"),
    "pots": ("holdem-5.15", "holdem-6.12", "holdem-5.16", "holdem-5.13"),
    "table": ("holdem-5.8", "holdem-5.16", "holdem-3.5", "holdem-3.4", *TABLE_CLAUSES),
    "gameID": ("holdem-5.3",),
    "last_winners": ("holdem-7.7", "holdem-7.8"),
}
"""The clauses that each field of a Game can violate; the first one is about the field itself."""


class Difference(NamedTuple):
    """A difference at a path (`table[1].wealth`)."""

    path: str
    expected: object
    found: object

    @property
    def field(self) -> str:
        """The field of the Game, a key of CLAUSES_BY_FIELD."""
        path = re.sub(r"\[\d+\]", "", self.path)
        if path.startswith("turn."):
            return path if path in CLAUSES_BY_FIELD else "turn.playerID"
        if path.startswith("cards."):
            return "hole" if path == "cards.hole" else "board"
        last = path.rpartition(".")[2]
        return (
            "table" if path == "table" or path.endswith(".playerID") else last if last in CLAUSES_BY_FIELD else "gameID"
        )

    def clause_for(self, own: Sequence[str]) -> str:
        """Return one's own first clause if the field can violate it, else the field's own clause."""
        field_clauses = CLAUSES_BY_FIELD[self.field]
        return own[0] if own[0] in field_clauses else field_clauses[0]


def wrong_blinds_of_two(expected: Mapping[str, Any], found: Mapping[str, Any]) -> Difference | None:
    """Return the difference if two players have posted each other's blinds; None otherwise.

    A key `small_blind` that is wrong while the chips are right is another difference, and so is another hand.
    """
    tables = [[player for player in game["table"] if isinstance(player, Mapping)] for game in (expected, found)]
    if any(len(table) != 2 or sum(bool(one.get("small_blind")) for one in table) != 1 for table in tables):
        return None
    posted, actual = ({one.get("handle"): bool(one.get("small_blind")) for one in table} for table in tables)
    chips = [{one.get("handle"): (one.get("wealth"), one.get("bet_so_far")) for one in table} for table in tables]
    if (
        posted.keys() != actual.keys()
        or posted == actual
        or chips[0] == chips[1]
        or _totals(chips[0]) != _totals(chips[1])
    ):
        return None
    return Difference("table", _describe_blinds(posted), _describe_blinds(actual))


def _totals(chips: Mapping[Any, tuple[Any, Any]]) -> Mapping[Any, int]:
    """Return what the players have and have bet, of those whose chips are numbers."""
    return {player: sum(amounts) for player, amounts in chips.items() if all(isinstance(one, int) for one in amounts)}


def _describe_blinds(posted: Mapping[Any, bool]) -> str:
    small, big = sorted(posted, key=lambda handle: not posted[handle])
    return f"{small} has posted the small blind, and {big} the big blind"


def differences(expected: Any, found: Any, bindings: dict[str, str], path: str = "") -> Iterator[Difference]:
    """Yield the differences between expected and received JSON.

    A `$name` in the expectation stands for its value in `bindings`; an unbound name is bound. Cards and the expiry of a
    turn are not compared, nor is the order of the players of a pot; keys that the expectation lacks are ignored.
    """
    if path.endswith("expiry") or (path == "cards.hole" and not expected and not found):
        return
    if isinstance(expected, str) and (name := NAME_PATTERN.fullmatch(expected)):
        if name[1] != "_" and (not isinstance(found, str) or bindings.setdefault(name[1], found) != found):
            yield Difference(path, bindings.get(name[1], "a string"), found)
    elif isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from differences(value, found.get(key), bindings, f"{path}.{key}".removeprefix("."))
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield Difference(path, expected, found)
            return
        if path.endswith(".players"):
            order = [bindings.get(name.removeprefix("$")) for name in expected]
            found = sorted(found, key=lambda player: order.index(player) if player in order else len(order))
        for index, (value, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(value, other, bindings, f"{path}[{index}]")
    elif isinstance(expected, str) and isinstance(found, str) and {expected, found} <= CARD_NUMBERS.keys():
        return
    elif type(expected) is not type(found) or expected != found:
        yield Difference(path, expected, found)
