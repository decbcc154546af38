"""Series: the chunks of a pairing as they arrive, when it is over, and its result."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from croupier.arena.game import find_game
from croupier.arena.intervals import Interval, sequence_interval, student_interval
from croupier.arena.leaks import LeakLine
from croupier.arena.plan import Pairing, Plan
from croupier.arena.tally import Moments, Tally, merge
from croupier.rooms import find_room

MIN_CHUNKS: Final = 20
"""The number of chunks before which `until_sure` decides nothing where chunks are the unit of the statistics."""

MAX_LISTED_FAULTS: Final = 20
"""The faults of a pairing that its result lists; all are counted."""

type Status = Literal["decided", "finished", "undecided", "forfeit", "interrupted"]
"""How a pairing ended: the interval excludes 0; all pairs were played; all were, and the interval includes 0; a bot
could not go on; the tournament was stopped."""


class Method(Struct, frozen=True):
    """How a result was made. `known` has the bots (`a`, `b`) that published their probabilities.

    `statistic` is what the interval takes as independent values: pairs of hands, or chunks if a bot may have a memory.
    `pilot_pairs` are the pairs that were played, and discarded, to fit the baseline to the bots.
    """

    duplicate: bool
    adjust: str | None
    known: tuple[str, ...]
    statistic: Literal["pair", "chunk"]
    interval: Literal["student", "sequence"]
    alpha: float
    t_star: int
    pilot_pairs: int


class FaultResult(Struct, frozen=True):
    """A fault of a bot (`a` or `b`) in a hand of the pairing."""

    bot: str
    hand: int
    reason: str


class PairResult(Struct, frozen=True):
    """The result of a pairing: what `a` wins of `b`, in `unit`. `low` and `high` are None for fewer than two values.

    `leaks` has the choices that cost `a` and `b` anything, where the arena knows.
    """

    a: str
    b: str
    mean: float
    low: float | None
    high: float | None
    hands: int
    unit: str
    method: Method
    status: Status
    fault_counts: Mapping[str, int]
    faults: Sequence[FaultResult]
    leaks: Mapping[str, Sequence[LeakLine]]


class Series:
    """The tallies of a pairing. Chunks may arrive in any order, but only those without a gap before them count.

    `tallies` are those that count, in the order of their chunks; no further chunk counts when the series `is_over`.
    """

    def __init__(self, plan: Plan, pairing: Pairing) -> None:
        self.plan = plan
        self.pairing = pairing
        self.tallies: list[Tally] = []
        self.is_over = False
        self._game = find_game(plan.room)
        self._by_chunk: dict[int, Tally] = {}
        self._running = Moments()
        self._unit: Literal["pair", "chunk"] = (
            "chunk" if any(may_remember(plan.room, plan.bots[bot]) for bot in pairing) else "pair"
        )

    def __contains__(self, chunk: int) -> bool:
        return chunk in self._by_chunk

    def add(self, chunk: int, tally: Tally) -> None:
        """Take in a chunk."""
        self._by_chunk[chunk] = tally
        while not self.is_over and (following := self._by_chunk.get(len(self.tallies))) is not None:
            self.tallies.append(following)
            self._running += self._values(following)
            self.is_over = (
                following.forfeit is not None
                or len(self.tallies) == self.plan.chunks
                or (self.plan.until_sure and self._may_decide() and self.interval().is_decided)
            )

    @property
    def forfeit(self) -> int | None:
        """The bot that could not go on, None if both could."""
        last = self.tallies[-1].forfeit if self.tallies else None
        return None if last is None else self.pairing[last]

    def interval(self, alpha: float | None = None) -> Interval:
        """The mean of what the first bot wins, with its interval so far; `alpha` is the plan's if it is not given."""
        alpha = self.plan.alpha if alpha is None else alpha
        if self.plan.until_sure:
            t_star = self.plan.t_star if self._unit == "pair" else max(1, self.plan.t_star // self.plan.chunk_pairs)
            return sequence_interval(self._running, alpha, t_star)
        return student_interval(self._running, alpha)

    def headline(self) -> str:
        """The bots and the interval so far."""
        first, second = (self.plan.bots[bot] for bot in self.pairing)
        interval = self.interval()
        return f"{first} v {second}: {interval.mean:+.4f} ± {interval.high - interval.mean:.4f}"

    def result(self) -> PairResult:
        """The result so far."""
        total, interval = merge(self.tallies), self.interval()
        has_interval = self._running.count > 1
        a, b = (self.plan.bots[bot] for bot in self.pairing)
        return PairResult(
            a=a,
            b=b,
            mean=interval.mean,
            low=interval.low if has_interval else None,
            high=interval.high if has_interval else None,
            hands=2 * total.pairs,
            unit=self._game.unit,
            method=Method(
                duplicate=self.plan.duplicate,
                adjust=self.plan.adjust,
                known=tuple(name for name, is_known in zip("ab", total.known, strict=True) if is_known),
                statistic=self._unit,
                interval="sequence" if self.plan.until_sure else "student",
                alpha=self.plan.alpha,
                t_star=self.plan.t_star,
                pilot_pairs=self._game.pilot_pairs if self.plan.adjust else 0,
            ),
            status=self._status(total, interval),
            fault_counts={name: sum(fault.bot == bot for fault in total.faults) for bot, name in enumerate("ab")},
            faults=[FaultResult("ab"[each.bot], each.hand, each.reason) for each in total.faults[:MAX_LISTED_FAULTS]],
            leaks=dict(zip("ab", self._game.leaks(total), strict=True)),
        )

    def _values(self, tally: Tally) -> Moments:
        """What a chunk adds to the statistics: its pairs, or their mean as one value."""
        if self._unit == "pair" or not tally.pairs:
            return tally.result
        mean = tally.result.mean
        return Moments(1, mean, mean * mean)

    def _may_decide(self) -> bool:
        least = self._game.min_pairs if self._unit == "pair" else MIN_CHUNKS
        return self._running.count >= least

    def _status(self, total: Tally, interval: Interval) -> Status:
        if total.forfeit is not None:
            return "forfeit"
        if not self.is_over:
            return "interrupted"
        if not self.plan.until_sure:
            return "finished"
        return "decided" if self._may_decide() and interval.is_decided else "undecided"


def may_remember(room: str, text: str) -> bool:
    """Whether a bot may have a memory, so that its hands in a chunk are not independent."""
    spec = find_room(room).bots.get(text.partition(":")[0])
    return spec is None or spec.is_stateful
