"""Batched random games: losses, and agreement with the rules."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest

from croupier.rooms.oldmaid.odds.sampled import GAMES_PER_BATCH, GameBatch, count_losses, next_holders, random_generator
from tests.rooms.oldmaid.brute_force import Chain
from tests.rooms.oldmaid.ring_game import RingGame
from tests.rooms.oldmaid.test_exact import agree, played
from tests.sampling import extended


def check_consistency(tables: GameBatch, couples: int) -> None:
    """Check that hands match the couples and the joker, and that the offerer has cards."""
    game = np.arange(tables.running_count)
    assert (tables.couples >= 0).all()
    assert (tables.couples == tables.couples.transpose(0, 2, 1)).all()
    assert (tables.couples[:, range(tables.players), range(tables.players)] == 0).all()
    joker = np.zeros((tables.running_count, tables.players), np.int64)
    joker[game, tables.joker] = 1
    assert (tables.hands == tables.couples.sum(axis=2) + joker).all()
    assert (tables.hands[game, tables.offerer] > 0).all()
    assert (tables.couples.sum(axis=(1, 2)) <= 2 * couples).all()


@pytest.mark.parametrize("players", range(2, 9))
def test_hands_are_consistent_after_every_pick(players: int) -> None:
    tables = GameBatch(players, 200, random_generator(1), 26)
    check_consistency(tables, 26)
    lost = np.zeros(players, np.int64)
    while tables.running_count:
        lost += tables.remove_finished()
        before = tables.couples.sum(axis=(1, 2))
        tables.pick()
        check_consistency(tables, 26)
        assert ((before - tables.couples.sum(axis=(1, 2))) // 2 <= 1).all(), "a pick makes one pair at most"
    assert lost.sum() == 200


@pytest.mark.parametrize("players", range(2, 9))
def test_the_deal_is_that_of_the_rules(players: int) -> None:
    tables, ring = GameBatch(players, 300, random_generator(1), 26), RingGame(players)
    for card in ring.deck:
        ring.deal(card)
    dealt = np.array([len(hand) for hand in ring.hands])
    assert (tables.hands <= dealt).all()
    assert ((dealt - tables.hands) % 2 == 0).all(), "what is missing are pairs"
    assert (tables.offerer == ring.offerer).mean() > 0.9, "the last to draw has nothing left once in a while"


@pytest.mark.parametrize(("players", "pairs_in"), extended([(2, 2), (3, 3), (5, 2), (4, 2), (6, 1)], 2))
def test_small_pack_losses_match_the_exact_probabilities(players: int, pairs_in: int) -> None:
    expected = Chain(players, pairs_in).loses()
    lost = count_losses(players, 50_000, random_generator(1), pairs_in)
    possible = [seat for seat, chance in enumerate(expected) if 0 < chance < 1]
    assert all(lost[seat] == 50_000 * expected[seat] for seat in {*range(players)} - {*possible})
    assert sum(lost) == 50_000
    for seat in possible:
        chance = expected[seat]
        assert abs(lost[seat] / 50_000 - chance) < 3 * sqrt(chance * (1 - chance) / 50_000)


@pytest.mark.parametrize("players", extended([5, 6, 7, 8], 4))
def test_batched_losses_match_the_rules(players: int) -> None:
    compare(count_losses(players, 10_000, random_generator(1)), played(players, 1_000, 3))


@pytest.mark.slow
@pytest.mark.parametrize("players", [5, 6, 7, 8])
def test_batched_losses_match_the_rules_in_many_games(players: int) -> None:
    compare(count_losses(players, 1_000_000, random_generator(2)), played(players, 200_000, 3))


def compare(ones: Sequence[int], others: Sequence[int]) -> None:
    """Check that two samples agree within three standard errors of their difference."""
    games, more = sum(ones), sum(others)
    for one, other in zip(ones, others, strict=True):
        chance = (one + other) / (games + more)
        error = sqrt(chance * (1 - chance) * (1 / games + 1 / more))
        assert abs(one / games - other / more) < 3 * error


def test_same_seed_plays_the_same_games() -> None:
    assert (
        count_losses(3, 1_000, random_generator(1))
        == count_losses(3, 1_000, random_generator(1))
        != count_losses(3, 1_000, random_generator(2))
    )


@pytest.mark.parametrize("games", [1, GAMES_PER_BATCH - 1, GAMES_PER_BATCH, GAMES_PER_BATCH + 1])
def test_number_of_games_is_exact(games: int) -> None:
    assert sum(count_losses(2, games, random_generator(1), 1)) == games


def test_progress_is_called_with_portions_of_games() -> None:
    handed: list[int] = []

    def watch(portions: Sequence[int]) -> Sequence[int]:
        handed.extend(portions)
        return portions

    agree(count_losses(2, 2 * GAMES_PER_BATCH + 5, random_generator(1), 1, watch), (4 / 9, 5 / 9))
    assert handed == [GAMES_PER_BATCH, GAMES_PER_BATCH, 5]


@pytest.mark.parametrize("players", [2, 3, 8])
def test_the_next_player_with_cards_is_looked_up(players: int) -> None:
    table = next_holders(players)
    for holding in range(1, 1 << players):
        for seat in range(players):
            at = seat
            while not holding >> at & 1:
                at = (at + 1) % players
            assert table[holding, seat] == at
