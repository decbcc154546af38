"""What becomes of a client's coins in Kuhn poker: how to lose them all, and what is refused then."""

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
"""So many games are played to empty a purse: a purse of 10 needs 25 or so."""


COSTLY_MESSAGES: Final = frozenset({*STRT.values(), ACTN["BET"], ACTN["CAL"]})
"""What costs a coin."""

USUAL_PURSE_COINS: Final = 10
"""The coins in the purse of most houses."""

type SpendingStrategy = Callable[[AnyClientReferee, Random, int], Message]
"""Says what is said next; it is told how many coins are left of a usual purse."""


class CoinTrackingReferee(PlainReferee):
    """A referee that learns what is in the purse when the house refuses for want of coins, and counts on from there.

    STRT is refused when the purse is empty, BET and CAL when nothing is left of it but the ante.
    """

    @property
    def legal(self) -> tuple[Message, ...]:
        """What the client may say now, as far as its coins go."""
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


def coin_tracking_referee(known_options: Any, strict: bool, patience: float) -> CoinTrackingReferee:  # noqa: ARG001 -- as in other rooms
    """A referee that knows the purse where the house's settings are known."""
    return CoinTrackingReferee(known_options.coins if isinstance(known_options, Settings) else None, patience)


def play_randomly(referee: AnyClientReferee, luck: Random) -> object:
    """Anything that is allowed, but no goodbye."""
    return luck.choice([message for message in referee.legal if message != DISC])


def _losing(referee: AnyClientReferee, luck: Random, left: int) -> Message:  # noqa: ARG001 -- a Spender
    """Play so that the purse gets empty: no bets, no calls."""
    if referee.game is None:
        return luck.choice([*STRT.values()])
    return ACTN["FLD"] if ACTN["FLD"] in referee.legal else ACTN["CHK"]


def _staking(start: str, bold: KuhnAction) -> SpendingStrategy:
    """Play this seat, and this action with the last coin, if the purse was a usual one, and now and then."""

    def spend(referee: AnyClientReferee, luck: Random, left: int) -> Message:
        if referee.game is None:
            return STRT[start]
        words: list[KuhnAction] = [bold, "FLD", "CHK"] if left == 1 or luck.random() < 0.2 else ["FLD", "CHK", bold]
        return next(message for message in map(ACTN.__getitem__, words) if message in referee.legal)

    return spend


STAKING_STRATEGIES: Final[Mapping[KuhnAction, SpendingStrategy]] = {
    "BET": _staking("P_1", "BET"),
    "CAL": _staking("P_2", "CAL"),
}
"""How the last coin gets into the pot before a bet, and before a call."""


def _broke(talk: ScenarioContext, spend: SpendingStrategy) -> Iterator[bytes]:
    """Play until the purse cannot pay for something."""
    referee = talk.referee
    left, finished = USUAL_PURSE_COINS, 0
    while referee.finished_count < MAX_GAMES and not _refused(talk):
        last = referee.last_game
        if last is not None and referee.finished_count > finished:
            left, finished = left + last.net, referee.finished_count
        yield talk.encoded(spend(referee, talk.luck, left))


def _refused(talk: ScenarioContext) -> bool:
    """Whether the last word of the house was that there are not enough coins."""
    lines = talk.conversation.lines
    return bool(lines) and lines[-1].message == NO_COINS


PURSE_NOT_EMPTIED: Final = f"the purse of the house was good for {MAX_GAMES} games"


def lose_everything(talk: ScenarioContext) -> ClientScript:
    """Lose until there is no coin for the ante, and see that this is so in either seat."""
    yield from _broke(talk, _losing)
    if not _refused(talk):
        return PURSE_NOT_EMPTIED
    if talk.referee.game is not None or not talk.referee.finished_count:
        return "the purse was empty from the start" if talk.referee.game is None else "the purse had a coin left"
    for start in STRT.values():
        yield talk.encoded(start)
    return None


def _last_coin(action: KuhnAction, *then: KuhnAction) -> Scenario:
    """Play until the last coin is in the pot and this action cannot be paid; `then` is said as well."""

    def play(talk: ScenarioContext) -> ClientScript:
        yield from _broke(talk, STAKING_STRATEGIES[action])
        if not _refused(talk):
            return PURSE_NOT_EMPTIED
        if talk.referee.game is None:
            return "the last coin was lost before"
        for word in then:
            yield talk.encoded(ACTN[word])
        return None

    return play


def stake_winnings(talk: ScenarioContext) -> ClientScript:
    """Lose all but a coin or none, win with it, and see that just what was won can be staked."""
    yield from _broke(talk, STAKING_STRATEGIES["BET"])
    if not _refused(talk):
        return PURSE_NOT_EMPTIED
    if talk.referee.game is None:
        return "the last coin was lost before"
    for _ in range(30):
        if talk.referee.legal == (DISC,):
            break
        yield talk.encoded(play_randomly(talk.referee, talk.luck))
    return None


def check_new_purse(talk: ScenarioContext) -> ClientScript:
    """A purse that is empty on one connection is full on the next."""
    yield talk.encoded(STRT["P_1"])
    if _refused(talk):
        raise Violation("kuhn-7.1", "FAIL N_C at the first STRT of a connection", "a purse as full as the last one was")
    return None


COIN_CASES: Final = (
    ExtraCase("until-the-purse-is-empty", "Who has lost all coins is refused the ante", "kuhn-7.2", (lose_everything,)),
    ExtraCase(
        "no-coin-for-a-bet",
        "Whose last coin is the ante cannot bet, and may still check",
        "kuhn-7.3",
        (_last_coin("BET", "BET", "CHK"),),
    ),
    ExtraCase(
        "no-coin-for-a-call",
        "Whose last coin is the ante cannot call, and may still fold",
        "kuhn-7.3",
        (_last_coin("CAL", "CAL", "FLD"),),
    ),
    ExtraCase(
        "wrong-before-poor",
        "An action that is wrong and cannot be paid either is wrong",
        "kuhn-6.6",
        (_last_coin("BET", "CAL", "CHK"),),
    ),
    ExtraCase("what-was-won-can-be-staked", "What was won can be staked, and no more", "kuhn-7.4", (stake_winnings,)),
    ExtraCase(
        "a-new-purse-for-every-connection",
        "The purse is full again on a new connection",
        "kuhn-7.1",
        (lose_everything, check_new_purse),
    ),
)
