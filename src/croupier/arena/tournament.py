"""Tournaments: all pairings of a plan, chunk by chunk, on any runner."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import ClassVar

from croupier.arena.plan import Pairing, Plan
from croupier.arena.ratings import Standing, standings
from croupier.arena.runner import Job, Runner
from croupier.arena.schedule import round_pairings, rounds
from croupier.arena.series import PairResult, Series
from croupier.arena.tally import Tally
from croupier.core.stored import Stored


class TournamentResult(Stored, frozen=True):
    """The results of all pairings, and the places of the bots. `plan` is the hash of the plan."""

    MALFORMED: ClassVar[str] = "malformed results"

    plan: str
    room: str
    seed: int
    pairs: Sequence[PairResult]
    standings: Sequence[Standing]


class Tournament:
    """The series of a plan.

    `played` has the chunks of an earlier run. `on_chunk` is called with every new chunk that has been played, and
    before it counts.
    """

    def __init__(
        self,
        plan: Plan,
        played: Mapping[Job, Tally] | None = None,
        on_chunk: Callable[[Job, Tally], None] = lambda *_: None,
    ) -> None:
        self.plan = plan
        self.series: dict[Pairing, Series] = {}
        self._played = played or {}
        self._on_chunk = on_chunk

    def play(self, runner: Runner) -> Iterator[Series]:
        """Play all rounds; yield a series whenever it has changed."""
        for _ in range(rounds(self.plan.schedule, len(self.plan.bots))):
            pairings = round_pairings(self.plan.schedule, len(self.plan.bots), [*self.series], self.winnings())
            for pairing in pairings:
                yield self._open(pairing)
            for job, tally in runner.run(self._jobs(pairings)):
                self._on_chunk(job, tally)
                series = self.series[job.pairing]
                series.add(job.chunk, tally)
                yield series

    def add(self, pairing: Pairing, chunk: int, tally: Tally) -> None:
        """Take in a chunk of a pairing which is played elsewhere."""
        self.series.setdefault(pairing, Series(self.plan, pairing)).add(chunk, tally)

    def winnings(self) -> Mapping[int, float]:
        """The mean winnings of every bot over its pairings so far; minus infinity for one that has forfeited."""
        results: dict[int, list[float]] = {}
        for (first, second), series in self.series.items():
            mean = series.interval().mean
            results.setdefault(first, []).append(-inf if series.forfeit == first else mean)
            results.setdefault(second, []).append(-inf if series.forfeit == second else -mean)
        return {bot: sum(means) / len(means) for bot, means in results.items()}

    def result(self) -> TournamentResult:
        """All results so far. Raises ModuleNotFoundError without the extra `arena`."""
        pairs = [self.series[pairing].result() for pairing in sorted(self.series)]
        ranked = standings(self.plan, self.series.values())
        return TournamentResult(self.plan.digest, self.plan.room, self.plan.seed, pairs, ranked)

    def _open(self, pairing: Pairing) -> Series:
        series = self.series[pairing] = Series(self.plan, pairing)
        for job, tally in self._played.items():
            if job.pairing == pairing:
                series.add(job.chunk, tally)
        return series

    def _jobs(self, pairings: Sequence[Pairing]) -> Iterator[Job]:
        """The chunks that have not been played, until their series is over."""
        for pairing in pairings:
            series = self.series[pairing]
            for chunk in range(self.plan.chunks):
                if series.is_over:
                    break
                if chunk not in series:
                    yield Job(pairing, chunk)
