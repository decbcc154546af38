"""Tests of hold'em in the arena: seatings, duplicates, faults, and how much the baseline narrows intervals."""

from collections.abc import Sequence

import pytest

from croupier.arena.game import Chunk
from croupier.arena.holdem import HoldemGame
from croupier.arena.intervals import student_interval
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.players import Forfeit
from croupier.arena.tally import Tally, merge
from croupier.core.bots import Bot, RandomBot
from croupier.core.dealer import Luck
from croupier.rooms.holdem.bots import CallerBot, ManiacBot
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.table.views import View


def plan(*bots: str, duplicate: bool = True, adjust: bool = False, chunk_pairs: int = 50) -> Plan:
    return Plan(
        "holdem", bots, 50, 1, duplicate=duplicate, adjust="holdem" if adjust else None, chunk_pairs=chunk_pairs
    )


class Watcher(CallerBot):
    """Notes its views."""

    def __init__(self) -> None:
        self.views: list[View] = []

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
        self.views.append(view)
        return view.call


class Faulty(CallerBot):
    """Raises an exception or makes an illegal move in some of its turns."""

    def __init__(self, *faults: object) -> None:
        self.faults = list(faults)

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
        fault = self.faults.pop(0) if self.faults else view.call
        if isinstance(fault, Exception):
            raise fault
        return fault  # type: ignore[return-value]


def chunk_of(one: Bot[View, Move], other: Bot[View, Move], chosen: Plan) -> Chunk:
    return Chunk(chosen, (0, 1), 0, (lambda: one, lambda: other))


def test_a_chunk_is_a_function_of_the_plan() -> None:
    chosen = plan("random", "caller")
    assert play_chunk(chosen, (0, 1), 3) == play_chunk(chosen, (0, 1), 3)
    assert play_chunk(chosen, (0, 1), 3) != play_chunk(chosen, (0, 1), 4)


def test_the_results_of_the_other_bot_are_the_negative_ones() -> None:
    chosen = plan("tight", "maniac")
    assert play_chunk(chosen, (0, 1), 0).plain.total == -play_chunk(chosen, (1, 0), 0).plain.total != 0


def test_bots_exchange_seats_and_duplicates_have_the_same_cards() -> None:
    one, other = Watcher(), Watcher()
    HoldemGame().play_chunk(chunk_of(one, other, plan("a", "b", chunk_pairs=5)))
    half = len(one.views) // 2
    assert {view.me for view in one.views[:half]} == {0} == {view.me for view in other.views[half:]}
    assert {view.me for view in one.views[half:]} == {1} == {view.me for view in other.views[:half]}
    assert [(view.hole, view.board) for view in one.views[:half]] == [
        (view.hole, view.board) for view in other.views[half:]
    ]
    assert {view.players[view.me].name for view in one.views} == {"1"}


def test_results_are_in_big_blinds_per_hundred_hands() -> None:
    class Folder(CallerBot):
        def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
            return view.check_or_fold

    tally = HoldemGame().play_chunk(chunk_of(Folder(), ManiacBot(), plan("a", "b", chunk_pairs=10)))
    assert tally.plain.mean == -75  # half a big blind on the button, a whole one in the other seat
    tally = HoldemGame(Stakes(50, 100), 500).play_chunk(chunk_of(Folder(), ManiacBot(), plan("a", "b", chunk_pairs=10)))
    assert tally.plain.mean == -75


def test_a_bot_that_makes_a_fault_checks_or_folds() -> None:
    faulty = Faulty(ValueError("no idea"), -5)  # it has the button: its first fault folds, its second too
    chunk = chunk_of(faulty, CallerBot(), plan("a", "b", chunk_pairs=3))
    first, _ = HoldemGame()._play_seatings(chunk)
    assert first.nets[:2] == [-10, -10]
    assert [(fault.bot, fault.hand) for fault in chunk.faults] == [(0, 1), (0, 2)]
    illegal = "the illegal move -5; allowed: fold, 10, 30, 50, 9990"
    assert [fault.reason for fault in chunk.faults] == ["ValueError: no idea", illegal]


def test_moves_that_are_no_moves_are_faults_whatever_their_methods_do() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise SystemExit

        def __repr__(self) -> str:
            raise ValueError("no text")

        __hash__ = object.__hash__

    chunk = chunk_of(Faulty(Odd(), True), CallerBot(), plan("a", "b", chunk_pairs=3))
    first, _ = HoldemGame()._play_seatings(chunk)
    assert first.nets[:2] == [-10, -10]
    illegal = "the illegal move True; allowed: fold, 10, 30, 50, 9990"
    assert [fault.reason for fault in chunk.faults] == ["ValueError: no text", illegal]


def test_three_faults_forfeit() -> None:
    faulty = Faulty("bet", 1.5, None)
    with pytest.raises(Forfeit):
        HoldemGame().play_chunk(chunk_of(CallerBot(), faulty, plan("a", "b")))


def test_a_forfeit_in_the_pilot_has_its_reasons() -> None:
    chunk = chunk_of(CallerBot(), Faulty("bet", 1.5, None), plan("a", "b", adjust=True))
    with pytest.raises(Forfeit):
        HoldemGame().play_chunk(chunk)
    assert [(fault.bot, fault.hand) for fault in chunk.faults] == [(1, 0)] * 3


def test_the_pilot_is_not_counted_and_is_played_once() -> None:
    game, watcher = HoldemGame(), Watcher()
    chosen = plan("a", "b", adjust=True, chunk_pairs=10)
    tally = game.play_chunk(chunk_of(watcher, CallerBot(), chosen))
    assert tally.pairs == tally.plain.count == 10
    assert tally.adjusted is not None
    assert tally.adjusted.count == 10
    assert len(watcher.views) == 4 * 2 * (500 + 10)
    game.play_chunk(chunk_of(watcher, CallerBot(), chosen))
    assert len(watcher.views) == 4 * 2 * (500 + 20)


def test_duplicates_of_equal_bots_stay_without_luck() -> None:
    tally = play_chunk(plan("caller", "caller", adjust=True, chunk_pairs=20), (0, 1), 0)
    assert tally.plain.squares == 0
    assert tally.adjusted is not None
    assert tally.adjusted.squares == pytest.approx(0, abs=1e-6)


def test_adjusted_results_are_a_function_of_the_plan() -> None:
    chosen = plan("maniac", "random", adjust=True, chunk_pairs=10)
    again = HoldemGame().play_chunk(Chunk(chosen, (0, 1), 0, (ManiacBot, RandomBot)))
    assert play_chunk(chosen, (0, 1), 0).adjusted == again.adjusted


def widths(one: str, other: str, chunks: int) -> tuple[float, float]:
    """The widths of the intervals of a match in duplicate with luck adjustment, and of plain hands."""

    def match(*, duplicate: bool, adjust: bool) -> Tally:
        chosen = plan(one, other, duplicate=duplicate, adjust=adjust, chunk_pairs=100)
        return merge([play_chunk(chosen, (0, 1), number) for number in range(chunks)])

    adjusted, plain = (
        student_interval(match(duplicate=True, adjust=True).result),
        student_interval(match(duplicate=False, adjust=False).result),
    )
    assert adjusted.low < plain.high
    assert plain.low < adjusted.high
    return adjusted.high - adjusted.low, plain.high - plain.low


@pytest.mark.extended
def test_duplicates_and_the_baseline_narrow_the_interval_of_tight_against_caller() -> None:
    adjusted, plain = widths("tight", "caller", chunks=3)
    assert adjusted < 0.5 * plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [("tight", "caller", 0.35), ("equity:20", "caller", 0.5), ("tight", "maniac", 0.55), ("random", "caller", 0.65)],
)
def test_intervals_after_ten_thousand_hands(one: str, other: str, factor: float) -> None:
    adjusted, plain = widths(one, other, chunks=50)
    assert adjusted < factor * plain
