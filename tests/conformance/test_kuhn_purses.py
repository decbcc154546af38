"""Purses of Kuhn poker that were spent: a wrong payment is named, and right ones are not."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from random import Random

import pytest

from croupier.conformance.conversation import Conversation
from croupier.conformance.results import Outcome
from croupier.conformance.servers.kuhn_coins import play_randomly
from croupier.conformance.servers.kuhn_purses import Purse as SeenPurse
from croupier.conformance.servers.kuhn_purses import find_wrong_payment, purse_sizes
from croupier.conformance.servers.kuhn_referee import (
    MAX_EMPTIED_PURSES,
    MAX_GAMES,
    MIN_EQUAL_PURSES,
    CoinTrackingReferee,
    PurseObserver,
)
from croupier.core.dealer import FairDealer
from croupier.core.private_table import Purse
from croupier.core.referee import CLIENT, HOUSE, Sent
from croupier.core.session import Joined, Received, Send, Timeouts
from croupier.rooms.kuhn import ROOM, Settings
from croupier.rooms.kuhn.rules import BettingHistory
from croupier.rooms.kuhn.wire import ACTN, NO_COINS, STRT, Message
from tests.conformance.house_fixture import HouseFixture, new_bench, run_cases
from tests.conformance.mutants.kuhn import state_of
from tests.conformance.mutants.mutant_house import MutantHouse
from tests.conformance.mutants.purses import moving
from tests.conformance.suites import server_cases
from tests.sampling import example_count, extended

COINS = 10
GAMES = 40

type Tamper = Callable[[Purse, BettingHistory | None, Message, int], int]
"""The coins that are paid too many, by the purse, the actions before a message, the message, and the net after it."""


def spend(luck: Random, tamper: Tamper, purse: Purse, least: int = 0) -> CoinTrackingReferee:
    """Play with our own house, whose payments are tampered with; a purse never has less than `least` coins."""
    dealer = FairDealer(luck.randbytes(32))
    table = ROOM.house(Settings(), Timeouts(500.0, None), True)(1, dealer, purse)
    table.on(Joined(1), 0.0)
    referee = CoinTrackingReferee(COINS, 5.0)
    while referee.finished_count < GAMES and len(referee.legal) > 1:
        message = luck.choice([*ACTN.values()]) if luck.random() < 0.2 else play_randomly(referee, luck)
        history = None if referee.game is None else referee.game.history
        before = purse.coins + purse.staked
        verdicts = [*referee.on(Sent(CLIENT, HOUSE, message), 0.0)]
        for effect in table.on(Received(1, message), 0.0):
            if isinstance(effect, Send):
                verdicts += referee.on(Sent(HOUSE, CLIENT, effect.message), 0.0)
        assert all(verdict.party == CLIENT for verdict in verdicts)
        net = purse.coins + purse.staked - before
        purse.coins = max(least, purse.coins + tamper(purse, history, message, net))
    return referee


def purses(seed: int, tamper: Tamper = lambda *_: 0, count: int = 24) -> Sequence[SeenPurse]:
    luck = Random(seed)
    return [spend(luck, tamper, Purse(COINS)).purse for _ in range(count)]


@pytest.mark.hypothesis
def test_right_payments_are_not_accused() -> None:
    for seed in range(example_count(8)):
        seen = purses(seed, count=12)
        assert find_wrong_payment(seen) is None
        assert all(COINS in purse_sizes(purse) for purse in seen)
        assert any(len(purse_sizes(purse)) == 1 for purse in seen)


@pytest.mark.hypothesis
def test_a_house_that_keeps_accounts_is_not_accused() -> None:
    for seed in range(example_count(8)):
        luck, account = Random(seed), Purse(COINS)
        seen = [spend(luck, lambda *_: 0, account).purse for _ in range(12)]
        assert find_wrong_payment(seen) is None


def test_purses_of_different_sizes_are_not_accused() -> None:
    luck = Random(2)
    seen = [spend(luck, lambda *_: 0, Purse(coins)).purse for coins in (10, 7, 13, 4, 10, 9, 21, 2)]
    assert find_wrong_payment(seen) is None


@pytest.mark.parametrize(
    ("tamper", "clause"),
    [
        (
            lambda _, history, message, net: -net * (net < 0 and message == ACTN["FLD"] and history == ("BET",)),
            "kuhn-5.3",
        ),
        (lambda _, history, message, net: net * (net > 0 and message == ACTN["CAL"] and len(history) == 2), "kuhn-5.2"),
        (
            lambda _, history, message, net: -2 * net * (net > 0 and message == ACTN["CHK"] and bool(history)),
            "kuhn-5.1",
        ),
        (lambda _, history, message, net: -(message == STRT["P_2"] and history is None), "kuhn-7.2"),
        (lambda _, history, message, net: int(message == ACTN["BET"] and history == ()), "kuhn-7.3"),
        (lambda _, history, message, net: -(message == ACTN["CAL"] and history == ()), "kuhn-6.7"),
        (lambda purse, history, message, net: (COINS - purse.coins) * (history == ("CHK",)), "kuhn-7.1"),
        (lambda _, history, message, net: -2 * (net == 2) - (net == 1 and message == ACTN["BET"]), "kuhn-7.4"),
        (lambda _, history, message, net: -net * (net > 0), "kuhn-7.4"),
    ],
)
def test_a_wrong_payment_is_named(tamper: Tamper, clause: str) -> None:
    found = find_wrong_payment(purses(3, tamper))
    assert found is not None
    assert found.clause == clause


def test_coins_that_a_refused_message_takes_on_credit_are_named() -> None:
    luck = Random(3)

    def take(_: Purse, history: BettingHistory | None, message: Message, __: int) -> int:
        return -(message == ACTN["CAL"] and history == ())

    found = find_wrong_payment([spend(luck, take, Purse(COINS), -COINS).purse for _ in range(24)])
    assert found is not None
    assert found.clause == "kuhn-6.7"


@pytest.mark.parametrize(
    ("emptying", "named"),
    [((), "pots of all games before"), (set(ACTN.values()) - {ACTN["FLD"]}, "pots that it has folded just before")],
)
def test_pots_that_are_kept_for_the_next_winner_are_named(emptying: Collection[Message], named: str) -> None:
    pots: dict[int, int] = defaultdict(int)

    def pay_kept_pots(purse: Purse, history: BettingHistory | None, message: Message, net: int) -> int:
        if net == 0:
            return 0
        kept = pots[id(purse)]
        pot = 4 if abs(net) == 2 else 2 if message == ACTN["CHK"] else 3
        pots[id(purse)] = 0 if message in emptying else kept + pot
        return kept * (net > 0)

    luck, all_purses = Random(5), [Purse(2) for _ in range(24)]
    found = find_wrong_payment([spend(luck, pay_kept_pots, purse).purse for purse in all_purses])
    assert found is not None
    assert (found.clause, named in found.found) == ("kuhn-7.4", True)


@pytest.mark.parametrize(
    ("coins", "tamper", "clause"),
    [
        (COINS, lambda *_: 0, None),
        (COINS + 2, lambda *_: 0, "kuhn-7.1"),
        (COINS, lambda _, history, message, net: int(message in STRT.values() and history is None), "kuhn-7.2"),
    ],
)
def test_purses_are_compared_with_their_known_size(coins: int, tamper: Tamper, clause: str | None) -> None:
    luck = Random(4)
    found = find_wrong_payment([spend(luck, tamper, Purse(coins)).purse for _ in range(24)], COINS)
    assert (found and found.clause) == clause


def test_a_purse_that_always_pays_is_larger_than_the_known_one() -> None:
    luck = Random(4)
    found = find_wrong_payment([spend(luck, lambda *_: 1, Purse(COINS)).purse for _ in range(4)], COINS)
    assert found is not None
    assert (found.clause, found.allowed) == ("kuhn-7.2", "FAIL N_C when 10 coins and all winnings are spent")


def test_purses_that_show_their_size_are_kept_for_later_comparisons() -> None:
    observer = PurseObserver(None)
    luck = Random(6)
    games = [spend(luck, lambda *_: 0, Purse(3)) for _ in range(12)]
    for game in games:
        observer.observe(game)
    emptied = observer.new_referee(5.0).emptied_purses
    assert [*map(purse_sizes, emptied)] == [range(3, 4)] * MAX_EMPTIED_PURSES


def test_purses_that_could_not_be_emptied_are_played_for_until_the_first_win() -> None:
    (case,) = (each for each in server_cases(ROOM) if each.id == "kuhn/7.2/until-the-purse-is-empty")
    bench = new_bench(ROOM, HouseFixture(ROOM, {"coins": "100000"}))

    async def nets() -> list[list[int]]:
        tries = [await bench.attempt(case, number) for number in range(MIN_EQUAL_PURSES + 2)]
        return [[game.net for game in Conversation(ROOM).replay(each.dialogue).finished_games] for each in tries]

    played = asyncio.run(nets())
    assert [*map(len, played[:MIN_EQUAL_PURSES])] == [MAX_GAMES] * MIN_EQUAL_PURSES
    assert [[net > 0 for net in game] for game in played[MIN_EQUAL_PURSES:]] == [
        [False] * (len(game) - 1) + [True] for game in played[MIN_EQUAL_PURSES:]
    ]


@pytest.mark.parametrize("coins", [3, 10])
def test_a_house_with_the_known_purse_passes(coins: int) -> None:
    cases = [case for case in server_cases(ROOM) if case.is_within("kuhn/7")]
    house = HouseFixture(ROOM, {"coins": str(coins)})
    results = asyncio.run(run_cases(house, ROOM, cases, known_options=Settings(coins)))
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_a_house_with_another_purse_than_the_known_one_fails() -> None:
    (case,) = (each for each in server_cases(ROOM) if each.id == "kuhn/7.4/every-payment")
    (result,) = asyncio.run(run_cases(HouseFixture(ROOM, {"coins": "4"}), ROOM, [case], known_options=Settings(10)))
    assert result.failure is not None
    assert (result.failure.clause, result.failure.actual) == ("kuhn-7.1", "a purse of 4 coins")


@pytest.mark.parametrize(
    ("sent", "state", "coins", "clause"),
    extended(
        [
            ("ACTN BET", "before the first game", -1, "kuhn-6.7"),
            ("FAIL W_A", "after CHK BET", -1, "kuhn-6.5"),
            ("STRT P_1", "as P_1", 1, "kuhn-6.7"),
            ("ACTN CAL", "between games", 2, "kuhn-6.7"),
        ],
        2,
    ),
)
def test_coins_that_a_refused_message_moves_are_found(sent: str, state: str, coins: int, clause: str) -> None:
    (case,) = (each for each in server_cases(ROOM) if each.id == "kuhn/7.4/every-payment")
    mutation = moving("kuhn", sent, state, coins, clause)
    (result,) = asyncio.run(run_cases(MutantHouse(ROOM, mutation, state_of, {}), ROOM, [case]))
    assert result.failure is not None
    assert result.failure.clause == clause


def test_the_size_of_a_purse_is_known_once_it_was_seen_twice() -> None:
    observer = PurseObserver(None)
    lefts = []
    for coins in (3, 3, 4):
        luck = Random(coins)
        observer.observe(spend(luck, lambda *_: 0, Purse(coins)))
        lefts.append(observer.new_referee(5.0).coins_left)
    assert lefts == [10, 3, 10]


def test_a_purse_that_cannot_pay_owes_a_refusal() -> None:
    referee = CoinTrackingReferee(1, 5.0)
    for sender, message in ((CLIENT, STRT["P_1"]), (HOUSE, "CARD"), (CLIENT, ACTN["BET"])):
        said = ROOM.codec(True, None).feed(b"CARD C_Q")[0] if message == "CARD" else message
        assert referee.on(Sent(sender, CLIENT if sender == HOUSE else HOUSE, said), 0.0) == []
    assert referee.pending is not None
    assert (referee.pending.clause, NO_COINS in referee.pending.messages) == ("kuhn-7.3", True)
