"""A chunk is a pure function of its plan, and a fault of a bot is a result."""

from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest
from msgspec.structs import replace

from croupier.arena.baselines.kuhn import RANDOM_VALUES
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.tally import Fault, Tally, merge
from tests.arena import bots
from tests.arena.enumeration import exact, pair_values, policy_of
from tests.sampling import extended

FILE = Path(bots.__file__)
RAISING_LINE = 1 + next(n for n, line in enumerate(FILE.read_text().splitlines()) if "raise RuntimeError" in line)
PLAN = Plan("kuhn", ("equilibrium", "book:always-bet", "random"), pairs=1000, seed=1, duplicate=True, adjust="any")


def against(bot: str) -> Tally:
    return play_chunk(replace(PLAN, bots=("book", f"{FILE}:{bot}")), (0, 1), 3)


def test_a_chunk_depends_on_nothing_but_its_plan_pairing_and_number() -> None:
    assert play_chunk(PLAN, (0, 1), 3) == play_chunk(PLAN, (0, 1), 3)
    others = [
        play_chunk(replace(PLAN, seed=2), (0, 1), 3),
        play_chunk(PLAN, (0, 2), 3),
        play_chunk(PLAN, (0, 1), 4),
        play_chunk(replace(PLAN, duplicate=False), (0, 1), 3),
    ]
    assert play_chunk(PLAN, (0, 1), 3) not in others


def test_adjustment_does_not_change_what_is_played() -> None:
    plain = play_chunk(replace(PLAN, adjust=None), (0, 1), 3)
    assert replace(play_chunk(PLAN, (0, 1), 3), adjusted=None) == plain


@pytest.mark.parametrize("opponent", extended(["book:always-bet", "book:never-bet", "random"], 3))
@pytest.mark.parametrize("duplicate", [False, True])
def test_played_hands_have_the_exact_mean_and_variance(opponent: str, duplicate: bool) -> None:
    plan = Plan("kuhn", ("equilibrium", opponent), pairs=20_000, seed=5, duplicate=duplicate, adjust="any")
    tally = merge([play_chunk(plan, (0, 1), chunk) for chunk in range(plan.chunks)])
    assert tally.known == (True, True)
    assert tally.adjusted is not None
    bot, other = policy_of("equilibrium"), policy_of(opponent)
    for moments, values in ((tally.plain, None), (tally.adjusted, RANDOM_VALUES)):
        exact_values = pair_values(bot, other, duplicate=duplicate, values=values, known=(True, True))
        mean = float(sum(value * chance for value, chance in exact_values.items()))
        variance, fourth = (
            sum((float(value) - mean) ** power * float(chance) for value, chance in exact_values.items())
            for power in (2, 4)
        )
        assert abs(moments.mean - mean) <= 3 * sqrt(variance / moments.count)
        assert abs(moments.variance - variance) <= 3 * sqrt((fourth - variance**2) / moments.count)


def test_the_ends_of_pairs_are_counted() -> None:
    tally = play_chunk(PLAN, (0, 1), 0)
    assert sum(tally.ends.values()) == tally.pairs == 100
    assert merge([tally, tally]).ends == {key: 2 * count for key, count in sorted(tally.ends.items())}


@pytest.mark.parametrize("room", ["kuhn", "sevenhalf", "blackjack"])
def test_an_exception_costs_the_default_move_and_is_a_fault(room: str) -> None:
    tally = play_chunk(Plan(room, ("random", f"{FILE}:Raises"), pairs=100, seed=1), (0, 1), 0)
    assert {(fault.bot, fault.reason) for fault in tally.faults} == {
        (1, f"line {RAISING_LINE}: RuntimeError: ('no idea', <object object>)")
    }
    assert (tally.pairs, tally.forfeit) == (100, None)


def test_a_fault_names_its_hand() -> None:
    tally = against("Raises:1")
    assert [fault.hand for fault in tally.faults] == [601, 701], "the first of each seating of the fourth chunk"


@pytest.mark.parametrize("room", ["kuhn", "sevenhalf", "blackjack"])
def test_three_faults_in_a_chunk_are_a_forfeit(room: str) -> None:
    tally = play_chunk(Plan(room, ("random", f"{FILE}:Illegal"), pairs=100, seed=1), (0, 1), 0)
    assert (tally.pairs, tally.forfeit) == (0, 1)
    assert [fault.reason.partition("; allowed: ")[0] for fault in tally.faults] == ["the illegal move ['CHK']"] * 3


def test_a_bot_that_can_not_be_made_forfeits(tmp_path: Path) -> None:
    file = tmp_path / "once.py"
    file.write_text(
        "class Once:\n"
        "    made = 0\n"
        "    def __init__(self):\n"
        "        Once.made += 1\n"
        "        assert Once.made <= 2, 'only to find errors'\n"
        "    def choose(self, view, legal, luck):\n"
        "        return legal[0]\n"
    )
    tally = play_chunk(Plan("kuhn", (f"{file}:Once", "random"), pairs=100, seed=1), (0, 1), 0)
    assert (tally.forfeit, tally.faults) == (0, (Fault(0, 1, "line 5: AssertionError: only to find errors"),))


def test_the_arena_plays_what_a_bot_publishes_so_a_lie_shifts_nothing() -> None:
    plan = Plan("kuhn", (f"{FILE}:Liar", "book:always-bet"), pairs=10_000, seed=1, adjust="any")
    tally = merge([play_chunk(plan, (0, 1), chunk) for chunk in range(plan.chunks)])
    mean = float(exact(policy_of("random"), policy_of("book:always-bet")).mean)
    assert tally.adjusted is not None
    for moments in (tally.plain, tally.adjusted):
        assert abs(moments.mean - mean) <= 3 * sqrt(moments.variance / moments.count)


def test_probabilities_that_are_none_are_faults() -> None:
    tally = against("Unsure")
    assert tally.forfeit == 1
    assert tally.faults[0].reason.startswith("ValueError: found the probabilities")
    assert str(Fraction(1, 3)) not in tally.faults[0].reason.split("(")[0]


def test_a_room_without_a_game_and_a_bot_that_does_not_exist_are_errors() -> None:
    with pytest.raises(
        ValueError, match="found the room 'oldmaid', which the arena does not play; allowed: kuhn, sevenhalf"
    ):
        play_chunk(replace(PLAN, room="oldmaid", bots=("random", "first")), (0, 1), 0)
    with pytest.raises(ValueError, match="found the bot 'clever'"):
        play_chunk(replace(PLAN, bots=("random", "clever")), (0, 1), 0)
