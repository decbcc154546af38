"""Games as numbers: the actions are moves of the rules, and observations show what a seat knows."""

import random
from typing import Any

import pytest
from examples.leduc import RULES as LEDUC

from croupier.environments import aec, gym
from croupier.environments.games import find_game
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import STAKES
from tests.sampling import example_count

ALL_GAMES: list[tuple[Any, dict[str, Any]]] = [
    ("kuhn", {}),
    ("sevenhalf", {}),
    ("sevenhalf", {"max_bet": 300}),
    ("blackjack", {}),
    ("holdem", {"stack": 300}),
    ("holdem", {"seats": 6, "raises": (50, 100, 200)}),
    (LEDUC, {}),
]


@pytest.mark.hypothesis
@pytest.mark.parametrize(("game", "options"), ALL_GAMES)
def test_random_hands_stay_within_their_bounds(game: Any, options: dict[str, Any]) -> None:
    found, choice = find_game(game, **options), random.Random(1)
    for number in range(example_count(100)):
        hand = found.deal(1, number)
        while (turn := hand.turn) is not None:
            for seat in range(found.seats):
                observed = hand.observe(seat)
                assert len(observed) == len(found.feature_names)
                assert all(0 <= value <= high for value, high in zip(observed, found.feature_highs, strict=True))
            assert all(move in hand.legal for move in hand.moves.values())
            assert set(hand.moves) <= set(range(len(found.action_names)))
            assert hand.view(turn) is not None
            hand.play(hand.moves[choice.choice(sorted(hand.moves))])
        assert not hand.moves
        assert min(hand.rewards()) >= -found.max_loss


@pytest.mark.parametrize(("game", "options"), ALL_GAMES)
def test_equal_numbers_deal_equal_hands(game: Any, options: dict[str, Any]) -> None:
    found = find_game(game, **options)

    def starts(seed: int) -> list[str]:
        hands = [found.deal(seed, number) for number in range(20)]
        for hand in hands:
            if hand.turn is not None:
                hand.play(next(iter(hand.moves.values())))
        return [hand.describe(seat) for hand in hands for seat in range(found.seats)]

    assert starts(1) == starts(1) != starts(2)


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_actions_of_holdem_are_those_of_fcpa(seats: int) -> None:
    found, choice = find_game("holdem", seats=seats, stack=500), random.Random(2)
    for number in range(200):
        hand: Any = found.deal(3, number)
        while hand.turn is not None:
            moves = [hand.moves[action] for action in sorted(hand.moves)]
            assert moves == [*hand._hand.fcpa]
            hand.play(choice.choice(moves))


def test_raises_are_percents_of_the_pot_after_the_call() -> None:
    hand = find_game("holdem", raises=(50, 75)).deal(1, 1)
    assert hand.moves == {0: "fold", 1: 10, 2: 30, 3: 40, 4: 9990}


def test_a_seat_of_holdem_observes_its_own_cards_and_the_board_only() -> None:
    found = find_game("holdem")
    hand: Any = found.deal(1, 1)
    mirrored = Hand([10_000] * 2, button=0, stakes=STAKES)
    cards = [*hand._hand._cards]
    cards[0], cards[10], cards[2], cards[11] = cards[10], cards[0], cards[11], cards[2]  # other cards for the rival
    mirrored.deal_from(cards)
    other = type(hand)(found, mirrored)
    seat = 1 if [*hand._hand.holes[1]] == [*mirrored.holes[1]] else 0
    assert hand._hand.holes != mirrored.holes
    assert hand.observe(seat) == other.observe(seat)
    assert hand.describe(seat) == other.describe(seat)


def test_actions_and_features_have_names() -> None:
    assert find_game("kuhn").action_names == ("CHK", "BET", "CAL", "FLD")
    assert find_game("blackjack").action_names == ("H", "S", "SRD")
    assert find_game("sevenhalf", max_bet=200).action_names == ("DRAW", "PASS", "RAISE")
    assert find_game(LEDUC).max_loss == 13
    bank = find_game("sevenhalf")
    hand = bank.deal(1, 1)
    hand.play("DRAW")
    seen = {name: value for name, value in zip(bank.feature_names, hand.observe(0), strict=True) if value}
    assert seen == {f"own {hand.view(0).cards[0]}": 1, "bet": 1}


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        ("oldmaid", {}, "found the room 'oldmaid'; allowed: kuhn, sevenhalf, blackjack, holdem"),
        ("chess", {}, "found the room 'chess'"),
        ("kuhn", {"seats": 3}, "found the options seats for kuhn; allowed: none"),
        ("sevenhalf", {"max_bet": 50}, "found the highest bet 50; allowed: 100 to "),
        ("holdem", {"seats": 7}, "found 7 seats; allowed: 2 to 6"),
        ("holdem", {"raises": (100, 50)}, r"found the raises \(100, 50\); allowed: percents"),
    ],
)
def test_unknown_games_and_options_are_refused(game: str, options: dict[str, Any], message: str) -> None:
    for make in (aec, gym):
        with pytest.raises(ValueError, match=message):
            make(game, **options)


def test_a_large_game_is_refused() -> None:
    class Endless:
        seats = 1
        start = staticmethod(lambda: 0)
        turn = staticmethod(lambda _: 0)
        legal = staticmethod(lambda _: (1,))
        play = staticmethod(lambda state, move: state + move)
        view = staticmethod(lambda state, _: state)

    with pytest.raises(ValueError, match="found a game of more than 100,000 states"):
        find_game(Endless())  # type: ignore[arg-type]  # it has no end, so no payoff


def test_without_its_library_an_environment_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("aec_env", "gym_env", "spaces"):
        monkeypatch.delitem(__import__("sys").modules, f"croupier.environments.{module}", raising=False)
    for library in ("pettingzoo", "gymnasium"):
        monkeypatch.setitem(__import__("sys").modules, library, None)
    for make in (aec, gym):
        with pytest.raises(
            ModuleNotFoundError, match=r"is missing; install it with: pip install 'croupier\[environments\]'"
        ):
            make("blackjack")
