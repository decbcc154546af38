"""The house of Kuhn poker: what it never tells, how it plays, and its till."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.referee import HOUSE
from croupier.core.session import Joined, Received, Send, Settle, TimedOut, Timeouts
from croupier.core.transcript import Transcript, make_hall
from croupier.rooms.kuhn import ROOM, Settings
from croupier.rooms.kuhn.referee import Referee
from croupier.rooms.kuhn.rules import P_1, P_2
from croupier.rooms.kuhn.wire import ACTN, CARD, STRT, VOCABULARY, Card
from tests.properties.random_session import Step, heads, run_session, steps
from tests.properties.self_play import SelfPlay

SWAPPED = {P_1: ("Q K J", "Q J K"), P_2: ("K Q J", "J Q K")}
"""Decks that deal the client a queen in a seat, and the house one or the other of the remaining cards."""

SCRIPTS = ["CHK CAL", "CHK FLD", "BET CAL", "BET FLD"]


def heard(deck: str, script: str, said: Sequence[object]) -> list[object]:
    """All that a client hears until its first game is settled; a card shown at its showdown is left out."""
    night = run_session(ROOM, {"deck": deck, "house": script, "coins": "2"}, [("says", 1, message) for message in said])
    found: list[object] = []
    for _, effects in night.facts:
        messages = [effect.message for effect in effects if isinstance(effect, Send)]
        if any(isinstance(effect, Settle) for effect in effects):
            return [*found, *(message for message in messages if not isinstance(message, Card))]
        found += messages
    return found


@pytest.mark.parametrize("seat", [P_1, P_2])
@pytest.mark.parametrize("script", SCRIPTS)
def test_nothing_before_a_showdown_depends_on_the_card_of_the_house(seat: int, script: str) -> None:
    """All clients that say up to three of the twelve messages after STRT."""
    start = [*STRT.values()][seat]
    for length in range(4):
        for said in product(VOCABULARY, repeat=length):
            first, second = (heard(deck, script, [start, *said]) for deck in SWAPPED[seat])
            assert first == second
            assert CARD["Q"] in first


@given(st.lists(st.sampled_from(VOCABULARY), max_size=20), st.sampled_from([P_1, P_2]), st.sampled_from(SCRIPTS))
def test_nothing_before_a_showdown_ever_depends_on_it(said: list[object], seat: int, script: str) -> None:
    first, second = (heard(deck, script, [[*STRT.values()][seat], *said]) for deck in SWAPPED[seat])
    assert first == second


@settings(deadline=None)
@given(heads(ROOM), steps(ROOM))
def test_the_purse_is_what_the_games_have_made_of_it(head: dict[str, str], happening: list[Step]) -> None:
    """A referee with an account of its own finds every refusal for want of coins right, and none of them missing."""
    purse = int(head.get("coins", "10"))
    night = run_session(ROOM, head, happening, lambda: Referee(coins=purse))
    assert [verdict for verdict in night.verdicts if verdict.end == HOUSE] == []
    for guest in night.peers:
        assert purse + sum(settle.net for settle in night.effects(Settle, guest)) >= 0


def test_the_house_plays_the_equilibrium_unless_told_otherwise() -> None:
    assert Settings().bot == "equilibrium"
    assert Settings().coins == 10


def test_negative_coins_are_refused() -> None:
    with pytest.raises(ValueError, match="found -1 coins; allowed: 0 or more"):
        ROOM.house(Settings(coins=-1), Timeouts(), False)


def test_an_unknown_mind_is_refused_before_anybody_is_seated() -> None:
    with pytest.raises(ValueError, match="found the bot 'shark'"):
        ROOM.house(Settings(bot="shark"), Timeouts(), False)


class First:
    """A mind that makes the same choice for ever."""

    def __init__(self, action: str) -> None:
        self.action = action

    def choose(self, view: object, legal: Sequence[str], luck: object) -> str:
        return self.action if self.action in legal else legal[0]


def test_the_same_seed_deals_and_decides_the_same_way() -> None:
    one, other = (SelfPlay(ROOM, First("BET"), {"seed": "7", "coins": "100"}) for _ in range(2))
    one.play(60)
    other.play(60)
    assert one.notices == other.notices


@pytest.mark.parametrize("games", [600, pytest.param(60_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
def test_against_a_bet_the_equilibrium_calls_with_king_and_sometimes_with_queen(games: int) -> None:
    """Counted over fixed seeds: it folds every jack, calls every king, and a third of the queens."""
    calls: Counter[str] = Counter()
    hands: Counter[str] = Counter()
    house = make_hall(ROOM, Transcript("calls", "calls", (), {"seed": "3", "coins": "10000000"}, ()))
    house.on(Joined(1), 0.0)
    for _ in range(games):
        house.on(Received(1, STRT["P_1"]), 0.0)
        effects = house.on(Received(1, ACTN["BET"]), 0.0)
        (settle,) = (effect for effect in effects if isinstance(effect, Settle))
        card = settle.state.cards[P_2]
        hands[card] += 1
        calls[card] += effects[0] == Send(1, CARD[card])
    assert calls["J"] == 0
    assert calls["K"] == hands["K"]
    assert abs(calls["Q"] - hands["Q"] / 3) < 5 * (hands["Q"] * 2 / 9) ** 0.5
    assert all(abs(hands[card] - games / 3) < 5 * (games * 2 / 9) ** 0.5 for card in "JQK")


def test_a_limit_on_a_decision_begins_again_with_the_next_decision() -> None:
    night = run_session(
        ROOM,
        {"deck": "Q K J", "house": "BET", "move": "10", "idle": "30"},
        [("says", 1, STRT["P_1"]), ("waits", 8), ("says", 1, ACTN["CHK"]), ("waits", 8), ("says", 1, ACTN["CAL"])],
    )
    assert [settle.net for settle in night.effects(Settle)] == [-2]
    assert not [effects for event, effects in night.facts if isinstance(event, TimedOut) and effects]
