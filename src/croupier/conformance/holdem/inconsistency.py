"""Games that contradict themselves: the fault is that of the contradiction, whatever a transcript is about."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

PAYMENT_CLAUSES: Final = frozenset(
    {"holdem-3.11", "holdem-4.16", *(f"holdem-6.{number}" for number in (11, 12, 13, 14, 15))}
)
"""The clauses that say who is paid: if chips are missing, they may be the reason."""


class Inconsistency(NamedTuple):
    """What a Game should show and what it shows, with the clause that it breaks."""

    clause: str
    expected: str
    actual: str


def without_open_points(
    wanted: Mapping[str, Any], found: Mapping[str, Any], seated: Collection[str]
) -> tuple[Mapping[str, Any], Sequence[Inconsistency]]:
    """Return a Game without what the document leaves open in a running hand, and what was left out.

    These are empty pots, as in the document's example, and players in the table who wait for the next hand. See
    `find_inconsistency` for `wanted` and `seated`.
    """
    table = wanted.get("table")
    if not isinstance(table, list) or not found["turn"]["playerID"]:
        return found, ()
    pots = [pot for pot in found["pots"] if pot["size"]]
    waiting = {*seated} - {payer for pot in pots for payer in pot["players"]}
    handles = _handles(table)
    players = [one for one in found["table"] if one["handle"] in handles or one["playerID"] not in waiting]
    left_out = []
    if len(pots) < len(found["pots"]):
        left_out.append(Inconsistency("holdem-5.19", "only pots with chips", "an empty pot"))
    if len(players) < len(found["table"]):
        left_out.append(Inconsistency("holdem-5.20", "only players of the hand", "a player who waits in the table"))
    return {**found, "table": players, "pots": pots}, left_out


def find_inconsistency(
    wanted: Mapping[str, Any], found: Mapping[str, Any], seated: Collection[str], own: str
) -> Inconsistency | None:
    """Return the first contradiction in a Game, None if there is none.

    `wanted` is the Game of a transcript, with the handles of the users. `seated` are the playerIDs of those who have
    joined the game and not left it, and `own` is the clause that the transcript is about.
    """
    return next(_inconsistencies(wanted, found, seated, own), None)


def _inconsistencies(
    wanted: Mapping[str, Any], found: Mapping[str, Any], seated: Collection[str], own: str
) -> Iterator[Inconsistency]:
    expected_table, table, turn, pots = wanted.get("table"), found["table"], found["turn"], found["pots"]
    players = {player["playerID"]: player for player in table}
    if not isinstance(expected_table, list) or not turn["playerID"]:
        return
    payers = {payer for pot in pots for payer in pot["players"]} & {*seated}
    if missing := ({turn["playerID"]} | payers) - players.keys():
        yield Inconsistency("holdem-5.8", "all players of the hand in the table", f"a table without {min(missing)}")
        return
    handles, expected_handles = [_handles(each) for each in (table, expected_table)]
    if handles != expected_handles and sorted(handles) == sorted(expected_handles):
        yield Inconsistency("holdem-5.3", f"the table {', '.join(expected_handles)}", f"{', '.join(handles)}")
        return
    yield from _turn_inconsistencies(wanted["turn"], turn, players[turn["playerID"]], expected_table)
    yield from _state_inconsistencies(expected_table, table)
    small_blinds, expected_blinds = (sum(one["small_blind"] for one in each) for each in (table, expected_table))
    if small_blinds != expected_blinds:
        yield Inconsistency("holdem-5.7", f"small_blind of {expected_blinds} player", f"{small_blinds}")
    total, expected_total = _total_chips(found), _total_chips(wanted)
    if expected_total not in {None, total} and own not in PAYMENT_CLAUSES:
        yield Inconsistency("holdem-5.17", f"{expected_total} chips in all", f"{total}")


def _state_inconsistencies(
    expected_table: Sequence[Mapping[str, Any]], table: Sequence[Mapping[str, Any]]
) -> Iterator[Inconsistency]:
    """Yield the players with the expected chips who are `active` in place of `called`, or the other way round."""
    for expected, player in zip(expected_table, table, strict=False):
        states = {expected["state"], player["state"]}
        if states == {"active", "called"} and all(expected[key] == player[key] for key in ("wealth", "bet_so_far")):
            yield Inconsistency("holdem-5.9", f"{player['handle']} {expected['state']}", player["state"])


def _turn_inconsistencies(
    expected_turn: Mapping[str, Any],
    turn: Mapping[str, Any],
    player: Mapping[str, Any],
    expected_table: Sequence[Mapping[str, Any]],
) -> Iterator[Inconsistency]:
    """Yield what a Turn and its Player contradict each other about."""
    name = player["handle"] or player["playerID"]
    due = [one["handle"] for one in expected_table if one["playerID"] == expected_turn["playerID"]]
    if player["state"] != "active" and due == [player["handle"]]:
        yield Inconsistency("holdem-5.9", f"{name} active: it is that player's turn", player["state"])
    if player["bet_so_far"] != turn["bet_so_far"]:
        bets = [one["bet_so_far"] for one in expected_table if one["handle"] == player["handle"]]
        is_in_turn = player["bet_so_far"] in bets
        clause, bet, other = (
            ("holdem-5.10", turn["bet_so_far"], player["bet_so_far"])
            if is_in_turn
            else ("holdem-5.7", player["bet_so_far"], turn["bet_so_far"])
        )
        where = "the turn" if is_in_turn else name
        yield Inconsistency(clause, f"bet_so_far {other} of {where}", f"{bet}")


def _handles(table: Sequence[Mapping[str, Any]]) -> list[str]:
    return [player["handle"] for player in table]


def _total_chips(game: Mapping[str, Any]) -> int | None:
    """The chips of all players and pots, None if a transcript leaves them open."""
    pots = game.get("pots")
    if not isinstance(pots, list):
        return None
    total: int = sum(player["wealth"] for player in game["table"]) + sum(pot["size"] for pot in pots)
    return total
