"""Server cases about many players at one table: the button's way round, full tables, and the queue."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.holdem.cases import (
    EMPTY_GAME_RANK,
    REQUEST_RANK,
    RETRIES,
    ROOM,
    VARIATION_RANK,
    HoldemServerCase,
)
from croupier.conformance.holdem.context import QUEUED, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import FOLD, bet
from croupier.conformance.results import Outcome
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem.engine.stakes import MAX_SEATS
from croupier.rooms.holdem.wire import Game

EARLY_RANK: Final = EMPTY_GAME_RANK
"""The button decides whose turn it is: other cases break if it goes astray."""

LATE_RANK: Final = VARIATION_RANK
"""A case that plays several hands until luck brings what it is about comes late."""

MAX_SHORT_STACK_HANDS: Final = 8
"""In one of 8 hands a player with the fewest chips of three wins with a chance of 96 %."""

MAX_FOLDED_HANDS: Final = 6
"""After two or three hands in which only blinds are lost, two of four players have more chips than the others."""

CONFLICT: Final = 409

BUTTON_ROLES: Final = ("ann", "bob", "cid", "dan")

TABLE_CASES: Final = CaseList(HoldemServerCase, ROOM, rank=REQUEST_RANK, retries=RETRIES)
"""The cases of this module."""


@TABLE_CASES.add("6.2", "once-round", rank=EARLY_RANK)
async def button_goes_round(context: HoldemContext) -> None:
    """The button goes once round the table."""
    roles = BUTTON_ROLES[: context.server.settings.seats]
    game = await context.seat(*roles)
    await fold_to_end(context, game)  # all of them are dealt in from here on
    shown = await context.get_game(NOBODY, game)
    table = [player.player_id for player in shown.table]
    if len(table) != len(roles):
        raise NotReached(f"{len(table)} of {len(roles)} players are dealt in")
    before = _small_blind(shown)
    for _ in roles:
        await fold_to_end(context, game)
        shown = await context.get_game(NOBODY, game)
        if [player.player_id for player in shown.table] != table:
            raise NotReached("the players have changed")
        here, due = _small_blind(shown), (before + 1) % len(table)
        if here != due:
            found = f"that of {_name(context, shown, here)}, after {_name(context, shown, before)}"
            context.add_deviation("holdem-6.2", f"the small blind of {_name(context, shown, due)}", found)
            return
        before = here


@TABLE_CASES.add("6.2", "when-players-leave")
async def button_after_leavers(context: HoldemContext) -> None:
    """The button moves on to the next player also when others have left: the last big blind is the small blind."""
    game = await context.seat(*BUTTON_ROLES, "eve")
    await fold_to_end(context, game)  # all of them are dealt in from here on
    shown = await context.get_game(NOBODY, game)
    if len(shown.table) != len(BUTTON_ROLES) + 1:
        raise NotReached(f"{len(shown.table)} of {len(BUTTON_ROLES) + 1} players are dealt in")
    for steps_from_small_blind in (2, -1):  # the first to act, and then the button
        small = _small_blind(shown)
        big_blind, leaver = (
            shown.table[(small + steps) % len(shown.table)].player_id for steps in (1, steps_from_small_blind)
        )
        due = (small + 1) % len(shown.table)
        expected = f"the small blind of {_name(context, shown, due)}, who had the big blind"
        role = next(seat.role for seat in context.joined_seats if (seat.game, seat.player_id) == (game, leaver))
        await context.leave(role, game)
        await fold_to_end(context, game)
        shown = await context.get_game(NOBODY, game)
        if big_blind not in [player.player_id for player in shown.table]:
            raise NotReached("the last big blind is not dealt in")
        here = _small_blind(shown)
        if shown.table[here].player_id != big_blind:
            context.add_deviation("holdem-6.2", expected, f"that of {_name(context, shown, here)}")
            return


@TABLE_CASES.add("3.14", "with-new-chips", further_clauses=("holdem-3.1",))
async def joins_again(context: HoldemContext) -> None:
    """A player who leaves and joins again gets new chips, as at the first time."""
    game, stack = await context.seat("ann", "bob"), context.server.settings.stack
    role = await _lose(context, game, stack // 2)
    await context.leave(role, game)
    await context.join(role, game)
    chips = _brought_chips(context, await context.get_game(NOBODY, game), role)
    if chips not in {None, stack}:
        context.add_deviation("holdem-3.14", f"{stack} chips of {role}, as of all who join", f"{chips}")


@TABLE_CASES.add("6.12", "a-short-stack-wins", rank=LATE_RANK)
async def short_stack_wins(context: HoldemContext) -> None:
    """A player who is all-in does not win the side pot. The referee checks the chips after each hand."""
    await _play_until_short_stack_wins(context, _all_in)


@TABLE_CASES.add("6.12", "a-short-stack-wins-after-a-fold", rank=LATE_RANK)
async def short_stack_wins_after_fold(context: HoldemContext) -> None:
    """An all-in player does not win the chips that a folded player has bet above the all-in."""
    await _play_until_short_stack_wins(context, _fold_in_side_pot)


async def _play_until_short_stack_wins(
    context: HoldemContext, play: Callable[[HoldemContext, str, Sequence[int]], Awaitable[None]]
) -> None:
    """Play a hand in which the player with the fewest chips of three is all-in until that one wins. Raises NotReached.

    `play` gets the game, and the chips of the players before the hand from the fewest to the most.
    """
    context.require_table(3)
    await context.register("cid")
    for _ in range(MAX_SHORT_STACK_HANDS):
        game = await context.seat("ann", "bob")
        short = await _lose(context, game, 3 * context.server.settings.stack // 4)
        await context.join("cid", game)
        await fold_to_end(context, game)  # all three are dealt in from here on
        shown = await context.get_game(NOBODY, game)
        if len(shown.table) != 3:
            raise NotReached(f"{len(shown.table)} of 3 players are dealt in")
        await play(context, game, sorted(player.wealth + player.bet_so_far for player in shown.table))
        after = await context.get_game(NOBODY, game)
        won = any(player.player_id == context.player_id(short, game) for player in after.table)
        for seat in [seat for seat in context.joined_seats if seat.game == game]:
            await context.leave(seat.role, game)
        if won:
            return
    raise NotReached(f"in {MAX_SHORT_STACK_HANDS} hands the player with the fewest chips has won nothing")


@TABLE_CASES.add("5.17", "when-the-highest-bets-leave", rank=LATE_RANK)
async def highest_bets_leave(context: HoldemContext) -> None:
    """No chip is lost when both players with the highest bet leave, and two others are all-in for less."""
    game = await context.seat(*BUTTON_ROLES)
    order, chips = await _uneven_chips(context, game)
    deep = sorted(order, key=lambda player: -chips[player])[:2]
    level = min(chips[player] for player in deep)
    first, last = sorted(deep, key=order.index)
    raiser = last if order.index(last) - order.index(first) > 1 else first  # the player with few chips acts after both
    acted: list[str] = []
    while not {*deep} <= {*acted}:
        shown = await context.get_game(NOBODY, game)
        acted += [shown.turn.player_id] * (shown.turn.player_id == raiser or raiser in acted)
        await _bet_up_to(context, shown, level if raiser in acted else shown.turn.bet_to_player)
    shown = await context.get_game(NOBODY, game)
    due = _all_chips(shown) - sum(one.wealth for one in shown.table if one.player_id in deep)
    for seat in [*context.joined_seats]:
        if seat.player_id in deep and (await context.leave(seat.role, game)).status >= 300:
            raise NotReached("a player cannot leave")
    after = await context.get_game(NOBODY, game)
    if after.turn.player_id == shown.turn.player_id and sum(pot.size for pot in after.pots) > level:
        await _bet_up_to(context, after, level)
        after = await context.get_game(NOBODY, game)
    if (found := _all_chips(after)) != due:
        context.add_deviation("holdem-5.17", f"{due} chips of those who stay, and in the pots", f"{found}")


async def _uneven_chips(context: HoldemContext, game: str) -> tuple[Sequence[str], Mapping[str, int]]:
    """Fold hands until two of four players have more chips than the others; return the order to act, and the chips.

    Raises NotReached.
    """
    for _ in range(MAX_FOLDED_HANDS):
        await fold_to_end(context, game)
        table, turn = (shown := await context.get_game(NOBODY, game)).table, shown.turn.player_id
        chips = {player.player_id: player.wealth + player.bet_so_far for player in table}
        ranked = sorted(chips.values(), reverse=True)
        if len(ranked) == len(BUTTON_ROLES) and turn in chips and ranked[1] > ranked[2]:
            players = [*chips]
            return players[players.index(turn) :] + players[: players.index(turn)], chips
    raise NotReached(f"in {MAX_FOLDED_HANDS} hands no two of four players have more chips than the others")


async def _bet_up_to(context: HoldemContext, shown: Game, level: int) -> None:
    """Let the player to act match a total in this round, or bet everything. Raises NotReached."""
    me = next((player for player in shown.table if player.player_id == shown.turn.player_id), None)
    if me is None:
        raise NotReached("it is the turn of no player")
    amount = min(me.wealth, level - me.bet_so_far)
    await _act_in_turn(context, context.role_to_act(shown), shown.game_id, bet(amount))


def _all_chips(shown: Game) -> int:
    return sum(player.wealth for player in shown.table) + sum(pot.size for pot in shown.pots)


async def _lose(context: HoldemContext, game: str, chips: int) -> str:
    """Play a hand in which a player loses this many chips, by a fold after the flop; return the role of that player."""
    for _ in range(2):
        shown = await context.get_game(NOBODY, game)
        role = context.role_to_act(shown)
        await _act_in_turn(context, role, game, bet(chips - shown.turn.bet_so_far))
    role = context.role_to_act(await context.get_game(NOBODY, game))
    await _act_in_turn(context, role, game, FOLD)
    return role


async def _all_in(context: HoldemContext, game: str, chips: Sequence[int]) -> None:
    """Let all three players put in as much as two of them have."""
    await _put_in(context, game, chips[1])


async def _fold_in_side_pot(context: HoldemContext, game: str, chips: Sequence[int]) -> None:
    """Let two players bet more than the third one has, and one of them fold after the flop."""
    await _put_in(context, game, (chips[0] + chips[1]) // 2)
    for act in (bet(context.server.settings.stakes.big_blind), FOLD):
        role = context.role_to_act(await context.get_game(NOBODY, game))
        await _act_in_turn(context, role, game, act)


async def _put_in(context: HoldemContext, game: str, chips: int) -> None:
    """Let each of three players bet this many chips, or what they have."""
    for _ in range(3):
        await _bet_up_to(context, await context.get_game(NOBODY, game), chips)


async def _act_in_turn(context: HoldemContext, role: str, game: str, act: Mapping[str, int]) -> None:
    if not role or (await context.act(role, game, act)).status >= 300:
        raise NotReached("an act in turn is refused")


def _brought_chips(context: HoldemContext, shown: Game, role: str) -> int | None:
    """Return the chips with which a player has come to the first hand before any act; None if not at the table."""
    player = context.player_id(role, shown.game_id)
    ante = context.server.settings.stakes.ante if shown.turn.player_id else 0
    return next((one.wealth + one.bet_so_far + ante for one in shown.table if one.player_id == player), None)


def _small_blind(shown: Game) -> int:
    """Return the place of the small blind at the table. Raises NotReached if nobody has posted it, or several have."""
    places = [place for place, player in enumerate(shown.table) if player.small_blind]
    if len(places) != 1:
        raise NotReached(f"{len(places)} players have the small blind")
    return places[0]


def _name(context: HoldemContext, shown: Game, place: int) -> str:
    player = shown.table[place].player_id
    return next((seat.role for seat in context.joined_seats if seat.player_id == player), player)


@TABLE_CASES.add("3.6", "a-full-table", further_clauses=("holdem-3.9", "holdem-3.1"))
async def full_table(context: HoldemContext) -> None:
    """A player who joins a full table waits."""
    game, seated, (late, *_) = await _fill_table(context, 1)
    if len(seated) < MAX_SEATS:
        context.add_deviation("holdem-3.1", f"{MAX_SEATS} seats", f"{len(seated)}", Outcome.CHOICE)
    if len((await context.get_game(NOBODY, game)).table) > len(seated):
        context.add_deviation("holdem-3.1", f"at most {len(seated)} players at the table", "more")
    await context.leave(seated[0], game)
    if late not in await _roles_at_table(context, game):  # else the next hand has begun, the first one of `late`
        await fold_to_end(context, game)
    if late not in await _roles_at_table(context, game):
        context.add_deviation("holdem-3.9", f"{late} at the table when the next hand begins", "a table without them")
        return
    stack, chips = context.server.settings.stack, _brought_chips(context, await context.get_game(NOBODY, game), late)
    if chips not in {None, stack}:
        context.add_deviation("holdem-3.9", f"{stack} chips of {late}, as of all who join", f"{chips}")


@TABLE_CASES.add("3.7", "in-the-queue", dialect="readme")
async def queued_twice(context: HoldemContext) -> None:
    """A user who waits in the queue is refused when joining again."""
    game, _, (late, *_) = await _fill_table(context, 1)
    response = await context.request(late, "POST", f"/games/{game}/players/")
    if response.status != CONFLICT:
        context.add_status_deviation("holdem-3.7", CONFLICT, response)


@TABLE_CASES.add("3.9", "the-queue-in-order")
async def queue_in_order(context: HoldemContext) -> None:
    """Free seats go to the queue in order."""
    game, seated, waiting = await _fill_table(context, 2)
    for left, first, others in ((seated[0], waiting[0], waiting[1:]), (seated[1], waiting[1], ())):
        await context.leave(left, game)
        await fold_to_end(context, game)
        roles = await _roles_at_table(context, game)
        if first not in roles or {*others} & {*roles}:
            found = ", ".join(role for role in waiting if role in roles) or "none of those who wait"
            context.add_deviation("holdem-3.9", f"{first} at the table, who was the first in the queue", found)
            return


@TABLE_CASES.add("3.12", "out-of-the-queue", further_clauses=("holdem-3.9",))
async def queue_without_one(context: HoldemContext) -> None:
    """A player may leave the queue."""
    game, seated, (gone, second, *_) = await _fill_table(context, 2)
    context.require_success(await context.leave(gone, game), "holdem-3.12", 200)
    await context.leave(seated[0], game)
    await fold_to_end(context, game)
    roles = await _roles_at_table(context, game)
    if gone in roles:
        context.add_deviation("holdem-3.12", f"a table without {gone}, who has left the queue", f"{gone} at the table")
    elif second not in roles:
        context.add_deviation("holdem-3.9", f"{second} at the table, now first in the queue", "a table without them")


async def _fill_table(context: HoldemContext, queue: int) -> tuple[str, Sequence[str], Sequence[str]]:
    """Let users join a game until `queue` or more of them wait; return the game, the seated roles and those who wait.

    Raises CaseAborted if the table does not become full.
    """
    roles = [f"p{number}" for number in range(MAX_SEATS + queue)]
    await context.register(*roles)
    game = await context.seat(*roles[:2])
    seated, waiting = roles[:2], list[str]()
    for late in roles[2:]:
        response = await context.request(late, "POST", f"/games/{game}/players/")
        if response.status == QUEUED and context.dialect == "readme":
            waiting.append(late)
            if len(waiting) == queue:
                return game, seated, waiting
        elif 200 <= response.status < 300:
            context.require_seat(response)
            seated.append(late)
        else:  # the others have got seats: there is none left
            break
    if context.dialect == "hspe-go" and response.status == QUEUED:  # it answers so with a free seat, too
        await fold_to_end(context, game)
        at_table = await _roles_at_table(context, game)
        waiting = [role for role in seated if role not in at_table]
        if len(waiting) >= queue:
            return game, [role for role in seated if role in at_table], waiting
    context.add_status_deviation("holdem-3.6", QUEUED, response, what=": the table is full")
    raise CaseAborted


async def _roles_at_table(context: HoldemContext, game: str) -> Sequence[str]:
    players = {player.player_id for player in (await context.get_game(NOBODY, game)).table}
    return [seat.role for seat in context.joined_seats if seat.game == game and seat.player_id in players]


async def fold_to_end(context: HoldemContext, game: str) -> None:
    """Let all but one player fold. Raises NotReached if a fold in turn is refused."""
    game_state = await context.get_game(NOBODY, game)
    for _ in range(len(game_state.table) - 1):
        role = context.role_to_act(game_state)
        if not role:
            return
        response = await context.act(role, game, FOLD)
        if response.status >= 300:
            raise NotReached("a fold in turn is refused")
        after = await context.get_game(NOBODY, game)
        if after.turn.player_id == game_state.turn.player_id and len(game_state.table) > 2:
            return
        game_state = after
