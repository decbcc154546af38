"""Server tests of the purse in Kuhn poker: how to empty it, and what is refused then."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final, NamedTuple

from croupier.conformance.conversation import Conversation
from croupier.conformance.servers.kuhn_purses import find_wrong_payment
from croupier.conformance.servers.scripted_client import ClientScript
from croupier.conformance.servers.test_data import AnyClientReferee, ExtraCase, Scenario, ScenarioContext
from croupier.core.errors import Violation
from croupier.core.referee import ExpectedReply, Verdict
from croupier.rooms.kuhn import Settings
from croupier.rooms.kuhn.referee import Referee as PlainReferee
from croupier.rooms.kuhn.rules import KuhnAction
from croupier.rooms.kuhn.wire import ACTN, DISC, NO_COINS, STRT, Message

RANDOM_GAMES: Final = 8
COMPARED_PURSES: Final = 13
MIN_COMPARED_PURSES: Final = 4
MAX_COMPARED_GAMES: Final = 60
"""The games at random before a purse is emptied, the purses, those that must get empty, and the games on each.

With a wrong payment a client may never lose all its coins in one of the seats.
"""

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


STAKES: Final[tuple[KuhnAction, ...]] = ("BET", "CAL")
STAKING_STRATEGIES: Final[Mapping[tuple[str, str], SpendingStrategy]] = {
    (action, seat): _play_to_stake(seat, action) for action in STAKES for seat in STRT
}
"""How to get the last coin into the pot before a bet, and before a call."""


def _empty_purse(context: ScenarioContext, strategy: SpendingStrategy) -> Iterator[bytes]:
    """Play until the purse cannot pay for something."""
    referee = context.referee
    left, finished = USUAL_PURSE_COINS, 0
    while referee.finished_count < MAX_GAMES and _can_play(referee) and not _is_out_of_coins(context):
        last = referee.last_game
        if last is not None and referee.finished_count > finished:
            left, finished = left + last.net, referee.finished_count
        yield context.encoded(strategy(referee, context.luck, left))


def _is_out_of_coins(context: ScenarioContext) -> bool:
    """Whether the last message of the house was that there are not enough coins."""
    return _is_refused_for_coins(context.conversation)


def _is_refused_for_coins(conversation: Conversation) -> bool:
    """Whether the last message is that there are not enough coins."""
    return bool(conversation.lines) and conversation.lines[-1].message == NO_COINS


def _can_play(referee: AnyClientReferee) -> bool:
    """Whether the client may send anything but a goodbye."""
    return any(message != DISC for message in referee.legal)


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


def _spend_last_coin(seat: str, action: KuhnAction, *then: KuhnAction) -> Scenario:
    """Play in this seat until this action cannot be paid with the last coin; then take the actions of `then`."""

    def play(context: ScenarioContext) -> ClientScript:
        yield from _empty_purse(context, STAKING_STRATEGIES[action, seat])
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
    yield from _empty_purse(context, STAKING_STRATEGIES["BET", "P_1"])
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


def lose_in_one_seat(context: ScenarioContext) -> ClientScript:
    """Play some games at random, and then lose in one seat until no ante can be paid, or for many games."""
    referee = context.referee
    start = context.luck.choice([*STRT.values()])
    while referee.finished_count < MAX_COMPARED_GAMES and _can_play(referee):
        if referee.finished_count < RANDOM_GAMES:
            message = play_randomly(referee, context.luck)
        else:
            message = start if referee.game is None else _play_to_lose(referee, context.luck, 0)
        yield context.encoded(message)
    return None


def compare_purses(context: ScenarioContext) -> ClientScript:
    """Empty another purse, and check that all after the first had the same size: the first may be an account."""
    yield from lose_in_one_seat(context)
    purses = [
        conversation.finished_games
        for conversation in (*context.earlier[1:], context.conversation)
        if conversation.referee.game is None and _is_refused_for_coins(conversation)
    ]
    if len(purses) < MIN_COMPARED_PURSES:
        return PURSE_NOT_EMPTIED
    if not all(purses):
        return "the purse is not full again on a new connection"
    if (wrong := find_wrong_payment(purses)) is not None:
        raise wrong
    return None


class PoorState(NamedTuple):
    """A state in which the last coin is the ante, with an action that costs one, a wrong one and a free one."""

    name: str
    title: str
    seat: str
    costly: KuhnAction
    wrong: KuhnAction
    free: KuhnAction


AT_CHECK: Final = PoorState("check", "behind a check of the house", "P_2", "BET", "CAL", "CHK")
AT_BET: Final = PoorState("bet", "behind a bet of the house", "P_2", "CAL", "BET", "FLD")
AT_CHECK_BET: Final = PoorState("check-bet", "behind a check of its own and a bet", "P_1", "CAL", "BET", "FLD")


def _refused_action(state: PoorState) -> ExtraCase:
    word = {"BET": "bet", "CAL": "call"}[state.costly]
    return ExtraCase(
        f"no-coin-for-a-{word}-at-{state.name}",
        f"Whose last coin is the ante cannot {word}, {state.title}",
        "kuhn-7.3",
        (_spend_last_coin(state.seat, state.costly, state.costly, state.free),),
    )


def _wrong_action(state: PoorState) -> ExtraCase:
    return ExtraCase(
        f"wrong-before-poor-at-{state.name}",
        f"An action that is wrong and cannot be paid either is wrong, {state.title}",
        "kuhn-6.6",
        (_spend_last_coin(state.seat, state.costly, state.wrong, state.free),),
    )


COIN_CASES: Final = (
    ExtraCase("until-the-purse-is-empty", "Who has lost all coins is refused the ante", "kuhn-7.2", (lose_everything,)),
    ExtraCase(
        "no-coin-for-a-bet",
        "Whose last coin is the ante cannot bet, and may still check",
        "kuhn-7.3",
        (_spend_last_coin("P_1", "BET", "BET", "CHK"),),
    ),
    ExtraCase(
        "no-coin-for-a-call",
        "Whose last coin is the ante cannot call, and may still fold",
        "kuhn-7.3",
        (_spend_last_coin("P_2", "CAL", "CAL", "FLD"),),
    ),
    ExtraCase(
        "wrong-before-poor",
        "An action that is wrong and cannot be paid either is wrong",
        "kuhn-6.6",
        (_spend_last_coin("P_1", "BET", "CAL", "CHK"),),
    ),
    *map(_refused_action, (AT_CHECK, AT_CHECK_BET)),
    *map(_wrong_action, (AT_CHECK, AT_BET, AT_CHECK_BET)),
    ExtraCase("what-was-won-can-be-staked", "What was won can be staked, and no more", "kuhn-7.4", (stake_winnings,)),
    ExtraCase(
        "a-new-purse-for-every-connection",
        "The purse is full again on a new connection",
        "kuhn-7.1",
        (lose_everything, check_new_purse),
    ),
    ExtraCase(
        "every-payment",
        "Every ante, bet, call and pot changes the purse by its coins",
        "kuhn-7.4",
        (*[lose_in_one_seat] * (COMPARED_PURSES - 1), compare_purses),
    ),
)
