"""Server cases that need one or more hands to reach the point, independent of the cards dealt."""

from collections.abc import Sequence
from typing import Final

from croupier.conformance.holdem.cases import FIRST_RANK, CaseSpec
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import NotReached
from croupier.conformance.holdem.endpoint import FOLD, bet
from croupier.conformance.holdem.exchange import NOBODY
from croupier.conformance.holdem.schema import parse_games
from croupier.conformance.results import Outcome
from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.wire import Game, Player

MAX_SEATS: Final = 10
POLL_COUNT: Final = 20

MAX_GAME_BYTES: Final = 10_240
MAX_LIST_BYTES: Final = 131_072
"""The read limits of the published client for one Game and for the list of games."""


async def game_with_free_seat(context: HoldemContext) -> None:
    """A game with a free seat always exists."""
    if not any(len(game.table) < MAX_SEATS for game in await context.list_games()):
        context.add_deviation("holdem-3.2", "a game with a free seat", "none in the list")


async def frequent_polls(context: HoldemContext) -> None:
    """Frequent reads are answered."""
    game = await context.seat("ann")
    for _ in range(POLL_COUNT):
        response = await context.request("ann", "GET", f"/games/{game}")
        if response.status != 200:
            context.add_status_deviation("holdem-9.10", 200, response, Outcome.CHOICE)
            return


async def next_hand(context: HoldemContext) -> None:
    """The next hand begins when the last one ends."""
    game = await context.seat("ann", "bob")
    game_state = await context.get_game(NOBODY, game)
    await context.act(context.role_to_act(game_state), game, FOLD)
    if context.server.pause_seconds or not (await context.get_game(NOBODY, game)).turn.player_id:
        context.add_deviation("holdem-5.18", "the next hand at once", "a pause", Outcome.CHOICE)


async def _make_short_stack(context: HoldemContext, left: int) -> tuple[str, str]:
    """Bring one of two players down to `left` chips while a third one joins; return the game and the short role."""
    game = await context.seat("ann", "bob")
    await context.register("cid")
    game_state = await context.get_game(NOBODY, game)
    short_role = context.role_to_act(game_state)
    player = _player(game_state, game_state.turn.player_id)
    response = await context.act(short_role, game, bet(player.wealth - left))
    context.require_seat(await context.request("cid", "POST", f"/games/{game}/players/"))
    game_state = await context.get_game(NOBODY, game)
    if response.status >= 300 or context.role_to_act(game_state) in {"", short_role}:
        raise NotReached("no player can be left with few chips: a large bet is not accepted")
    other = _player(game_state, game_state.turn.player_id)
    await context.act(context.role_to_act(game_state), game, bet(other.wealth))
    await context.act(short_role, game, FOLD)
    game_state = await context.get_game(NOBODY, game)
    if len(game_state.table) != 3 or sum(_total_chips(one) == left for one in game_state.table) != 1:
        raise NotReached("there is no next hand of three players with a short stack")
    return game, short_role


async def short_all_in(context: HoldemContext) -> None:
    """A raise of less than a full raise, by an all-in, does not reopen the betting."""
    stack = context.server.stack
    short_stack, raised_to = stack // 5, stack * 7 // 50
    if short_stack - raised_to >= raised_to - context.server.stakes.big_blind:
        raise NotReached("stacks are too small for a short all-in")
    game, short_role = await _make_short_stack(context, short_stack)
    raiser = ""
    short = False
    for _ in range(8):
        game_state = await context.get_game(NOBODY, game)
        role, turn = context.role_to_act(game_state), game_state.turn
        player = _player(game_state, turn.player_id)
        if game_state.cards.flop or not role:
            break
        if role == short_role:
            chips = player.wealth if raiser else turn.bet_to_player - turn.bet_so_far
            short = bool(raiser)
        elif not raiser:
            raiser, chips = role, raised_to - turn.bet_so_far
        elif role == raiser and short:
            await _require_no_reopen(context, game, role, game_state, short_stack)
            return
        else:
            chips = turn.bet_to_player - turn.bet_so_far
        response = await context.act(role, game, bet(chips))
        if response.status >= 300:
            context.add_status_deviation("holdem-6.9", 201, response)
            return
    raise NotReached("the player who raised had no further turn")


async def _require_no_reopen(context: HoldemContext, game: str, role: str, game_state: Game, short_stack: int) -> None:
    turn = game_state.turn
    if turn.bet_to_player != short_stack:
        expected = f"bet_to_player {short_stack}: a short all-in has to be called"
        context.add_deviation("holdem-6.9", expected, f"{turn.bet_to_player}")
        return
    raise_chips = turn.bet_to_player - turn.bet_so_far + context.server.stack * 3 // 10
    response = await context.act(role, game, bet(raise_chips))
    after = await context.get_game(NOBODY, game)
    one = next((one for one in after.table if one.player_id == turn.player_id), None)
    if response.status >= 300 or one is None or one.state != "folded":
        found = "the raise is accepted" if response.status < 300 else response.summary
        context.add_deviation("holdem-4.12", "a fold: the betting was not reopened", found)


async def short_blind(context: HoldemContext) -> None:
    """If a player cannot pay the whole big blind, the others still have to match it."""
    big_blind = context.server.stakes.big_blind
    short_stack = max(1, big_blind // 4)
    game, short_role = await _make_short_stack(context, short_stack)
    game_state = await context.get_game(NOBODY, game)
    one = next(one for one in game_state.table if one.player_id == context.player_id(short_role, game))
    if one.small_blind or not one.bet_so_far:
        raise NotReached("the short stack does not have the big blind")
    if game_state.turn.bet_to_player != big_blind:
        context.add_deviation("holdem-6.10", f"bet_to_player {big_blind}", f"{game_state.turn.bet_to_player}")
    if (one.wealth, one.bet_so_far) != (0, short_stack):
        found = f"{one.wealth} and {one.bet_so_far}"
        context.add_deviation("holdem-6.10", f"0 behind and a bet of {short_stack}", found)


async def last_winners(context: HoldemContext) -> None:
    """`last_winners` has five cards per winner after a showdown, and is empty otherwise."""
    game = await context.seat("ann", "bob")
    game_state = await context.get_game(NOBODY, game)
    await context.act(context.role_to_act(game_state), game, FOLD)
    game_state = await context.get_game(NOBODY, game)
    if game_state.last_winners:
        context.add_deviation(
            "holdem-7.8", "no last_winners after a hand without a showdown", f"{game_state.last_winners}"
        )
    for _ in range(9):
        chips = game_state.turn.bet_to_player - game_state.turn.bet_so_far
        await context.act(context.role_to_act(game_state), game, bet(chips))
        game_state = await context.get_game(NOBODY, game)
        if game_state.last_winners:
            break
    winners = game_state.last_winners or ()
    if not winners or any(len({*one.hand} & CARD_NUMBERS.keys()) != 5 for one in winners):
        context.add_deviation("holdem-7.8", "the winners of the showdown with their best five cards", f"{winners}")
    elif {one.player_id for one in winners} - {place.player_id for place in context.joined_seats}:
        context.add_deviation("holdem-7.8", "winners who play at this table", f"{winners}")


async def body_sizes(context: HoldemContext) -> None:
    """Responses fit into the read buffer of the published client."""
    game = await context.seat("ann", "bob")
    for path, max_bytes in ((f"/games/{game}", MAX_GAME_BYTES), ("/games/", MAX_LIST_BYTES)):
        response = await context.request("ann", "GET", path)
        if len(response.body) > max_bytes:
            context.add_deviation("holdem-7.10", f"at most {max_bytes} bytes", f"{len(response.body)}")


async def last_winners_in_list(context: HoldemContext) -> None:
    """Every Game in the list has the key last_winners."""
    await context.seat("ann", "bob")
    response = await context.request(NOBODY, "GET", "/games/")
    context.add_schema_errors(parse_games(response.body, context.dialect).errors)


def _player(game_state: Game, player: str) -> Player:
    """Return a player of the table. Raises NotReached if it is nobody's turn."""
    for one in game_state.table:
        if one.player_id == player:
            return one
    raise NotReached("no player has the turn, although two sit at the table")


def _total_chips(one: Player) -> int:
    return one.wealth + one.bet_so_far


MULTI_HAND_CASES: Final[Sequence[CaseSpec]] = (
    CaseSpec("holdem-3.2", "before-anybody-plays", "There is a game at first", game_with_free_seat, rank=FIRST_RANK),
    CaseSpec("holdem-3.2", "a-game-to-sit-down-at", "There is always a game with a free seat", game_with_free_seat),
    CaseSpec("holdem-5.18", "the-next-hand", "The next hand begins at once", next_hand),
    CaseSpec("holdem-6.9", "a-short-all-in", "A short all-in reopens no betting", short_all_in, ("holdem-4.12",)),
    CaseSpec("holdem-6.10", "a-short-blind", "A short blind does not lower the bet", short_blind),
    CaseSpec("holdem-9.10", "looking-often", "Frequent reads are answered", frequent_polls),
)  # fmt: skip
"""The cases of this module for all dialects."""

HSPE_GO_CASES: Final[Sequence[CaseSpec]] = (
    CaseSpec("holdem-7.7", "last-winners-everywhere", "Every Game has the key last_winners", last_winners_in_list),
    CaseSpec("holdem-7.8", "winners", "The last winners are shown with five cards", last_winners),
    CaseSpec("holdem-7.10", "in-one-piece", "Responses fit the buffer of the published client", body_sizes),
)
"""The cases of this module for dialect hspe-go."""
