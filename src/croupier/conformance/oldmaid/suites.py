"""The suites of Old Maid: for tables and for players."""

from collections.abc import Iterator
from typing import Final

from croupier.conformance.oldmaid import player_replay, table_replay
from croupier.conformance.oldmaid.case import TableCase
from croupier.conformance.oldmaid.cases import dealing, ending, framing, games, joining, lobby, requests, rings
from croupier.conformance.oldmaid.dialects import NJAAL_ONLY
from croupier.conformance.oldmaid.player_bench import PlayerBench
from croupier.conformance.oldmaid.table_bench import TableBench
from croupier.conformance.oldmaid.untestable import reasons_of_other
from croupier.conformance.suite import Suite


def table_cases() -> Iterator[TableCase]:
    """Yield all cases for tables."""
    found = [case for part in (joining, dealing, lobby, ending, framing, requests, games) for case in part.CASES]
    yield from found
    yield from table_replay.cases({case.id for case in found})


TABLES: Final = Suite(1.5, lambda: tuple(table_cases()), reasons_of_other("player"), TableBench)
PLAYERS: Final = Suite(
    5.0,
    lambda: (*player_replay.cases(), *rings.cases()),
    reasons_of_other("table"),
    PlayerBench,
    placeholders=("host", "port", "nick"),
    spoken_dialects=(NJAAL_ONLY,),
)
