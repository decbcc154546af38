"""Generic bots: policy, script and random; and their creation by name."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import BotSpec, PolicyBot, RandomBot, ScriptedBot, bot_factory
from croupier.core.dealer import FairDealer
from croupier.rooms import HOUSE_ROOMS

LUCK = FairDealer(bytes(32)).luck
SPECS = {
    "first": BotSpec("the first legal move", lambda: ScriptedBot(["a"])),
    "often": BotSpec("a with this probability", lambda p: PolicyBot({"v": {"a": p, "b": 1 - p}}), Fraction),
    "song": BotSpec("moves in turn", ScriptedBot, lambda text: text.split(","), is_stateful=True),
}


@given(st.lists(st.text("abc", min_size=1, max_size=1), min_size=1, max_size=8), st.integers(1, 20))
def test_script_of_legal_moves_is_played_in_order(moves: list[str], length: int) -> None:
    script = ScriptedBot(moves)
    assert [script.choose(None, "abc", LUCK) for _ in range(length)] == [moves[n % len(moves)] for n in range(length)]


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.lists(st.sampled_from(["ab", "bc", "d"]), max_size=9)
)
def test_scripted_bot_plays_only_legal_moves(moves: list[str], offers: list[str]) -> None:
    script = ScriptedBot(moves)
    for legal in offers:
        move = script.choose(None, legal, LUCK)
        assert move in legal
        assert move in moves or move == legal[0]


@given(st.lists(st.integers(), min_size=1, max_size=9))
def test_random_bot_plays_only_legal_moves(legal: list[int]) -> None:
    assert RandomBot().choose(None, legal, LUCK) in legal


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9), min_size=1).filter(lambda row: any(row.values())),
    st.sets(st.sampled_from("abcde"), min_size=1),
)
def test_policy_bot_plays_only_legal_moves(row: dict[str, int], offered: set[str]) -> None:
    total, legal = sum(row.values()), tuple(sorted(offered))
    policy = PolicyBot({"v": {move: Fraction(weight, total) for move, weight in row.items()}})
    for _ in range(5):
        move = policy.choose("v", legal, LUCK)
        assert move in legal
        assert row.get(move) or not any(row.get(other) for other in legal)


def test_policy_bot_never_plays_a_move_of_probability_0() -> None:
    policy = PolicyBot({"v": {"a": Fraction(0), "b": Fraction(1), "c": Fraction(0)}})
    assert {policy.choose("v", "abc", LUCK) for _ in range(100)} == {"b"}
    assert policy.choose("v", "ac", LUCK) == "a", "the row has no legal move, so the first legal move is played"


def test_policy_bot_plays_with_the_given_probabilities() -> None:
    policy = PolicyBot({"v": {"a": Fraction(9, 10), "b": Fraction(1, 10)}})
    found = Counter(policy.choose("v", "ab", LUCK) for _ in range(1000))
    assert abs(found["a"] - 900) < 5 * (1000 * 0.09) ** 0.5


@pytest.mark.parametrize("row", [{"a": Fraction(1, 3)}, {"a": Fraction(2)}, {"a": Fraction(2), "b": Fraction(-1)}])
def test_row_that_is_not_a_distribution_raises_value_error_with_its_view(row: dict[str, Fraction]) -> None:
    with pytest.raises(ValueError, match=r"^the view: found the probabilities"):
        PolicyBot({"the view": row})


@pytest.mark.parametrize("spec", ["", "last", "first:1", "often", "often:", "often:x", "often:1/0", "often:2"])
def test_invalid_bot_names_and_arguments_raise_value_error(spec: str) -> None:
    with pytest.raises(ValueError, match="allowed: ") as refusal:
        bot_factory(SPECS, spec)
    assert f"found the bot {spec!r}" in str(refusal.value)


def test_stateful_bot_is_made_anew_for_every_table() -> None:
    song, first = bot_factory(SPECS, "song:a,b"), bot_factory(SPECS, "first")
    assert [song().choose(None, "ab", LUCK) for _ in range(3)] == ["a", "a", "a"]
    assert song() is not song()
    assert first() is first()


def test_argument_may_contain_colons() -> None:
    assert bot_factory(SPECS, "song:x:y")().choose(None, ("x:y", "z"), LUCK) == "x:y"


@pytest.mark.parametrize("room", ["kuhn", "sevenhalf", "blackjack"])
@pytest.mark.parametrize("spec", ["script", "script:"])
def test_script_without_moves_raises_a_readable_error(room: str, spec: str) -> None:
    with pytest.raises(ValueError, match=r"found the bot 'script:?': .*; allowed: ") as raised:
        bot_factory(HOUSE_ROOMS[room].bots, spec)
    assert "__init__" not in str(raised.value)
