"""What a report says of a tournament, in words and numbers."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Final, Self

from croupier.arena.plan import Pairing, Plan
from croupier.arena.ratings import Standing
from croupier.arena.series import PairResult, Series
from croupier.arena.tournament import Tournament, TournamentResult
from croupier.core.plural import format_count

MAX_DECIMALS: Final = 4
DECIMALS_WITHOUT_INTERVAL: Final = 2


@dataclass(frozen=True)
class Report:
    """The results of a tournament."""

    plan: Plan
    result: TournamentResult
    series: Mapping[Pairing, Series]

    @classmethod
    def of(cls, tournament: Tournament) -> Self:
        """The report of a tournament in which a series was played. See `Tournament.result` for its errors."""
        return cls(tournament.plan, tournament.result(), dict(tournament.series))

    @property
    def standings(self) -> Sequence[Standing]:
        """The places of all bots."""
        return self.result.standings

    @property
    def pairs(self) -> Mapping[Pairing, PairResult]:
        """The result of every pairing."""
        return dict(zip(sorted(self.series), self.result.pairs, strict=True))

    @property
    def unit(self) -> "Unit":
        """The unit of the results."""
        return Unit.parse(self.result.pairs[0].unit)


@dataclass(frozen=True)
class Unit:
    """The unit of results: an amount, and the hands for which it is given."""

    amount: str
    hands: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The unit of a game.

        >>> Unit.parse("coins/hand"), Unit.parse("bb/100")
        (Unit(amount='coins', hands=1), Unit(amount='bb', hands=100))
        """
        amount, _, hands = text.partition("/")
        return cls(amount, int(hands) if hands.isdecimal() else 1)

    @property
    def period(self) -> str:
        """The hands in words."""
        return "a hand" if self.hands == 1 else f"per {self.hands} hands"

    def __str__(self) -> str:
        return f"{self.amount} {self.period}"


def format_number(value: float, decimals: int, *, signed: bool = False) -> str:
    """A number with a true minus sign.

    >>> format_number(-0.314, 2), format_number(0.314, 1, signed=True), format_number(-0.001, 2)
    ('−0.31', '+0.3', '0.00')
    """
    rounded = round(value, decimals) or 0.0
    return f"{rounded:{'+' if signed and rounded else ''},.{decimals}f}".replace("-", "−")


def decimals_for(low: float | None, high: float | None, digits: int = 2) -> int:
    """The decimals that an interval is worth: those of the first digits of half its width.

    >>> decimals_for(0.09, 0.13), decimals_for(0.09, 0.13, 1), decimals_for(-8.0, 8.0), decimals_for(None, None)
    (3, 2, 1, 2)
    """
    if low is None or high is None or low == high:
        return DECIMALS_WITHOUT_INTERVAL
    return max(0, min(MAX_DECIMALS, digits - 1 - floor(log10((high - low) / 2))))


def _headline_decimals(low: float | None, high: float | None) -> int:
    """As few as possible, but no bound of an interval may look like 0."""
    decimals = decimals_for(low, high, 1)
    while decimals < MAX_DECIMALS and any(bound and not round(bound, decimals) for bound in (low, high)):
        decimals += 1
    return decimals


def format_interval(low: float | None, high: float | None, decimals: int) -> str:
    """An interval in words, empty if there is none."""
    if low is None or high is None:
        return ""
    return f"{format_number(low, decimals)} to {format_number(high, decimals)}"


def headline(report: Report) -> str:
    """The result in a sentence."""
    if not any(pair.hands or pair.status == "forfeit" for pair in report.result.pairs):
        return f"{len(report.plan.bots)} bots play {report.plan.room}"
    if len(report.plan.bots) == 2:
        (pairing,) = report.series
        return _pair_headline(report, pairing)
    first = report.standings[0]
    if first.mean is None or first.forfeits:
        return f"{len(report.plan.bots)} bots play {report.plan.room}"
    decimals = _headline_decimals(first.low, first.high)
    amount = f"{format_number(first.mean, decimals)} {report.unit}"
    confidence = _confidence(report.plan, first.low, first.high, decimals)
    opponents = [pairing for pairing in report.series if first.index in pairing]
    if len(opponents) == len(report.plan.bots) - 1 and all(_beats(report, first.index, each) for each in opponents):
        return f"{first.bot} beats all others, by {amount} on average{confidence}"
    return f"{first.bot} wins most: {amount} on average{confidence}"


def _beats(report: Report, bot: int, pairing: Pairing) -> bool:
    """Whether the interval of a pairing is on the side of the bot."""
    result = report.pairs[pairing]
    bound = result.low if pairing[0] == bot else result.high
    return bound is not None and (bound > 0 if pairing[0] == bot else bound < 0)


def _pair_headline(report: Report, pairing: Pairing) -> str:
    result, loser = report.pairs[pairing], report.series[pairing].forfeit
    if loser is not None:
        return f"{report.plan.bots[loser]} forfeits against {report.plan.bots[sum(pairing) - loser]}"
    better, worse, sign = (result.a, result.b, 1) if result.mean >= 0 else (result.b, result.a, -1)
    low, high = result.low, result.high
    if low is not None and high is not None and sign < 0:
        low, high = -high, -low
    decimals = _headline_decimals(low, high)
    amount = f"{format_number(abs(result.mean), decimals)} {report.unit}"
    confidence = _confidence(report.plan, low, high, decimals)
    if low is not None and low > 0:
        return f"{better} beats {worse} by {amount}{confidence}"
    return f"{better} leads {worse} by {amount}, which may be luck{confidence}"


def _confidence(plan: Plan, low: float | None, high: float | None, decimals: int) -> str:
    interval = format_interval(low, high, decimals)
    return f" ({1 - plan.alpha:.0%}: {interval})" if interval else ""


def fault_lines(pair: PairResult) -> Iterator[str]:
    """A line for each bot with faults, with the first of them."""
    for name, bot, other in (("a", pair.a, pair.b), ("b", pair.b, pair.a)):
        first = next((fault for fault in pair.faults if fault.bot == name), None)
        if first is not None:
            count = format_count(pair.fault_counts[name], "fault")
            yield f"{bot} against {other}: {count}, the first in hand {first.hand:,}: {first.reason}"


def command(plan: Plan) -> str:
    """The command that repeats a tournament."""
    words = ["croupier", "arena", plan.room, *plan.bots, "--hands", str(2 * plan.pairs)]
    options = {
        "--duplicate": plan.duplicate,
        "--adjust": plan.adjust is not None,
        "--until-sure": plan.until_sure,
        "--leaks": plan.leaks,
    }
    words += [option for option, is_given in options.items() if is_given]
    if plan.schedule != "round-robin":
        words += ["--schedule", plan.schedule]
    return shlex.join([*words, "--seed", str(plan.seed)])
