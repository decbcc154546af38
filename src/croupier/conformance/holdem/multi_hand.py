"""Server cases that need one or more hands to reach the point, independent of the cards dealt."""

from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.holdem.cases import FIRST_RANK, REQUEST_RANK, RETRIES, ROOM, HoldemServerCase
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.endpoint import FOLD, bet
from croupier.conformance.holdem.schema import parse_games
from croupier.conformance.results import Outcome
from croupier.core.http_transcript import NOBODY
from croupier.http.views import MAX_LIST_BYTES
from croupier.rooms.holdem.cards import CARD_NUMBERS

MAX_SEATS: Final = 10
POLL_COUNT: Final = 20

MAX_GAME_BYTES: Final = 10_240
"""The longest Game that the published client can read."""

MULTI_HAND_CASES: Final = CaseList(HoldemServerCase, ROOM, rank=REQUEST_RANK, retries=RETRIES)
"""The cases of this module."""


@MULTI_HAND_CASES.add("3.2", "before-anybody-plays", "There is a game at first", rank=FIRST_RANK)
@MULTI_HAND_CASES.add("3.2", "a-game-to-sit-down-at", "There is always a game with a free seat")
async def game_with_free_seat(context: HoldemContext) -> None:
    """A game with a free seat always exists."""
    if not any(len(game.table) < MAX_SEATS for game in await context.list_games()):
        context.add_deviation("holdem-3.2", "a game with a free seat", "none in the list")


@MULTI_HAND_CASES.add("5.1", "as-it-is-now", further_clauses=("holdem-1.8",))
async def current_list(context: HoldemContext) -> None:
    """The list shows a game as it is at that time."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    await context.request(role, "GET", "/games/")
    await context.act(role, game, bet(context.first_call))
    response = await context.request(role, "GET", "/games/")
    listed = [one for one in parse_games(response.body, context.dialect).games if one.game_id == game]
    shown = await context.get_game(NOBODY, game)
    if [(one.table, one.pots) for one in listed] != [(shown.table, shown.pots)]:
        found = "an earlier state of it" if listed else "a list without it"
        context.add_deviation("holdem-5.1", f"the game {game} in the list, with the same bets as alone", found)


@MULTI_HAND_CASES.add("9.10", "looking-often")
async def frequent_polls(context: HoldemContext) -> None:
    """Frequent reads are answered."""
    game = await context.seat("ann")
    for _ in range(POLL_COUNT):
        response = await context.request("ann", "GET", f"/games/{game}")
        if response.status != 200:
            context.add_status_deviation("holdem-9.10", 200, response, Outcome.CHOICE)
            return


@MULTI_HAND_CASES.add("5.18", "the-next-hand")
async def next_hand(context: HoldemContext) -> None:
    """The next hand begins at once."""
    game = await context.seat("ann", "bob")
    game_state = await context.get_game(NOBODY, game)
    await context.act(context.role_to_act(game_state), game, FOLD)
    if context.server.settings.pause_seconds or not (await context.get_game(NOBODY, game)).turn.player_id:
        context.add_deviation("holdem-5.18", "the next hand at once", "a pause", Outcome.CHOICE)


@MULTI_HAND_CASES.add("7.8", "winners", dialect="hspe-go")
async def last_winners(context: HoldemContext) -> None:
    """The last winners are shown with five cards."""
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


@MULTI_HAND_CASES.add("7.10", "in-one-piece", dialect="hspe-go")
async def body_sizes(context: HoldemContext) -> None:
    """Responses fit the buffer of the published client."""
    game = await context.seat("ann", "bob")
    for path, max_bytes in ((f"/games/{game}", MAX_GAME_BYTES), ("/games/", MAX_LIST_BYTES)):
        response = await context.request("ann", "GET", path)
        if len(response.body) > max_bytes:
            context.add_deviation("holdem-7.10", f"at most {max_bytes} bytes", f"{len(response.body)}")


@MULTI_HAND_CASES.add("7.7", "last-winners-everywhere", dialect="hspe-go")
async def last_winners_in_list(context: HoldemContext) -> None:
    """Every Game has the key last_winners."""
    await context.seat("ann", "bob")
    response = await context.request(NOBODY, "GET", "/games/")
    context.add_deviations(parse_games(response.body, context.dialect).errors)
