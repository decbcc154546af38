"""Minds of any game: a table, a script, chance; and how one is asked for by name."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import BotSpec, PolicyBot, RandomBot, ScriptedBot, bot_factory
from croupier.core.dealer import FairDealer
from croupier.rooms import HOUSE_ROOMS

LUCK = FairDealer(bytes(32)).luck
STYLES = {
    "first": BotSpec("the first legal move", lambda: ScriptedBot(["a"])),
    "often": BotSpec("a with this probability", lambda p: PolicyBot({"v": {"a": p, "b": 1 - p}}), Fraction),
    "song": BotSpec("moves in turn", ScriptedBot, lambda text: text.split(","), is_stateful=True),
}


@given(st.lists(st.text("abc", min_size=1, max_size=1), min_size=1, max_size=8), st.integers(1, 20))
def test_a_script_that_is_always_legal_is_played_as_it_is_written(moves: list[str], length: int) -> None:
    script = ScriptedBot(moves)
    assert [script.choose(None, "abc", LUCK) for _ in range(length)] == [moves[n % len(moves)] for n in range(length)]


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.lists(st.sampled_from(["ab", "bc", "d"]), max_size=9)
)
def test_a_script_only_ever_plays_what_is_legal(moves: list[str], offers: list[str]) -> None:
    script = ScriptedBot(moves)
    for legal in offers:
        move = script.choose(None, legal, LUCK)
        assert move in legal
        assert move in moves or move == legal[0]


@given(st.lists(st.integers(), min_size=1, max_size=9))
def test_chance_only_ever_plays_what_is_legal(legal: list[int]) -> None:
    assert RandomBot().choose(None, legal, LUCK) in legal


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 9), min_size=1).filter(lambda row: any(row.values())),
    st.sets(st.sampled_from("abcde"), min_size=1),
)
def test_a_policy_only_ever_plays_what_is_legal(row: dict[str, int], offered: set[str]) -> None:
    total, legal = sum(row.values()), tuple(sorted(offered))
    policy = PolicyBot({"v": {move: Fraction(weight, total) for move, weight in row.items()}})
    for _ in range(5):
        move = policy.choose("v", legal, LUCK)
        assert move in legal
        assert row.get(move) or not any(row.get(other) for other in legal)


def test_a_policy_never_plays_what_it_gives_no_chance() -> None:
    policy = PolicyBot({"v": {"a": Fraction(0), "b": Fraction(1), "c": Fraction(0)}})
    assert {policy.choose("v", "abc", LUCK) for _ in range(100)} == {"b"}
    assert policy.choose("v", "ac", LUCK) == "a", "nothing is left of the row, so the first legal move"


def test_a_policy_that_leans_to_one_side_does_so() -> None:
    policy = PolicyBot({"v": {"a": Fraction(9, 10), "b": Fraction(1, 10)}})
    found = Counter(policy.choose("v", "ab", LUCK) for _ in range(1000))
    assert abs(found["a"] - 900) < 5 * (1000 * 0.09) ** 0.5


@pytest.mark.parametrize("row", [{"a": Fraction(1, 3)}, {"a": Fraction(2)}, {"a": Fraction(2), "b": Fraction(-1)}])
def test_a_row_that_is_no_distribution_is_refused_with_its_view(row: dict[str, Fraction]) -> None:
    with pytest.raises(ValueError, match=r"^the view: found the probabilities"):
        PolicyBot({"the view": row})


@pytest.mark.parametrize("spec", ["", "last", "first:1", "often", "often:", "often:x", "often:1/0", "often:2"])
def test_what_no_style_can_make_is_refused_with_what_was_found_and_allowed(spec: str) -> None:
    with pytest.raises(ValueError, match="allowed: ") as refusal:
        bot_factory(STYLES, spec)
    assert f"found the mind {spec!r}" in str(refusal.value)


def test_a_mind_that_remembers_is_made_anew_for_every_table() -> None:
    song, first = bot_factory(STYLES, "song:a,b"), bot_factory(STYLES, "first")
    assert [song().choose(None, "ab", LUCK) for _ in range(3)] == ["a", "a", "a"]
    assert song() is not song()
    assert first() is first()


def test_an_argument_may_hold_colons() -> None:
    assert bot_factory(STYLES, "song:x:y")().choose(None, ("x:y", "z"), LUCK) == "x:y"


@pytest.mark.parametrize("room", ["kuhn", "sevenhalf", "blackjack"])
@pytest.mark.parametrize("spec", ["script", "script:"])
def test_a_script_without_moves_is_refused_in_words_for_people(room: str, spec: str) -> None:
    with pytest.raises(ValueError, match=r"found the mind 'script:?': .*; allowed: ") as raised:
        bot_factory(HOUSE_ROOMS[room].bots, spec)
    assert "__init__" not in str(raised.value)
