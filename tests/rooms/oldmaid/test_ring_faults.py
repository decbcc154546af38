"""Whole games between real players and the real table, in memory: undisturbed ones, and those in which somebody dies.

Who is gone takes his cards with him, and then others may hold cards that nobody gets rid of: such a game goes round in
circles until the table calls it void (oldmaid-6.10). That is a clear end; that nobody has the turn any more is not.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.rooms.oldmaid.cards import JOKER
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from tests.rooms.oldmaid.network import Choice, Network, Node, in_order, jumbled

STUCK = 2.0
"""After so many seconds a game in which somebody has died is void: that is time for twenty cards to be picked."""

VOID = "the table hung up: oldmaid-6.10"
ALONE = "nobody is left to play with"


def luck(seed: int) -> Choice:
    return jumbled(FairDealer(derive_server_seed(seed, "lines", 1)).luck)


def agrees(network: Network) -> None:
    """Everybody has finished, and holds of himself what the table holds of him."""
    ranking = network.ranking
    assert len(ranking) == len(network.players), network.told()
    for node in network.players:
        result = node.player.result
        assert result is not None
        assert (result.outcome, result.place) == (
            "lost" if node.name == ranking[-1] else "out",
            ranking.index(node.name) + 1,
        ), network.told()


@given(players=st.integers(MIN_PLAYERS, MAX_PLAYERS), seed=st.integers(0, 1 << 30), orderly=st.booleans())
@settings(max_examples=30, deadline=None)
def test_every_game_ends_and_the_loser_has_the_joker(players: int, seed: int, orderly: bool) -> None:
    network = Network(players, seed, choose=in_order if orderly else luck(seed))
    network.run()
    agrees(network)
    for node in network.players:
        assert (JOKER in node.player.hand) == (node.name == network.ranking[-1])


def test_every_pair_is_thrown_away_but_for_one_that_the_loser_may_have_picked_last() -> None:
    for seed in range(20):
        network = Network(4, seed)
        network.run()
        kept = {len(node.player.hand) for node in network.players}
        thrown = sum(deed[0] == "threw" for deed in network.game.log)
        assert (thrown, kept) in (((26, {0, 1})), ((25, {0, 3}))), network.told()


def killed(players: int, seed: int, choose: Choice, step: int, *, after: bool) -> tuple[Network, Node] | None:
    """The game in which a player dies with a message: when he is about to hear it, or when he has heard it.

    Messages to the table count for who has sent them. None when the game is over before.
    """
    network = Network(players, seed, choose=choose, stuck=STUCK, wires=False)
    dead: Node | None = None
    messages = 0
    for line, arrived in network.walk():
        messages += not arrived
        if dead is None and messages == step and arrived == after:
            dead = line.other.node if line.node is network.table else line.node
            if dead.alive and not dead.player.is_exhausted:
                network.kill(dead)
    return None if dead is None else (network, dead)


def sweep(players: int, seed: int, choose: Callable[[], Choice], *, after: bool) -> int:
    """Let somebody die for every message of the game in which nobody does; so many games there were."""
    whole = Network(players, seed, choose=choose(), wires=False)
    messages = sum(not arrived for _, arrived in whole.walk())
    games = 0
    for step in range(1, messages + 1):
        found = killed(players, seed, choose(), step, after=after)
        if found is not None:
            copes(*found)
            games += 1
    return games


def copes(network: Network, dead: Node) -> None:
    """The others have finished, or say why they have not; the table ranks who is gone last."""
    if not network.finished:  # he was gone before there were enough players
        return
    game = network.game
    drawers = [deed[1] for deed in game.log if deed[0] == "drew"]
    seat = game.nicks.index(dead.name) if dead.name in game.nicks else None
    if game.is_void:
        silent = network.over - network.moved > STUCK / 2
        # Nobody can know that the last card was drawn if he who has drawn it tells nobody (oldmaid-4.5).
        assert not silent or drawers[-1] == seat, f"no turn: {network.told()}"
    elif seat is not None and not dead.alive and seat in game.departed_seats:
        assert network.ranking[-1] == dead.name, network.ranking
    for node in network.players:
        result = node.player.result
        if node is dead:
            continue
        assert result is not None, network.told()
        match result.outcome:
            case "out" if result.place is None:  # he is the one who is left, and was when he told that he is out
                assert game.is_void or game.standing.inside == (node.name,), network.told()
            case "out":
                assert network.ranking[result.place - 1 :][:1] in ([], [node.name]), network.told()
            case "lost":
                assert node.name == network.ranking[-1], network.told()
            case "ended":
                assert result.reason.startswith((VOID, ALONE)), network.told()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_whoever_dies_with_whatever_message_the_others_come_to_an_end(*, after: bool) -> None:
    assert sweep(3, 18, lambda: in_order, after=after) > 300


@given(
    players=st.integers(MIN_PLAYERS, MAX_PLAYERS),
    seed=st.integers(0, 1 << 30),
    step=st.integers(1, 900),
    after=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_so_they_do_in_larger_rings_and_in_any_order(players: int, seed: int, step: int, after: bool) -> None:
    found = killed(players, seed, luck(seed), step, after=after)
    if found is not None:
        copes(*found)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", [1, 2])
def test_so_they_do_for_every_message_in_any_order(players: int, seed: int, *, after: bool) -> None:
    assert sweep(players, seed, lambda: luck(seed), after=after) > 200
