"""Cases for servers that take a hand or two to come to their point, whatever the cards are."""

from collections.abc import Mapping, Sequence
from typing import Final

from croupier.conformance.holdem.cases import CaseSpec
from croupier.conformance.holdem.context import NOBODY, HoldemContext
from croupier.conformance.holdem.deviations import NotReached
from croupier.conformance.holdem.schema import parse_games
from croupier.conformance.results import Outcome
from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.wire import ACTION_BET, ACTION_FOLD, Game, Player

MAX_SEATS: Final = 10
POLL_COUNT: Final = 20

MAX_GAME_BYTES: Final = 10_240
MAX_LIST_BYTES: Final = 131_072
"""So many bytes the published client reads of one Game, and of all of them."""


def bet_act(chips: int) -> Mapping[str, int]:
    """A bet of so many chips."""
    return {"action": ACTION_BET, "betAmount": chips}


async def game_with_free_seat(context: HoldemContext) -> None:
    """There is always a game with a free seat."""
    if not any(len(game.table) < MAX_SEATS for game in await context.list_games()):
        context.add_deviation("holdem-3.2", "a game with a free seat", "none in the list")


async def frequent_polls(context: HoldemContext) -> None:
    """Whoever looks as often as he likes is answered."""
    game = await context.seat("ann")
    for _ in range(POLL_COUNT):
        answer = await context.request("ann", "GET", f"/games/{game}")
        if answer.status != 200:
            context.add_deviation("holdem-9.10", "status 200", answer.summary, Outcome.CHOICE, got=answer.render())
            return


async def next_hand(context: HoldemContext) -> None:
    """The next hand begins when the last one has ended."""
    game = await context.seat("ann", "bob")
    shown = await context.get_game(NOBODY, game)
    await context.act(context.role_to_act(shown), game, {"action": ACTION_FOLD})
    if not (await context.get_game(NOBODY, game)).turn.player_id:
        context.add_deviation("holdem-5.18", "the next hand in the same moment", "a pause", Outcome.CHOICE)


async def _make_short_stack(context: HoldemContext, left: int) -> tuple[str, str]:
    """Two play, and one loses all but so many chips; a third has sat down meanwhile. The game, and who is poor."""
    game = await context.seat("ann", "bob")
    await context.register("cid")
    shown = await context.get_game(NOBODY, game)
    poor = context.role_to_act(shown)
    mine = _player(shown, shown.turn.player_id)
    answer = await context.act(poor, game, bet_act(mine.wealth - left))
    context.require_seat(await context.request("cid", "POST", f"/games/{game}/players/"))
    shown = await context.get_game(NOBODY, game)
    if answer.status >= 300 or context.role_to_act(shown) in {"", poor}:
        raise NotReached("nobody can be made poor: a large bet is not accepted")
    other = _player(shown, shown.turn.player_id)
    await context.act(context.role_to_act(shown), game, bet_act(other.wealth))
    await context.act(poor, game, {"action": ACTION_FOLD})
    shown = await context.get_game(NOBODY, game)
    if len(shown.table) != 3 or sum(_total_chips(one) == left for one in shown.table) != 1:
        raise NotReached("nobody can be made poor: no next hand with three players, and one of them poor")
    return game, poor


async def short_all_in(context: HoldemContext) -> None:
    """Who has acted may not raise again when an all-in has raised by less than a full raise."""
    game, poor = await _make_short_stack(context, 2000)
    raiser = ""
    short = False
    for _ in range(8):
        shown = await context.get_game(NOBODY, game)
        role, turn = context.role_to_act(shown), shown.turn
        mine = _player(shown, turn.player_id)
        if shown.cards.flop or not role:
            break
        if role == poor:
            chips = mine.wealth if raiser else turn.bet_to_player - turn.bet_so_far
            short = bool(raiser)
        elif not raiser:
            raiser, chips = role, 1400 - turn.bet_so_far
        elif role == raiser and short:
            await _require_no_reopen(context, game, role, shown)
            return
        else:
            chips = turn.bet_to_player - turn.bet_so_far
        answer = await context.act(role, game, bet_act(chips))
        if answer.status >= 300:
            context.add_deviation("holdem-6.9", "status 201", answer.summary, got=answer.render())
            return
    raise NotReached("the one who raised was not asked again")


async def _require_no_reopen(context: HoldemContext, game: str, role: str, shown: Game) -> None:
    turn = shown.turn
    if turn.bet_to_player != 2000:
        context.add_deviation(
            "holdem-6.9", "bet_to_player 2000: a short all-in has to be called", f"{turn.bet_to_player}"
        )
        return
    answer = await context.act(role, game, bet_act(turn.bet_to_player - turn.bet_so_far + 3000))
    after = await context.get_game(NOBODY, game)
    one = next((one for one in after.table if one.player_id == turn.player_id), None)
    if answer.status >= 300 or one is None or one.state != "folded":
        found = "the raise is taken" if answer.status < 300 else answer.summary
        context.add_deviation("holdem-4.12", "a fold: the betting was not opened again", found)


async def short_blind(context: HoldemContext) -> None:
    """Where the big blind is more than a player has, the others have to match all of it."""
    game, poor = await _make_short_stack(context, 5)
    shown = await context.get_game(NOBODY, game)
    one = next(one for one in shown.table if one.player_id == context.player_id(poor, game))
    if one.small_blind or not one.bet_so_far:
        raise NotReached("the poor one has not the big blind")
    if shown.turn.bet_to_player != 20:
        context.add_deviation("holdem-6.10", "bet_to_player 20", f"{shown.turn.bet_to_player}")
    if (one.wealth, one.bet_so_far) != (0, 5):
        context.add_deviation("holdem-6.10", "0 behind and a bet of 5", f"{one.wealth} and {one.bet_so_far}")


async def last_winners(context: HoldemContext) -> None:
    """Who won at the showdown is told with five cards, and nobody where there was none."""
    game = await context.seat("ann", "bob")
    shown = await context.get_game(NOBODY, game)
    await context.act(context.role_to_act(shown), game, {"action": ACTION_FOLD})
    shown = await context.get_game(NOBODY, game)
    if shown.last_winners:
        context.add_deviation("holdem-7.8", "no last_winners behind a hand without a showdown", f"{shown.last_winners}")
    for _ in range(9):
        chips = shown.turn.bet_to_player - shown.turn.bet_so_far
        await context.act(context.role_to_act(shown), game, bet_act(chips))
        shown = await context.get_game(NOBODY, game)
        if shown.last_winners:
            break
    told = shown.last_winners or ()
    if not told or any(len({*one.hand} & CARD_NUMBERS.keys()) != 5 for one in told):
        context.add_deviation("holdem-7.8", "the winners of the showdown with their best five cards", f"{told}")
    elif {one.player_id for one in told} - {place.player_id for place in context.joined_seats}:
        context.add_deviation("holdem-7.8", "winners who play at this table", f"{told}")


async def body_sizes(context: HoldemContext) -> None:
    """What is shown fits into the reader of the published client."""
    game = await context.seat("ann", "bob")
    for path, most in ((f"/games/{game}", MAX_GAME_BYTES), ("/games/", MAX_LIST_BYTES)):
        answer = await context.request("ann", "GET", path)
        if len(answer.body) > most:
            context.add_deviation("holdem-7.10", f"{most} bytes at the most", f"{len(answer.body)}")


async def last_winners_in_list(context: HoldemContext) -> None:
    """Every Game has the key last_winners."""
    await context.seat("ann", "bob")
    answer = await context.request(NOBODY, "GET", "/games/")
    context.add_schema_errors(parse_games(answer.body, context.dialect).errors)


def _player(shown: Game, player: str) -> Player:
    """A player of the table. Raises Unshown where it is nobody's turn."""
    for one in shown.table:
        if one.player_id == player:
            return one
    raise NotReached("it is nobody's turn, although two sit at the table")


def _total_chips(one: Player) -> int:
    return one.wealth + one.bet_so_far


MULTI_HAND_CASES: Final[Sequence[CaseSpec]] = (
    CaseSpec("holdem-3.2", "a-game-to-sit-down-at", "There is always a game with a free seat", game_with_free_seat),
    CaseSpec("holdem-5.18", "the-next-hand", "The next hand begins at once", next_hand),
    CaseSpec("holdem-6.9", "a-short-all-in", "A short all-in opens no betting again", short_all_in, ("holdem-4.12",)),
    CaseSpec("holdem-6.10", "a-short-blind", "A short blind does not make the bet smaller", short_blind),
    CaseSpec("holdem-9.10", "looking-often", "Who looks often is answered", frequent_polls),
)  # fmt: skip
"""What these cases are."""

HSPE_GO_CASES: Final[Sequence[CaseSpec]] = (
    CaseSpec("holdem-7.7", "last-winners-everywhere", "Every Game has the key last_winners", last_winners_in_list),
    CaseSpec("holdem-7.8", "winners", "The last winners are told with five cards", last_winners),
    CaseSpec("holdem-7.10", "in-one-piece", "What is shown fits into the reader of the published client", body_sizes),
)
"""The same for dialect hspe-go."""
