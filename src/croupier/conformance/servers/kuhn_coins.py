"""Server tests of the purse in Kuhn poker: how to empty it, and what is refused then."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from croupier.conformance.servers.scripted_client import ClientScript
from croupier.conformance.servers.test_data import AnyClientReferee, ExtraCase, Scenario, ScenarioContext
from croupier.core.errors import Violation
from croupier.core.referee import ExpectedReply, Verdict
from croupier.rooms.kuhn import Settings
from croupier.rooms.kuhn.referee import Referee as PlainReferee
from croupier.rooms.kuhn.rules import KuhnAction
from croupier.rooms.kuhn.wire import ACTN, DISC, NO_COINS, STRT, Message

MAX_GAMES: Final = 120
"""At most this many games are played to empty a purse: a purse of 10 coins needs about 25."""


COSTLY_MESSAGES: Final = frozenset({*STRT.values(), ACTN["BET"], ACTN["CAL"]})
"""The messages that cost a coin."""

USUAL_PURSE_COINS: Final = 10
"""The coins in the purse of most houses."""

type SpendingStrategy = Callable[[AnyClientReferee, Random, int], Message]
"""Chooses the next message, given the coins that would be left of a usual purse."""


class CoinTrackingReferee(PlainReferee):
    """A referee that learns the balance of the purse when the house refuses for lack of coins.

    It counts on from there. STRT is refused when the purse is empty; BET and CAL when all that is left of it is the
    ante.
    """

    @property
    def legal(self) -> tuple[Message, ...]:
        """The messages that the client may send now, as far as its coins are known."""
        legal = super().legal
        if self._coins is None:
            return legal
        left = self._coins - (self._client_stake(self.game) if self.game is not None else 0)
        return legal if left > 0 else tuple(message for message in legal if message not in COSTLY_MESSAGES)

    def _check_reply(self, expected: ExpectedReply, message: Message) -> list[Verdict]:
        verdicts = super()._check_reply(expected, message)
        if message == NO_COINS and self._coins is None and not verdicts:
            self._coins = 0 if self.game is None else self._client_stake(self.game)
        return verdicts


def coin_tracking_referee(known_options: Any, strict: bool, reply_timeout: float) -> CoinTrackingReferee:  # noqa: ARG001 -- the signature of new_referee
    """Create a referee that knows the purse if the house's settings are known."""
    return CoinTrackingReferee(known_options.coins if isinstance(known_options, Settings) else None, reply_timeout)


def play_randomly(referee: AnyClientReferee, luck: Random) -> object:
    """Any allowed message except a goodbye."""
    return luck.choice([message for message in referee.legal if message != DISC])


def _play_to_lose(referee: AnyClientReferee, luck: Random, left: int) -> Message:  # noqa: ARG001 -- a SpendingStrategy
    """Play to empty the purse: no bets, no calls."""
    if referee.game is None:
        return luck.choice([*STRT.values()])
    return ACTN["FLD"] if ACTN["FLD"] in referee.legal else ACTN["CHK"]


def _play_to_stake(start: str, final_action: KuhnAction) -> SpendingStrategy:
    """Take this seat; take this action with the last coin of a usual purse, and now and then."""

    def strategy(referee: AnyClientReferee, luck: Random, left: int) -> Message:
        if referee.game is None:
            return STRT[start]
        actions: list[KuhnAction] = (
            [final_action, "FLD", "CHK"] if left == 1 or luck.random() < 0.2 else ["FLD", "CHK", final_action]
        )
        return next(message for message in map(ACTN.__getitem__, actions) if message in referee.legal)

    return strategy


STAKING_STRATEGIES: Final[Mapping[KuhnAction, SpendingStrategy]] = {
    "BET": _play_to_stake("P_1", "BET"),
    "CAL": _play_to_stake("P_2", "CAL"),
}
"""How to get the last coin into the pot before a bet, and before a call."""


def _empty_purse(context: ScenarioContext, strategy: SpendingStrategy) -> Iterator[bytes]:
    """Play until the purse cannot pay for something."""
    referee = context.referee
    left, finished = USUAL_PURSE_COINS, 0
    while referee.finished_count < MAX_GAMES and not _is_out_of_coins(context):
        last = referee.last_game
        if last is not None and referee.finished_count > finished:
            left, finished = left + last.net, referee.finished_count
        yield context.encoded(strategy(referee, context.luck, left))


def _is_out_of_coins(context: ScenarioContext) -> bool:
    """Whether the last message of the house was that there are not enough coins."""
    lines = context.conversation.lines
    return bool(lines) and lines[-1].message == NO_COINS


PURSE_NOT_EMPTIED: Final = f"the purse of the house was good for {MAX_GAMES} games"


def lose_everything(context: ScenarioContext) -> ClientScript:
    """Lose until there is no coin for the ante, and check that it is refused in either seat."""
    yield from _empty_purse(context, _play_to_lose)
    if not _is_out_of_coins(context):
        return PURSE_NOT_EMPTIED
    if context.referee.game is not None or not context.referee.finished_count:
        return "the purse was empty from the start" if context.referee.game is None else "the purse had a coin left"
    for start in STRT.values():
        yield context.encoded(start)
    return None


def _spend_last_coin(action: KuhnAction, *then: KuhnAction) -> Scenario:
    """Play until the last coin is in the pot and this action cannot be paid; then take the actions of `then`."""

    def play(context: ScenarioContext) -> ClientScript:
        yield from _empty_purse(context, STAKING_STRATEGIES[action])
        if not _is_out_of_coins(context):
            return PURSE_NOT_EMPTIED
        if context.referee.game is None:
            return "the last coin was lost before"
        for next_action in then:
            yield context.encoded(ACTN[next_action])
        return None

    return play


def stake_winnings(context: ScenarioContext) -> ClientScript:
    """Lose all coins but one or none, win with it, and check that exactly the winnings can be staked."""
    yield from _empty_purse(context, STAKING_STRATEGIES["BET"])
    if not _is_out_of_coins(context):
        return PURSE_NOT_EMPTIED
    if context.referee.game is None:
        return "the last coin was lost before"
    for _ in range(30):
        if context.referee.legal == (DISC,):
            break
        yield context.encoded(play_randomly(context.referee, context.luck))
    return None


def check_new_purse(context: ScenarioContext) -> ClientScript:
    """Check that a purse that was emptied on one connection is full on the next."""
    yield context.encoded(STRT["P_1"])
    if _is_out_of_coins(context):
        raise Violation("kuhn-7.1", "FAIL N_C at the first STRT of a connection", "a purse as full as the last one was")
    return None


COIN_CASES: Final = (
    ExtraCase("until-the-purse-is-empty", "Who has lost all coins is refused the ante", "kuhn-7.2", (lose_everything,)),
    ExtraCase(
        "no-coin-for-a-bet",
        "Whose last coin is the ante cannot bet, and may still check",
        "kuhn-7.3",
        (_spend_last_coin("BET", "BET", "CHK"),),
    ),
    ExtraCase(
        "no-coin-for-a-call",
        "Whose last coin is the ante cannot call, and may still fold",
        "kuhn-7.3",
        (_spend_last_coin("CAL", "CAL", "FLD"),),
    ),
    ExtraCase(
        "wrong-before-poor",
        "An action that is wrong and cannot be paid either is wrong",
        "kuhn-6.6",
        (_spend_last_coin("BET", "CAL", "CHK"),),
    ),
    ExtraCase("what-was-won-can-be-staked", "What was won can be staked, and no more", "kuhn-7.4", (stake_winnings,)),
    ExtraCase(
        "a-new-purse-for-every-connection",
        "The purse is full again on a new connection",
        "kuhn-7.1",
        (lose_everything, check_new_purse),
    ),
)
