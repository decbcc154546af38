"""Server tests of the purse in Kuhn poker: how to empty it, what is refused then, and whether payments are right."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from random import Random
from typing import Final

from croupier.conformance.conversation import AnyClientReferee, Conversation
from croupier.conformance.servers.components import room_case
from croupier.conformance.servers.kuhn_purses import USUAL_PURSE_COINS, find_wrong_payment, purse_sizes
from croupier.conformance.servers.kuhn_referee import MAX_GAMES, CoinTrackingReferee
from croupier.conformance.servers.scenarios import scenario
from croupier.conformance.servers.scripted_client import ClientScript, Wait
from croupier.conformance.servers.test_data import HouseServerCase, Scenario, ScenarioContext
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import HOUSE
from croupier.rooms.kuhn.rules import BETTING_TREE, KuhnAction
from croupier.rooms.kuhn.wire import ACTN, DISC, NO_COINS, STRT, Message

MAX_COMPARED_GAMES: Final = 50
"""The games on each purse that is compared: with a wrong payment a client may never lose all its coins."""

SPENT_PURSES: Final = 13
"""The purses that are spent without mistakes, and with one of the wrong messages each."""

MAX_ALL_GAMES: Final = 1500
"""After this many games no further purse is spent: large purses take long."""

MIN_CLOSES: Final = 5
CLOSE_SECONDS: Final = 0.005
"""A house that closes so soon and this often after it has refused what cannot be paid does so for that reason."""

type SpendingStrategy = Callable[[AnyClientReferee, Random], Message]
"""Chooses the next message of a client that spends its coins."""


def play_randomly(referee: AnyClientReferee, luck: Random) -> Message:
    """Any allowed message except a goodbye."""
    legal: Sequence[Message] = referee.legal
    return luck.choice([message for message in legal if message != DISC])


def _play_to_lose(seats: Sequence[str], referee: AnyClientReferee, luck: Random) -> Message:
    """Play to empty the purse in these seats: no bets, and no calls but with a jack that cannot be the last ones."""
    if referee.game is None:
        return STRT[luck.choice(seats)]
    if ACTN["FLD"] not in referee.legal:
        return ACTN["CHK"]
    return ACTN["CAL" if referee.game.card == "J" and tracking(referee).coins_left > 1 else "FLD"]


play_to_lose: Final = partial(_play_to_lose, (*STRT,))


def play_to_call(referee: AnyClientReferee, luck: Random) -> Message:
    """Never bet and never fold: a purse is emptied in this way even if folds do not cost what they should."""
    if referee.game is None:
        return STRT[luck.choice([*STRT])]
    return ACTN["CHK" if ACTN["FLD"] not in referee.legal else "CAL"]


def _play_to_stake(start: str, final_action: KuhnAction, referee: AnyClientReferee, luck: Random) -> Message:
    """Take this seat; take this action with the last coin, and now and then."""
    if referee.game is None:
        return STRT[start]
    actions: list[KuhnAction] = (
        [final_action, "FLD", "CHK"]
        if tracking(referee).coins_left < 1 or luck.random() < 0.2
        else ["FLD", "CHK", final_action]
    )
    return next(message for message in map(ACTN.__getitem__, actions) if message in referee.legal)


def _empty_purse(context: ScenarioContext, strategy: SpendingStrategy) -> Iterator[bytes]:
    """Play until the purse cannot pay for something.

    A purse that earlier clients could not empty may be paid too much: then only a client that never wins empties it.
    """
    referee = tracking(context.referee)
    for message in _play_until_empty(context, strategy):
        if not referee.can_be_emptied and referee.last_game is not None and referee.last_game.net > 0:
            break
        yield message


def spend_purse(context: ScenarioContext) -> ClientScript:
    """Lose everything, or play as many games as are compared."""
    yield from _play_until_empty(context, play_to_lose, MAX_COMPARED_GAMES)
    return None


def _play_until_empty(
    context: ScenarioContext, strategy: SpendingStrategy, max_games: int = MAX_GAMES
) -> Iterator[bytes]:
    referee = tracking(context.referee)
    while referee.finished_count < max_games and _can_play(referee) and not _is_out_of_coins(context.conversation):
        yield context.encoded(strategy(referee, context.luck))


def _last_answers(conversation: Conversation) -> Sequence[object]:
    """What the house has sent since the last message of the client."""
    answers = takewhile(lambda line: line.side == HOUSE, reversed(conversation.lines))
    return [line.message for line in answers][::-1]


def _is_out_of_coins(conversation: Conversation) -> bool:
    """Whether the house has answered last that there are not enough coins."""
    return NO_COINS in _last_answers(conversation)


def tracking(referee: AnyClientReferee) -> CoinTrackingReferee:
    """The referee of a conversation of these tests."""
    assert isinstance(referee, CoinTrackingReferee), "the suite has a source of referees"
    return referee


def _can_play(referee: AnyClientReferee) -> bool:
    """Whether the client may send anything but a goodbye."""
    return any(message != DISC for message in referee.legal)


def _not_emptied(referee: CoinTrackingReferee) -> str:
    """Why a case about an empty purse did not come up."""
    hint = "; --coins states its size" if referee.known_size is None else ""
    return f"the client's purse was not empty after {MAX_GAMES} games{hint}"


def lose_everything(context: ScenarioContext) -> ClientScript:
    """Lose until there is no coin for the ante, and check that it is refused in either seat."""
    yield from _empty_purse(context, play_to_lose)
    if not _is_out_of_coins(context.conversation):
        return _not_emptied(tracking(context.referee))
    if context.referee.game is not None or not context.referee.finished_count:
        return "the purse was empty from the start" if context.referee.game is None else "the purse had a coin left"
    for start in STRT.values():
        yield context.encoded(start)
    return None


@scenario
def _spend_last_coin(context: ScenarioContext, seat: str, action: KuhnAction, *then: KuhnAction) -> ClientScript:
    """Play in this seat until this action cannot be paid with the last coin; then take the actions of `then`."""
    yield from _empty_purse(context, partial(_play_to_stake, seat, action))
    if not _is_out_of_coins(context.conversation):
        return _not_emptied(tracking(context.referee))
    if context.referee.game is None:
        return "the last coin was lost before"
    for next_action in then:
        yield context.encoded(ACTN[next_action])
    return None


def stake_winnings(context: ScenarioContext) -> ClientScript:
    """Lose all coins but one or none, win with it, and check that exactly the winnings can be staked."""
    missed = yield from _spend_last_coin("P_1", "BET")(context)
    if missed:
        return missed
    for _ in range(30):
        if not _can_play(context.referee):
            break
        yield context.encoded(play_randomly(context.referee, context.luck))
    if not purse_sizes(tracking(context.referee).purse):
        raise Violation("kuhn-7.4", "coins that do not add up", "what was left, and what was won since")
    return None


def check_new_purse(context: ScenarioContext) -> ClientScript:
    """Check that a purse that was emptied on one connection is full on the next, unless the house keeps accounts."""
    yield context.encoded(STRT["P_1"])
    is_empty = _is_out_of_coins(context.conversation)
    return "the house keeps accounts, or all clients share one purse" if is_empty else None


def _is_emptied(context: ScenarioContext) -> bool:
    """Whether the purse of a connection is known to have been emptied."""
    conversations = (context.conversation, *context.earlier)
    return bool(tracking(context.referee).emptied_purses) or any(map(_is_out_of_coins, conversations))


@scenario
def _drain_by_folding(context: ScenarioContext, seat: str) -> ClientScript:
    """Lose everything in this seat."""
    yield from _empty_purse(context, partial(_play_to_lose, (seat,)))
    return None


def _drain_by_calling(context: ScenarioContext) -> ClientScript:
    """Lose everything at showdowns if folds have not emptied a purse; the last of these connections."""
    if not _is_emptied(context):
        yield from _play_until_empty(context, play_to_call)
    referee = tracking(context.referee)
    return None if _is_emptied(context) or referee.known_size is not None else _not_emptied(referee)


def _spend(context: ScenarioContext) -> ClientScript:
    """Lose all but a few coins, and play until no ante can be paid, or for many games."""
    referee = tracking(context.referee)
    if sum(len(conversation.finished_games) for conversation in context.earlier) > MAX_ALL_GAMES:
        return None
    yield context.encoded(STRT[("P_1", "P_2")[len(context.earlier) // 2 % 2]])
    while referee.coins_left > USUAL_PURSE_COINS and referee.finished_count < MAX_GAMES and _can_play(referee):
        yield context.encoded(play_to_lose(referee, context.luck))
    last_game = referee.finished_count + MAX_COMPARED_GAMES
    while referee.finished_count < last_game and _can_play(referee):
        yield context.encoded(_play_loosely(referee, context.luck))
    return None


def _spend_with_mistake(context: ScenarioContext) -> ClientScript:
    """Lose all coins with one wrong message in every state: each of these purses has another one.

    It is sent once in the first state, three times in the second one, and so on: the number of coins that are missing,
    one or two each time, shows in which state they are taken.
    """
    data = context.test_data
    mistakes = [given.message for given in data.inputs if given.slug in data.invalid_inputs]
    mistake = mistakes[len(context.earlier) // 2 % len(mistakes)]
    referee = tracking(context.referee)
    states: set[str] = set()
    for message in _play_until_empty(context, play_to_lose):
        if mistake not in referee.legal and referee.state_title not in states:
            states.add(referee.state_title)
            for _ in range(2 * len(states) - 1):
                yield context.encoded(mistake)
        if _can_play(referee):
            yield message
    return None


@scenario
def _listen_for_close(context: ScenarioContext, spend: Scenario) -> ClientScript:
    """Spend coins, and listen for a moment wherever there are not enough."""
    for action in spend(context):
        yield action
        if _last_answers(context.conversation)[-1:] == [NO_COINS]:
            yield Wait(CLOSE_SECONDS)
        if not _can_play(context.referee):
            break
    return None


def _play_loosely(referee: AnyClientReferee, luck: Random) -> Message:
    """Play at random and often to lose, and ask often for what cannot be paid."""
    if referee.game is not None and tracking(referee).coins_left < 1:
        return ACTN[luck.choice(BETTING_TREE[referee.game.history][1])]
    return (play_randomly if luck.random() < 0.5 else play_to_lose)(referee, luck)


def compare_purses(context: ScenarioContext) -> ClientScript:
    """Check that one size of the purse explains what the house has accepted and refused on all connections."""
    yield from _listen_for_close(_spend_with_mistake)(context)
    conversations = (*context.earlier, context.conversation)
    if sum(_last_answers(conversation) == [NO_COINS, DISC] for conversation in conversations) >= MIN_CLOSES:
        raise Violation("kuhn-6.7", "FAIL N_C and the close", "FAIL N_C, and an open connection", kind=FoundKind.CLOSED)
    referee = tracking(context.referee)
    purses = [*referee.emptied_purses, *(tracking(each.referee).purse for each in conversations)]
    if (wrong := find_wrong_payment(purses, referee.known_size)) is not None:
        raise wrong
    return None


_case: Final = partial(room_case, "kuhn")

POOR_ACTIONS: Final[Mapping[KuhnAction, tuple[str, KuhnAction, KuhnAction]]] = {
    "BET": ("bet", "CAL", "CHK"),
    "CAL": ("call", "BET", "FLD"),
}
"""The word for an action that costs a coin, and what is wrong and what is free where it is offered."""


def _poor_cases(
    refused_slug: str, wrong_slug: str, state: str, seat: str, costly: KuhnAction
) -> Iterator[HouseServerCase]:
    """The cases in a state in which the last coin is the ante: an action that costs one, and a wrong one."""
    word, wrong, free = POOR_ACTIONS[costly]
    for slug, title, number, action in (
        (refused_slug, f"A client whose last coin is the ante cannot {word}", "7.3", costly),
        (wrong_slug, "An action that is wrong and cannot be paid either is wrong", "6.6", wrong),
    ):
        yield _case(number, slug, f"{title}, {state}", _spend_last_coin(seat, costly, action, free))


COIN_CASES: Final = (
    _case("7.2", "until-the-purse-is-empty", "A client that has lost all coins is refused the ante", lose_everything),
    *_poor_cases("no-coin-for-a-bet", "wrong-before-poor", "as the first to act", "P_1", "BET"),
    *_poor_cases(
        "no-coin-for-a-bet-at-check", "wrong-before-poor-at-check", "after a check of the house", "P_2", "BET"
    ),
    *_poor_cases("no-coin-for-a-call", "wrong-before-poor-at-bet", "after a bet of the house", "P_2", "CAL"),
    *_poor_cases(
        "no-coin-for-a-call-at-check-bet",
        "wrong-before-poor-at-check-bet",
        "after a check of its own and a bet",
        "P_1",
        "CAL",
    ),
    _case(
        "7.1",
        "a-new-purse-for-every-connection",
        "The purse is full again on a new connection",
        lose_everything,
        check_new_purse,
    ),
    _case(
        "7.4",
        "every-payment",
        "Every ante, bet, call and pot changes the purse by its coins",
        *map(_drain_by_folding, STRT),
        _drain_by_calling,
        *map(_listen_for_close, [_spend, _spend_with_mistake] * SPENT_PURSES),
        compare_purses,
        independent=range(3, 3 + 2 * SPENT_PURSES),
    ),
    _case("7.4", "what-was-won-can-be-staked", "What was won can be staked, and no more", stake_winnings),
)
