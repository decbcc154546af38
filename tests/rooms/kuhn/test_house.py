"""House of Kuhn poker: information leaks, play and purse."""

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
from tests.sampling import extended

SWAPPED = {P_1: ("Q K J", "Q J K"), P_2: ("K Q J", "J Q K")}
"""Decks that deal the client a queen and the house one of the two other cards, by the client's seat."""

SCRIPTS = ["CHK CAL", "CHK FLD", "BET CAL", "BET FLD"]


def received(deck: str, script: str, sent: Sequence[object]) -> list[object]:
    """All messages to the client until its first game is settled, without the card shown at the showdown."""
    run = run_session(ROOM, {"deck": deck, "house": script, "coins": "2"}, [("says", 1, message) for message in sent])
    found: list[object] = []
    for _, effects in run.facts:
        messages = [effect.message for effect in effects if isinstance(effect, Send)]
        if any(isinstance(effect, Settle) for effect in effects):
            return [*found, *(message for message in messages if not isinstance(message, Card))]
        found += messages
    return found


@pytest.mark.parametrize(("seat", "script"), extended(product([P_1, P_2], SCRIPTS), 10))
def test_house_card_does_not_leak_before_showdown_exhaustive(seat: int, script: str) -> None:
    """For all sequences of up to three of the twelve messages after STRT."""
    start = [*STRT.values()][seat]
    for length in range(4):
        for sent in product(VOCABULARY, repeat=length):
            first, second = (received(deck, script, [start, *sent]) for deck in SWAPPED[seat])
            assert first == second
            assert CARD["Q"] in first


@given(st.lists(st.sampled_from(VOCABULARY), max_size=20), st.sampled_from([P_1, P_2]), st.sampled_from(SCRIPTS))
def test_house_card_does_not_leak_before_showdown_random(sent: list[object], seat: int, script: str) -> None:
    first, second = (received(deck, script, [[*STRT.values()][seat], *sent]) for deck in SWAPPED[seat])
    assert first == second


@settings(deadline=None)
@given(heads(ROOM), steps(ROOM))
def test_purse_equals_the_sum_of_game_results(head: dict[str, str], happening: list[Step]) -> None:
    """A referee that tracks the purse finds every FAIL N_C justified and none missing."""
    purse = int(head.get("coins", "10"))
    run = run_session(ROOM, head, happening, lambda: Referee(coins=purse))
    assert [verdict for verdict in run.verdicts if verdict.party == HOUSE] == []
    for client_ in run.peers:
        assert purse + sum(settle.net for settle in run.effects(Settle, client_)) >= 0


def test_the_house_plays_the_equilibrium_by_default() -> None:
    assert Settings().bot == "equilibrium"
    assert Settings().coins == 10


def test_negative_coins_are_refused() -> None:
    with pytest.raises(ValueError, match="found -1 coins; allowed: 0 or more"):
        ROOM.house(Settings(coins=-1), Timeouts(), False)


def test_unknown_house_bot_is_refused_at_configuration() -> None:
    with pytest.raises(ValueError, match="found the bot 'shark'"):
        ROOM.house(Settings(bot="shark"), Timeouts(), False)


class First:
    """A bot that always prefers the same action."""

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
    """Over fixed seeds: it folds every jack, calls every king, and calls a third of the queens."""
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


def test_move_timeout_restarts_with_each_decision() -> None:
    run = run_session(
        ROOM,
        {"deck": "Q K J", "house": "BET", "move": "10", "idle": "30"},
        [("says", 1, STRT["P_1"]), ("waits", 8), ("says", 1, ACTN["CHK"]), ("waits", 8), ("says", 1, ACTN["CAL"])],
    )
    assert [settle.net for settle in run.effects(Settle)] == [-2]
    assert not [effects for event, effects in run.facts if isinstance(event, TimedOut) and effects]
