"""Measures acts: how long their answers take, how many were due, and what went wrong."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final

from hdrh.histogram import HdrHistogram

from croupier.core.histogram import BOUNDS_SECONDS
from croupier.load.pace import Pace

MICROSECONDS: Final = 1_000_000
MAX_MICROSECONDS: Final = 60_000_000
SIGNIFICANT_DIGITS: Final = 3

MAX_KINDS: Final = 50
OTHER_KIND: Final = "other errors"
"""Errors of further kinds are counted together, so that a server cannot fill the memory."""


def new_histogram() -> HdrHistogram:
    """Return an empty histogram of durations in microseconds, from 1 µs to 60 s."""
    return HdrHistogram(1, MAX_MICROSECONDS, SIGNIFICANT_DIGITS)


@dataclass(frozen=True)
class Figures:
    """The figures of one process, or of several together. It can be pickled.

    Histograms are encoded as in a V2 log. `response` has the times from when acts were due to their answers, `service`
    those from when they were sent, and `connect` the times to connect. `offered` acts were due, `answered` acts are in
    the histograms; the protocol has no answer to further `unanswerable` acts. `backlog` acts are due and have no
    answer; the oldest of them has been due for `oldest_seconds`. There were `connections`, of which `connected` are
    open. `games` were finished, each counted for every player. `busy_share` is the processor time of the process over
    its time, or the highest of several. `lag_counts` are those of a `Histogram` of the lag of the loop. Figures of the
    warm-up (`is_warmup`) are not part of the result.
    """

    response: bytes
    service: bytes
    connect: bytes
    seconds: float
    offered: int = 0
    answered: int = 0
    unanswerable: int = 0
    backlog: int = 0
    oldest_seconds: float = 0.0
    connections: int = 0
    connected: int = 0
    games: int = 0
    busy_share: float = 0.0
    lag_counts: Sequence[int] = (0,) * (len(BOUNDS_SECONDS) + 1)
    errors: Counter[str] = field(default_factory=Counter)
    is_warmup: bool = False

    @property
    def achieved(self) -> int:
        """The number of acts that were answered, or have no answer in the protocol."""
        return self.answered + self.unanswerable

    @property
    def error_count(self) -> int:
        """The number of errors of all kinds."""
        return self.errors.total()

    @property
    def lag_p99(self) -> float:
        """An upper bound, in seconds, of how late 99 % of the timers of the generator were; infinite above 5 s."""
        limit, counted = 0.99 * sum(self.lag_counts), 0
        for bound, count in zip((*BOUNDS_SECONDS, inf), self.lag_counts, strict=True):
            counted += count
            if counted >= limit:
                return bound
        return inf


class Measurement:
    """Records the acts of the players of one process. Players have numbers; each has at most one act at a time.

    Times are in seconds of any clock.
    """

    def __init__(self) -> None:
        self.connected = 0
        self._in_flight: dict[int, tuple[float, float]] = {}
        self._paces: list[Pace] = []
        self.reset()

    def reset(self) -> None:
        """Begin anew: forget what was measured so far, but not the acts that have no answer yet."""
        self.games = 0
        self.errors: Counter[str] = Counter()
        self._response = new_histogram()
        self._service = new_histogram()
        self._connect = new_histogram()
        self._sent = len(self._in_flight)
        self._unanswerable = 0
        self._connections = 0

    def watch(self, pace: Pace) -> None:
        """Count the acts of a pace that are due."""
        self._paces.append(pace)

    def add_connection(self, seconds: float) -> None:
        """Count a connection that took this time."""
        self._connections += 1
        self.connected += 1
        _record(self._connect, seconds)

    def send(self, player: int, due: float, now: float) -> None:
        """Begin an act that was due at `due`."""
        self._sent += 1
        self._in_flight[player] = due, now

    def is_in_flight(self, player: int) -> bool:
        """Whether the act of a player has no answer yet."""
        return player in self._in_flight

    def answer(self, player: int, now: float) -> None:
        """End the act of a player: it is answered."""
        due, sent = self._in_flight.pop(player)
        _record(self._service, now - sent)
        _record(self._response, now - due)

    def skip(self, player: int) -> None:
        """End the act of a player that has no answer in the protocol."""
        del self._in_flight[player]
        self._unanswerable += 1

    def abandon(self, player: int) -> None:
        """Forget the act of a player, if there is one: its error is counted apart, or the run is over."""
        self._in_flight.pop(player, None)

    def fail(self, kind: str) -> None:
        """Count an error."""
        self.errors[kind if kind in self.errors or len(self.errors) < MAX_KINDS else OTHER_KIND] += 1

    def figures(
        self, start: float, now: float, busy_share: float, lag_counts: Sequence[int], *, is_warmup: bool = False
    ) -> Figures:
        """The figures of a run that has begun at `start`, or of its warm-up."""
        behind = sum(pace.behind(now) for pace in self._paces)
        dues = (*(pace.oldest_due for pace in self._paces), *(due for due, _ in self._in_flight.values()))
        return Figures(
            response=self._response.encode(),
            service=self._service.encode(),
            connect=self._connect.encode(),
            seconds=now - start,
            offered=self._sent + behind,
            answered=self._service.get_total_count(),
            unanswerable=self._unanswerable,
            backlog=behind + len(self._in_flight),
            oldest_seconds=max(0.0, now - min(dues, default=inf)),
            connections=self._connections,
            connected=self.connected,
            games=self.games,
            busy_share=busy_share,
            lag_counts=tuple(lag_counts),
            errors=self.errors.copy(),
            is_warmup=is_warmup,
        )


def merge(all_figures: Sequence[Figures]) -> Figures:
    """The figures of several processes together."""
    return Figures(
        response=_merge(figures.response for figures in all_figures),
        service=_merge(figures.service for figures in all_figures),
        connect=_merge(figures.connect for figures in all_figures),
        seconds=max((figures.seconds for figures in all_figures), default=0.0),
        offered=sum(figures.offered for figures in all_figures),
        answered=sum(figures.answered for figures in all_figures),
        unanswerable=sum(figures.unanswerable for figures in all_figures),
        backlog=sum(figures.backlog for figures in all_figures),
        oldest_seconds=max((figures.oldest_seconds for figures in all_figures), default=0.0),
        connections=sum(figures.connections for figures in all_figures),
        connected=sum(figures.connected for figures in all_figures),
        games=sum(figures.games for figures in all_figures),
        busy_share=max((figures.busy_share for figures in all_figures), default=0.0),
        lag_counts=[sum(counts) for counts in zip(*(figures.lag_counts for figures in all_figures), strict=True)],
        errors=sum((figures.errors for figures in all_figures), Counter()),
        is_warmup=any(figures.is_warmup for figures in all_figures),
    )


def decode(encoded: bytes) -> HdrHistogram:
    """The histogram that was encoded."""
    histogram = new_histogram()
    histogram.decode_and_add(encoded)
    return histogram


def _merge(encoded: Iterable[bytes]) -> bytes:
    histogram = new_histogram()
    for each in encoded:
        histogram.decode_and_add(each)
    merged: bytes = histogram.encode()
    return merged


def _record(histogram: HdrHistogram, seconds: float) -> None:
    histogram.record_value(min(MAX_MICROSECONDS, max(1, round(seconds * MICROSECONDS))))
