"""Bots for Kuhn poker and their specifications."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import PolicyBot, RandomBot, bot_factory
from croupier.core.dealer import FairDealer
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.bots import BOT_SPECS, DEFAULT_ALPHA, equilibrium_bot
from croupier.rooms.kuhn.rules import BETTING_TREE, CARDS, View
from tests.properties.random_session import bot_names
from tests.rooms.kuhn.action_odds import chances, row

THIRD = Fraction(1, 3)
CHECKED, BET_INTO, CHECK_RAISED = ("CHK",), ("BET",), ("CHK", "BET")


@given(st.fractions(0, THIRD, max_denominator=1000))
def test_the_equilibrium_is_the_one_kuhn_found(alpha: Fraction) -> None:
    plan = chances(equilibrium_bot(alpha))
    assert [plan[View(card, ())]["BET"] for card in CARDS] == [alpha, 0, 3 * alpha]
    assert [plan[View(card, CHECK_RAISED)]["CAL"] for card in CARDS] == [0, alpha + THIRD, 1]
    assert [plan[View(card, CHECKED)]["BET"] for card in CARDS] == [THIRD, 0, 1]
    assert [plan[View(card, BET_INTO)]["CAL"] for card in CARDS] == [0, THIRD, 1]


def test_the_default_alpha_is_one_third() -> None:
    assert DEFAULT_ALPHA == THIRD
    assert chances(bot_factory(BOT_SPECS, "equilibrium")()) == chances(equilibrium_bot(THIRD))


@pytest.mark.parametrize("alpha", ["-1/100", "34/100", "1", "2/3"])
def test_alpha_out_of_range_is_refused(alpha: str) -> None:
    with pytest.raises(ValueError, match=r"allowed: 0 to 1/3"):
        equilibrium_bot(Fraction(alpha))
    with pytest.raises(ValueError, match=f"found the bot 'equilibrium:{alpha}'.*allowed"):
        bot_factory(BOT_SPECS, f"equilibrium:{alpha}")


@pytest.mark.parametrize("alpha", ["0", "1/6", "0.25", "1/3"])
def test_alpha_is_the_argument_of_the_bot_spec(alpha: str) -> None:
    assert chances(bot_factory(BOT_SPECS, f"equilibrium:{alpha}")()) == chances(equilibrium_bot(Fraction(alpha)))


SCRIPTS = ["script", "script:", "script:CHK,RSE", "script:CHK BET"]
ALPHAS = ["equilibrium:", "equilibrium:x", "equilibrium:1/0", "equilibrium:nan", "equilibrium:inf"]


@pytest.mark.parametrize("spec", ["", ":", "equilibirum", "EQUILIBRIUM", "random:1", "book:shark", *SCRIPTS, *ALPHAS])
def test_invalid_bot_spec_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="allowed") as refusal:
        bot_factory(BOT_SPECS, spec)
    assert repr(spec) in str(refusal.value)


def test_unknown_bot_error_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="found the bot 'shark'") as refusal:
        bot_factory(BOT_SPECS, "shark")
    assert all(name in str(refusal.value) for name in BOT_SPECS)


@pytest.mark.parametrize("alpha", ["1/70000", "0.123456", "1/65537"])
def test_alpha_beyond_the_random_resolution_is_refused_or_exact(alpha: str) -> None:
    """Random numbers have bounds up to 65,536; a bot that needs a larger one would never finish and must be refused."""
    try:
        mind = bot_factory(BOT_SPECS, f"equilibrium:{alpha}")()
    except ValueError:
        return
    for card in CARDS:
        for history, (_, legal) in BETTING_TREE.items():
            first = row(mind, View(card, history), legal)
            assert sum(first.values()) == 1
            assert max(value.denominator for value in first.values()) <= 65_536


@pytest.mark.parametrize(
    ("style", "puts_in"), [("always-bet", "JQK"), ("never-bet", ""), ("king-only", "K"), ("no-jack", "QK")]
)
def test_habit_bots_put_a_coin_in_with_their_cards_only(style: str, puts_in: str) -> None:
    for view, found in chances(bot_factory(BOT_SPECS, f"book:{style}")()).items():
        assert found.get("BET", 0) + found.get("CAL", 0) == (view.card in puts_in)


def test_check_call_never_bets_and_never_folds() -> None:
    assert all(
        found.get("CHK", 0) + found.get("CAL", 0) == 1
        for found in chances(bot_factory(BOT_SPECS, "book:check-call")()).values()
    )


def test_random_gives_every_legal_action_the_same_chance() -> None:
    assert all(set(found.values()) == {Fraction(1, 2)} for found in chances(RandomBot()).values())
    assert row(RandomBot(), View("Q", ()), ("CHK", "BET", "FLD")) == dict.fromkeys(("CHK", "BET", "FLD"), THIRD)


def test_bots_choose_only_affordable_actions() -> None:
    """With an empty purse only CHK or FLD is legal, and every bot must choose it."""
    luck = FairDealer(bytes(32)).luck
    for name in bot_names(ROOM):
        for card in [*CARDS] * 20:
            assert bot_factory(BOT_SPECS, name)().choose(View(card, ()), ("CHK",), luck) == "CHK"
            assert bot_factory(BOT_SPECS, name)().choose(View(card, BET_INTO), ("FLD",), luck) == "FLD"


@given(st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(any))
def test_a_policy_keeps_to_its_table_exactly(weights: list[int]) -> None:
    table = {number: Fraction(weight, sum(weights)) for number, weight in enumerate(weights)}
    assert row(PolicyBot({"view": table}), "view", tuple(table)) == table


def test_policy_renormalizes_over_legal_actions() -> None:
    policy = PolicyBot({"view": {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 6)}})
    luck = FairDealer(bytes(32)).luck
    assert {policy.choose("view", ("b", "c"), luck) for _ in range(200)} == {"b", "c"}
    assert {policy.choose("view", ("c",), luck) for _ in range(50)} == {"c"}


@pytest.mark.parametrize("table", [{"a": Fraction(1, 2)}, {"a": Fraction(3, 2), "b": Fraction(-1, 2)}])
def test_policy_row_must_be_a_distribution(table: dict[str, Fraction]) -> None:
    with pytest.raises(ValueError, match="allowed: none below 0, and 1 in all"):
        PolicyBot({"view": table})


def test_script_repeats_from_the_start() -> None:
    script = bot_factory(BOT_SPECS, "script:chk, BET,cal")()
    luck = FairDealer(bytes(32)).luck
    acts = [script.choose(View("Q", ()), ("CHK", "BET"), luck) for _ in range(4)]
    assert acts == ["CHK", "BET", "CHK", "BET"], "an illegal call is skipped"
    assert bot_factory(BOT_SPECS, "script:CAL")().choose(View("Q", ()), ("CHK", "BET"), luck) == "CHK"


def test_script_bots_are_per_table_and_others_are_shared() -> None:
    script, random = bot_factory(BOT_SPECS, "script:CHK,BET"), bot_factory(BOT_SPECS, "random")
    luck = FairDealer(bytes(32)).luck
    assert [script().choose(View("Q", ()), ("CHK", "BET"), luck) for _ in range(3)] == ["CHK"] * 3
    assert random() is random()


def test_only_script_requires_an_argument() -> None:
    assert set(BOT_SPECS) - set(bot_names(ROOM)) == {"script"}
