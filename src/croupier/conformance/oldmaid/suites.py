"""The suites of Old Maid: for tables and for players."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from croupier.conformance.oldmaid import player_replay
from croupier.conformance.oldmaid.cases import dealing, ending, framing, games, joining, lobby, requests, rings
from croupier.conformance.oldmaid.cases.requests import TableCase
from croupier.conformance.oldmaid.player_bench import PlayerBench
from croupier.conformance.oldmaid.player_context import PlayerCase
from croupier.conformance.oldmaid.table_bench import TableBench
from croupier.conformance.oldmaid.untestable import untested_clauses
from croupier.conformance.suite import Bench, Config


class TableSuite:
    """The cases for tables. See `Suite`."""

    timeout = 1.5

    @cached_property
    def untestable(self) -> Mapping[str, str]:
        """The clauses that no case for a table tests, each with the reason."""
        return untested_clauses(self.cases(), "player")

    def cases(self) -> Sequence[TableCase]:
        """Return all cases."""
        return self._cases

    @cached_property
    def _cases(self) -> Sequence[TableCase]:
        parts = (joining, lobby, dealing, ending, framing, requests, games)
        return (*(case for part in parts for case in part.cases()), *lobby.slow_cases())

    def bench(self, config: Config) -> Bench:
        """See `Suite.bench`."""
        return TableBench(config)


class PlayerSuite:
    """The cases for players. See `Suite`."""

    timeout = 5.0

    @cached_property
    def untestable(self) -> Mapping[str, str]:
        """The clauses that no case for a player tests, each with the reason."""
        return untested_clauses(self.cases(), "table")

    def cases(self) -> Sequence[PlayerCase]:
        """Return all cases."""
        return self._cases

    @cached_property
    def _cases(self) -> Sequence[PlayerCase]:
        return (*player_replay.cases(), *rings.cases())

    def bench(self, config: Config) -> Bench:
        """See `Suite.bench`."""
        return PlayerBench(config)


TABLES: Final = TableSuite()
PLAYERS: Final = PlayerSuite()
