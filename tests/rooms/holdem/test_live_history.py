"""The live history of a hold'em table infers from states what players have done, and words it."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from croupier.rooms.holdem.live_history import LiveHistory, is_running
from croupier.rooms.holdem.wire import Game
from tests.rooms.holdem.house_fixture import HouseFixture, duel, trio

USERS = ("ann", "bob", "cat", "dan")


class Watched:
    """A house whose states one user sees, or a watcher without a name, with their history."""

    def __init__(self, house: HouseFixture, user: str | None = "ann") -> None:
        self.house = house
        self.history = LiveHistory()
        self._user = user
        self.first = self.see()

    def see(self) -> list[str]:
        """Return the sentences about what has happened since the last state."""
        own = "" if self._user is None else self.house.house.guid_of(self._user)
        return [str(text) for text in self.history.update(self.house.view(self._user), own)]

    def play(self, line: str, *, skipping: bool = False) -> list[str]:
        """Return the sentences about acts, of which every state is seen, or with `skipping` only the last."""
        if skipping:
            self.house.play(line)
            return self.see()
        seen = []
        for act in line.split(", "):
            self.house.play(act)
            seen += self.see()
        return seen


def test_every_act_and_street_has_a_sentence() -> None:
    acts = "ann 10, bob 40, ann 40, bob 0, ann 60, bob 60, bob 0, ann 0, bob 20, ann 20"
    assert Watched(duel()).play(acts) == [
        "You call 10.",
        "bob raises to 60.",
        "You call 40.",
        "Flop: the king of spades, the queen of hearts, the 9 of clubs.",
        "bob checks.",
        "You bet 60.",
        "bob calls 60.",
        "Turn: the 8 of diamonds.",
        "bob checks.",
        "You check.",
        "River: the 4 of hearts.",
        "bob bets 20.",
        "You win 140.",
        "Hand 2: bob has the button.",
    ]


def test_an_all_in_is_marked() -> None:
    assert Watched(duel(stack=100)).play("ann 90")[0] == "You raise to 100, all-in."
    assert Watched(duel(stack=100), user="bob").play("ann 90")[0] == "ann raises to 100, all-in."


def test_missed_acts_are_inferred() -> None:
    assert Watched(duel()).play("ann 10, bob 0, bob 20", skipping=True) == [
        "You call 10.",
        "bob checks.",
        "Flop: the king of spades, the queen of hearts, the 9 of clubs.",
        "bob bets 20.",
    ]
    acts = "bob fold, cat 10, ann 0, cat 0"
    everything = Watched(trio()).play(acts)
    assert Watched(trio()).play(acts, skipping=True) == everything
    assert everything[:3] == ["bob folds.", "cat calls 10.", "You check."]


def test_a_fold_that_ends_the_hand_is_inferred() -> None:
    assert Watched(duel()).play("ann fold")[:2] == ["You fold.", "bob wins 10."]
    assert Watched(duel()).play("ann 10, bob 0, bob 0, ann 20, bob fold")[-3:-1] == ["bob folds.", "You win 20."]


def test_a_call_that_ends_the_hand_is_no_fold() -> None:
    assert "bob folds." not in Watched(duel(stack=100)).play("ann 90, bob 80")


def test_the_end_of_a_hand_is_described_once() -> None:
    watched = Watched(duel(pause_seconds=5.0))
    seen = watched.play("ann 10, bob 20, ann fold")
    watched.house.wait(5.0)
    assert [*seen, *watched.see()][-3:] == ["You fold.", "bob wins 20.", "Hand 2: bob has the button."]


def test_the_results_that_the_player_has_counted_replace_its_wins() -> None:
    house = duel()
    history = LiveHistory()
    ann = house.house.guid_of("ann")
    history.update(house.view("ann"), ann)
    for act in ("ann 10", "bob 0", "bob 0", "ann 20"):
        house.play(act)
        history.update(house.view("ann"), ann)
    house.play("bob fold")
    seen = [str(text) for text in history.update(house.view("ann"), ann, [20])]
    assert seen == ["bob folds.", "You win 20 chips.", "Hand 2: bob has the button."]
    assert history.winners == []


def test_joining_and_leaving_players_are_described() -> None:
    house = HouseFixture(turn_seconds=10.0)
    house.join("ann")
    watched = Watched(house)
    for user in ("bob", "cat"):
        house.join(user)
        watched.first += watched.see()
    assert watched.first[:2] == ["bob sits down.", "Hand 1: you have the button."]
    watched.play("ann 10, bob 0")
    house.leave("bob")
    assert watched.see()[-4:-1] == ["You win 20.", "bob leaves.", "cat sits down."]


def test_a_player_who_leaves_during_a_hand_is_described() -> None:
    watched = Watched(trio())
    watched.house.leave("cat")
    assert watched.first == ["Hand 1: bob has the button."]
    assert watched.see() == ["cat leaves."]
    guids = watched.house.house
    assert (watched.history.button, watched.history.big_blind) == (guids.guid_of("bob"), guids.guid_of("ann"))


def test_a_hand_that_is_first_seen_on_the_flop_begins_there() -> None:
    house = duel(decks="AS 2C AH 2D KS QH 9C 8D 4H", ante=5)
    house.play("ann 10, bob 0")
    watched = Watched(house, "bob")
    assert watched.first == [
        "Hand 1: ann has the button.",
        "Flop: the king of spades, the queen of hearts, the 9 of clubs.",
    ]
    assert set(watched.history.stacks_before.values()) == {10_000}
    assert "You win 25." in watched.play("bob 20, ann fold")


def test_invalid_cards_of_winners_are_left_out() -> None:
    watched = Watched(duel(dialect="hspe-go"))
    watched.house.play("ann 9990, bob 9980")
    end = msgspec.json.decode(msgspec.json.encode(watched.house.view("ann")))
    ann = watched.house.house.guid_of("ann")
    assert "You win 10000 with the ace of spades, " in " ".join(
        map(str, Watched(duel(dialect="hspe-go")).play("ann 9990, bob 9980"))
    )
    end["last_winners"][0]["Hand"][0] = "\x1b[2J"
    assert "You win 10000." in map(str, watched.history.update(msgspec.convert(end, Game), ann))


def random_states(
    house: HouseFixture, luck: Random, user: str | None, acts: int = 40
) -> Iterator[tuple[Game, list[tuple[int, ...]]]]:
    """Yield the states that a user sees during random acts, each with the nets of hands that have just ended."""
    ended = len(house.nets)
    yield house.view(user), []
    for _ in range(acts):
        act_at_random(house, luck)
        yield house.view(user), house.nets[ended:]
        ended = len(house.nets)


def act_at_random(house: HouseFixture, luck: Random) -> None:
    """Let the player to act do something at random, or the pause between two hands pass."""
    who = house.turn()
    if not who:
        if house.house.deadline is not None:
            house.wait(1.0)
        return
    turn, stack = house.view().turn, house.chips()[who]
    call = min(turn.bet_to_player - turn.bet_so_far, stack)
    chips = luck.choice([call, call, call, call + turn.minimum_raise, call + 3 * turn.minimum_raise, stack])
    if luck.random() < 0.2:
        house.fold(who)
    else:
        house.bet(who, min(stack, chips))


@pytest.mark.parametrize("rules", [{}, {"ante": 3}, {"straddle": 40}, {"pause_seconds": 1.0}, {"dialect": "hspe-go"}])
@given(st.integers(0, 10**6), st.sampled_from([None, "ann"]))
@example(3264, None)  # a player who wins with the last chips posts the big blind of the next hand with all that was won
def test_every_win_is_described_with_its_chips(rules: dict[str, Any], seed: int, user: str | None) -> None:
    house = HouseFixture(seed=seed, stack=2000, **rules)
    house.join(*USERS)
    history = LiveHistory()
    own = "" if user is None else house.house.guid_of(user)
    was_running = False
    for game, nets in random_states(house, Random(seed), user):
        texts = map(str, history.update(game, own))
        wins = [int(found[1]) for line in texts if (found := re.search(r" wins? (\d+)\b", line))]
        if len(nets) == was_running or not nets:  # otherwise some hands were not seen at all
            assert sorted(wins) == sorted(net for hand in nets for net in hand if net > 0)
            assert sorted(chips for _, chips in history.winners) == sorted(wins)
        was_running = is_running(game)


@given(st.integers(0, 10**6), st.sampled_from([None, "ann"]), st.floats(0.1, 0.9))
def test_missed_states_do_not_break_the_history(seed: int, user: str | None, missed: float) -> None:
    house = HouseFixture(seed=seed, stack=500, ante=1)
    house.join(*USERS)
    luck = Random(seed)
    history = LiveHistory()
    names = "|".join(("You", *USERS))
    for game, _ in random_states(house, luck, user):
        if luck.random() > missed:
            for text in history.update(game, "" if user is None else house.house.guid_of(user)):
                assert re.match(f"({names}) [a-z]+|(Flop|Turn|River): |Hand ", str(text))
