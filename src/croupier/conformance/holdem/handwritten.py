"""Server cases that no transcript covers: expired turns, hidden cards, the shuffle."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Final

from msgspec.json import encode

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.holdem.cases import DEAL_RANK, REQUEST_RANK, RETRIES, ROOM, HoldemServerCase
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import FOLD, LEAVING_CLAUSE, PASSWORD, ServerUser, basic_auth_header, bet
from croupier.conformance.holdem.http_client import ResponseError
from croupier.conformance.holdem.schema import parse_expiry, parse_games, seconds_left
from croupier.conformance.holdem.table_cases import fold_to_end
from croupier.conformance.holdem.table_settings import TURN_SECONDS
from croupier.conformance.results import Outcome
from croupier.core.errors import FoundKind, Violation
from croupier.core.http_transcript import NOBODY
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.net.event_loop import cancel_all
from croupier.rooms.holdem.engine.stakes import STAKES, STARTING_STACK
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import Game

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403

CLOCK_ERROR_SECONDS: Final = 0.5
"""The server's time is known with this error: the Date header has whole seconds."""

MAX_LATE_SECONDS: Final = 4.0
END_POLL_SECONDS: Final = 0.1
"""A turn may end this late, since a machine may be slow, and its end is polled with this interval."""

MAX_SHORT_SECONDS: Final = 1.5
"""A turn may look shorter than another one by this much: the server's time, and the time of an answer, are inexact."""

EARLY_LOOK_FRACTION: Final = 0.75
"""After this part of a turn it must not have ended yet."""

LONG_POLL_SECONDS: Final = 5.0
SETTLE_SECONDS: Final = 0.1
"""The long-poll parameter `wait`, and the delay before the change that ends it."""

OBJECT_NAMES: Final = ("constructor", "toString", "valueOf")
"""Keys that a dictionary has in JavaScript before any user is in it."""

MARKS: Final = '"\\<b>&'
"""Characters that JSON, or a page, has to escape."""

ESCAPES_HTML: Final = Cause("it escapes text for HTML, in which it is not sent")

OLD_TIMER: Final = Cause("it does not stop the timer of a turn when the player acts", clause="holdem-4.15")
LEFT_TIMER: Final = Cause("it does not stop the timer of a turn when the player leaves", clause="holdem-4.15")
"""The causes of a turn that ends too early: when the time of an earlier turn is over."""

CONCURRENT_REQUESTS: Final = 8
"""How many requests of which only one may succeed are sent at once."""

SHUFFLE_TEST_HANDS: Final = 4
"""Hands of two players: a shuffled deck deals both hands again in the same order with a chance below 1e-6."""

HANDWRITTEN_CASES: Final = CaseList(HoldemServerCase, ROOM, rank=REQUEST_RANK, retries=RETRIES)
"""The cases of this module."""


# Users.


@HANDWRITTEN_CASES.add("2.1", "the-whole-password")
async def whole_password(context: HoldemContext) -> None:
    """A password does not end at a colon, and a user with a colon in it can log in."""
    user = context.users["ann"] = ServerUser(context.server.new_name("ann"), "with:colon")
    if (await context.request("ann", "POST", "/users/")).status >= 300:
        raise NotReached("a password with a colon is refused")
    game = await context.seat("bob")
    path, login = f"/games/{game}/players/", dict([basic_auth_header(user.name, "with")])
    response = await context.request(NOBODY, "POST", path, headers=login)
    if response.status < 300:
        context.add_status_deviation("holdem-2.1", 401, response, what=" to the password up to its colon")
    elif (response := await context.request("ann", "POST", path)).status == UNAUTHORIZED:
        user.guid = ""  # no other case can use it
        context.add_status_deviation("holdem-2.1", 201, response, what=" to the password with its colon")


@HANDWRITTEN_CASES.add("2.2", "names-of-every-object", dialect="readme")
async def names_of_every_object(context: HoldemContext) -> None:
    """Names that every object of JavaScript has are free, or belong to users of an earlier run."""
    for name in OBJECT_NAMES:
        login = dict([basic_auth_header(name, PASSWORD)])
        response = await context.request(NOBODY, "POST", "/users/", headers=login)
        if response.status != FORBIDDEN:
            return
        if (await context.request(NOBODY, "POST", "/games/none/players/", headers=login)).status != UNAUTHORIZED:
            return
    context.add_status_deviation("holdem-2.2", 201, response, what=" to names of no user")


@HANDWRITTEN_CASES.add("2.6", "at-once", dialect="readme")
async def concurrent_registrations(context: HoldemContext) -> None:
    """A name becomes one user, even if many ask for it at once."""
    name = context.server.new_name("ann")
    logins = [basic_auth_header(name, f"secret-{number}") for number in range(CONCURRENT_REQUESTS)]
    responses = await context.send_at_once([SentRequest("POST", "/users/", [login]) for login in logins])
    created = sum(200 <= response.status < 300 for response in responses)
    if created > 1:
        context.add_deviation("holdem-2.6", f"one user named {name}", f"{created} of {CONCURRENT_REQUESTS} are created")


@HANDWRITTEN_CASES.add("5.7", "marks-in-a-name", further_clauses=("holdem-1.5",), dialect="readme")
async def marks_in_name(context: HoldemContext) -> None:
    """A handle is the name of the user also if that has quotes and marks of HTML."""
    user = context.users["ann"] = ServerUser(context.server.new_name("ann") + MARKS)
    if (await context.request("ann", "POST", "/users/")).status >= 300:
        raise NotReached("a name with quotes is refused")
    game = await context.seat("bob")
    response = await context.request("ann", "POST", f"/games/{game}/players/")
    context.require_seat(response)
    handles = [one.handle for one in (await context.get_game(NOBODY, game)).table]
    if user.name not in handles:
        shown = next((handle for handle in handles if handle.startswith(user.name.removesuffix(MARKS))), "none")
        context.add_deviation("holdem-5.7", f"the handle {user.name}", shown, cause=_escaping_cause(user.name, shown))


def _escaping_cause(name: str, shown: str) -> Cause | None:
    """Return the cause of a handle that is the name as other texts than JSON have it."""
    return ESCAPES_HTML if unescape(shown) == name != shown else None


@HANDWRITTEN_CASES.add("3.12", "leaving-alone", further_clauses=(LEAVING_CLAUSE,), rank=DEAL_RANK)
async def leaves_alone(context: HoldemContext) -> None:
    """A player who sits alone may leave, and the server goes on. So it does when the players of other cases leave."""
    game = await context.seat("ann")
    response = await _leave(context, "ann", game, "holdem-3.12", "of a player who was not dealt in yet")
    if response.status != 200:
        context.add_status_deviation("holdem-3.12", 200, response)
    if context.server.players_stay:  # it seems to have ended when players left
        game = await context.seat("bob", "cid")
        for role in ("bob", "cid"):
            await _leave(context, role, game, LEAVING_CLAUSE, "of a player who leaves in the middle of a game")


async def _leave(context: HoldemContext, role: str, game: str, clause: str, whose: str) -> ReceivedResponse:
    """Return the answer to a DELETE. Raises CaseAborted, after a deviation from the clause, if the server ends."""
    try:
        return await context.leave(role, game)
    except (CaseAborted, OSError):
        if not context.has_timed_out:
            expected = f"status 200 to the DELETE {whose}"
            context.add_deviation(clause, expected, "the end of the connection", kind=FoundKind.CLOSED)
        raise CaseAborted from None


@HANDWRITTEN_CASES.add("3.7", "at-once", dialect="readme")
async def concurrent_joins(context: HoldemContext) -> None:
    """A user joins a game once, even if the request comes several times at once."""
    game = await context.seat("bob")
    await context.register("ann")
    join = SentRequest("POST", f"/games/{game}/players/", [context.user("ann").auth_header])
    responses = await context.send_at_once([join] * CONCURRENT_REQUESTS)
    joined = [response for response in responses if 200 <= response.status < 300]
    if len(joined) > 1:
        context.add_deviation("holdem-3.7", "one place of ann in the game", f"{len(joined)} joins are accepted")
    for response in joined:
        with suppress(Violation):
            await context.request("ann", "DELETE", f"/games/{game}/players/{read_guid(response.body)}")


# Acts.


@HANDWRITTEN_CASES.add("4.14", "at-once", dialect="readme")
async def concurrent_acts(context: HoldemContext) -> None:
    """A player acts once in a turn, even if the act comes several times at once."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    if len((await context.get_game(NOBODY, game)).table) > len(context.joined_seats):
        raise NotReached("others at the table may act, too, so that the turn comes back")
    path = f"/games/{game}/players/{context.player_id(role, game)}/acts/"
    call = SentRequest("POST", path, [context.user(role).auth_header], encode(bet(context.first_call)))
    responses = await context.send_at_once([call] * CONCURRENT_REQUESTS)
    accepted = sum(200 <= response.status < 300 for response in responses)
    if accepted > 1:
        context.add_deviation("holdem-4.14", f"one act of {role} at its turn", f"{accepted} acts are accepted")


@HANDWRITTEN_CASES.add("4.15", "the-limit-of-a-turn", further_clauses=("holdem-5.11",))
async def turn_limit(context: HoldemContext) -> None:
    """A turn ends in 15 seconds."""
    clock = asyncio.get_running_loop().time
    start = clock()
    game = await context.seat("ann", "bob")
    response = await context.read_game(NOBODY, game)
    game_state = context.require_game(response)
    left = seconds_left(game_state.turn.expiry, server_time(response))
    if left is None or not game_state.turn.player_id:
        context.add_deviation("holdem-5.11", "the time at which the turn ends", repr(game_state.turn.expiry))
    elif not TURN_SECONDS - 3 - (clock() - start) <= left <= TURN_SECONDS + 3:
        context.add_deviation("holdem-4.15", f"a turn of {TURN_SECONDS:g} s", f"one of {left:.0f} s", Outcome.CHOICE)


@HANDWRITTEN_CASES.add("4.16", "out-of-time", further_clauses=("holdem-4.15",), beside=True)
async def player_times_out(context: HoldemContext) -> None:
    """A player whose time expires has folded and left."""
    await _let_turn_expire(context, await context.seat("ann", "bob"))


@HANDWRITTEN_CASES.add("4.16", "where-a-check-is-possible", further_clauses=("holdem-4.15",), beside=True)
async def player_who_may_check_times_out(context: HoldemContext) -> None:
    """A player whose time expires where a check is possible has folded and left, too."""
    game, first = await context.seat_and_find_turn("ann", "bob")
    if (await context.act(first, game, bet(context.first_call))).status >= 300:
        raise NotReached("a call in turn is refused")
    turn = (await context.get_game(NOBODY, game)).turn
    if turn.bet_to_player != turn.bet_so_far:
        raise NotReached("the big blind has no check")
    await _let_turn_expire(context, game)


async def _let_turn_expire(context: HoldemContext, game: str) -> None:
    """Let the turn of one of ann and bob expire, who are alone in a game."""
    clock = asyncio.get_running_loop().time
    start = clock()
    response = await context.read_game(NOBODY, game)
    game_state = context.require_game(response)
    left = seconds_left(game_state.turn.expiry, server_time(response)) or TURN_SECONDS
    loser = context.role_to_act(game_state)
    if len(game_state.table) != len(context.joined_seats):
        context.add_deviation("holdem-5.8", "ann and bob in the table", f"{len(game_state.table)} players")
        raise CaseAborted
    if not loser:
        context.add_deviation("holdem-5.10", "the turn of ann or bob", "that of no player")
        raise CaseAborted
    _require_time(context, left)
    expired_id = game_state.turn.player_id
    await asyncio.sleep(left * EARLY_LOOK_FRACTION)
    before = await context.get_game(NOBODY, game)
    elapsed = clock() - start
    if elapsed < left - CLOCK_ERROR_SECONDS and before.turn.player_id != expired_id:
        found = f"that of {context.role_to_act(before) or 'no player'} after {elapsed:.1f} s"
        context.add_deviation("holdem-4.15", f"the turn of {loser} for {left:.1f} s, until its expiry", found)
        raise CaseAborted
    await asyncio.sleep(left - CLOCK_ERROR_SECONDS - elapsed)
    after = await context.get_game(NOBODY, game)
    while expired_id in {one.player_id for one in after.table}:
        late = clock() - start - max(0.0, left)
        if late > MAX_LATE_SECONDS:
            late_text = f"{loser} at the table {late:.1f} s after the turn has expired"
            context.add_deviation("holdem-4.16", f"{loser} out of the game", late_text)
            raise CaseAborted
        await asyncio.sleep(END_POLL_SECONDS)
        after = await context.get_game(NOBODY, game)
    ante = context.server.settings.stakes.ante
    due = sum(one.wealth * (one.player_id != expired_id) + one.bet_so_far + ante for one in game_state.table)
    won = [one.wealth + one.bet_so_far for one in after.table]
    if won != [due]:
        context.add_deviation("holdem-4.16", "the pot for the remaining player", f"{won[0] if won else 'none'}")
    response = await context.act(loser, game, FOLD)
    if response.status != 404:
        outcome = Outcome.CHOICE if response.status >= 400 else None
        context.add_status_deviation("holdem-4.16", 404, response, outcome)


@HANDWRITTEN_CASES.add("4.16", "the-next-turn", beside=True)
async def next_turn_is_whole(context: HoldemContext) -> None:
    """When a turn has expired, the next player has the whole time of a turn."""
    game, shown = await _deal_to_three(context)
    call = bet(shown.turn.bet_to_player - shown.turn.bet_so_far)
    if (await context.act(context.role_to_act(shown), game, call)).status >= 300:
        raise NotReached("a call in turn is refused")
    response = await context.read_game(NOBODY, game)
    expiring = context.require_game(response).turn
    whole = seconds_left(expiring.expiry, server_time(response))
    expires_at = parse_expiry(expiring.expiry)
    if whole is None or expires_at is None or not expiring.player_id:
        raise NotReached("no turn has a time at which it ends")
    _require_time(context, whole)
    await asyncio.sleep(whole)
    following = (await context.get_game(NOBODY, game)).turn
    clock = asyncio.get_running_loop().time
    latest = clock() + MAX_LATE_SECONDS
    while following.player_id in {"", expiring.player_id} and clock() < latest:
        await asyncio.sleep(END_POLL_SECONDS)
        following = (await context.get_game(NOBODY, game)).turn
    given = seconds_left(following.expiry, expires_at)
    if following.player_id in {"", expiring.player_id} or given is None:
        raise NotReached("no other player has the turn when it has expired")
    if given < whole - MAX_SHORT_SECONDS:
        context.add_deviation(
            "holdem-4.16", f"a turn of {whole:.1f} s after the one that has expired", f"one of {given:.1f} s"
        )


async def _deal_to_three(context: HoldemContext) -> tuple[str, Game]:
    """Return a game, and how it is shown when a hand of three players begins. Raises NotReached if none does."""
    game = await context.seat("ann", "bob", "cid")
    await fold_to_end(context, game)  # the first hand was dealt to two
    shown = await context.get_game(NOBODY, game)
    if len(shown.table) != len(context.joined_seats) or not context.role_to_act(shown):
        raise NotReached("no hand of three players has begun")
    return game, shown


@HANDWRITTEN_CASES.add("4.15", "after-a-turn-in-time", beside=True)
async def answered_turn_ends_no_later_one(context: HoldemContext) -> None:
    """The time of a turn in which a player has acted does not end a later turn of the same player."""
    game, first = await context.seat_and_find_turn("ann", "bob")
    response = await context.read_game(NOBODY, game)
    whole = seconds_left(context.require_game(response).turn.expiry, server_time(response)) or TURN_SECONDS
    _require_time(context, whole + CLOCK_ERROR_SECONDS)
    clock = asyncio.get_running_loop().time
    latest = clock() + whole + CLOCK_ERROR_SECONDS
    await context.act(first, game, bet(context.first_call))
    await asyncio.sleep(whole / 2)
    began = clock()
    for _ in range(2):  # the other player checks before the flop and after it
        if role := context.role_to_act(await context.get_game(NOBODY, game)):
            await context.act(role, game, bet(0))
    if context.role_to_act(await context.get_game(NOBODY, game)) != first:
        raise NotReached("the first player to act is not the last one after the flop")
    await _expect_turn(context, game, first, latest, expires_at=began + whole, cause=OLD_TIMER)


@HANDWRITTEN_CASES.add("4.15", "after-a-departure-in-turn", beside=True)
async def turn_of_leaver_ends_no_later_one(context: HoldemContext) -> None:
    """The time of a turn in which a player has left does not end the turn of another player."""
    game, _ = await _deal_to_three(context)
    response = await context.read_game(NOBODY, game)
    shown = context.require_game(response)
    whole = seconds_left(shown.turn.expiry, server_time(response)) or TURN_SECONDS
    _require_time(context, whole + CLOCK_ERROR_SECONDS)
    clock = asyncio.get_running_loop().time
    latest = clock() + whole + CLOCK_ERROR_SECONDS
    await context.leave(context.role_to_act(shown), game)
    await asyncio.sleep(whole / 2)
    began = clock()
    turn = (shown := await context.get_game(NOBODY, game)).turn
    if role := context.role_to_act(shown):
        await context.act(role, game, bet(turn.bet_to_player - turn.bet_so_far))
    last = context.role_to_act(await context.get_game(NOBODY, game))
    if last in {"", role}:
        raise NotReached("no other player has the turn after a departure and a call")
    await _expect_turn(context, game, last, latest, expires_at=began + whole, cause=LEFT_TIMER)


async def _expect_turn(
    context: HoldemContext, game: str, role: str, at: float, *, expires_at: float, cause: Cause
) -> None:
    """Check that a player has the turn at a time, before it expires."""
    clock = asyncio.get_running_loop().time
    await asyncio.sleep(at - clock())
    after = context.role_to_act(await context.get_game(NOBODY, game))
    left = expires_at - clock()
    if after != role and left > CLOCK_ERROR_SECONDS:
        found = f"that of {after or 'no player'} {left:.1f} s before"
        context.add_deviation("holdem-4.15", f"the turn of {role} until its expiry", found, cause=cause)


def _require_time(context: HoldemContext, seconds: float) -> None:
    """Raise NotReached if a turn takes longer than a case may."""
    if context.timeout is not None and seconds > context.timeout:
        raise NotReached(f"the turn ends after {seconds:.1f} s; a case may take {context.timeout:g} s")


# Tables.


@HANDWRITTEN_CASES.add("3.1", "what-everybody-brings", "Every player begins with 10,000 chips")
@HANDWRITTEN_CASES.add("6.3", "the-blinds", "The blinds are 10 and 20")
async def usual_stakes(context: HoldemContext) -> None:
    """Every player starts with 10,000 chips and the blinds are 10 and 20, or the server is set to others."""
    game = await context.seat("ann", "bob")
    shown = await context.get_game(NOBODY, game)
    settings = context.server.settings
    stakes = settings.stakes
    if sum(one.bet_so_far + stakes.ante for one in shown.table) != sum(pot.size for pot in shown.pots):
        raise NotReached("the bets do not add up to the pots, so nobody's chips are known")
    chips = {one.handle: one.wealth + one.bet_so_far + stakes.ante for one in shown.table}
    if {*chips.values()} != {STARTING_STACK}:
        outcome = Outcome.CHOICE if {*chips.values()} == {settings.stack} else None
        found = ", ".join(f"{wealth} of {handle}" for handle, wealth in chips.items())
        context.add_deviation("holdem-3.1", f"{STARTING_STACK} chips of every player", found, outcome)
    bets = sorted(one.bet_so_far for one in shown.table)
    is_as_learned = bets == [min(stakes.small_blind, settings.stack), min(stakes.big_blind, settings.stack)]
    if not is_as_learned or stakes != STAKES:
        found = settings.description if is_as_learned else f"bets of {bets}"
        outcome = Outcome.CHOICE if is_as_learned else None
        context.add_deviation("holdem-6.3", "blinds of 10 and 20", found, outcome)


@HANDWRITTEN_CASES.add("5.6", "whose-cards-are-shown", further_clauses=("holdem-6.1",))
async def own_cards(context: HoldemContext) -> None:
    """Players see their own hole cards only."""
    await context.register("eve")
    game = await context.seat("ann", "bob")
    seen: dict[str, list[Sequence[str] | None]] = {}
    for role in ("ann", "bob", "eve", NOBODY):
        listed = parse_games((await context.request(role, "GET", "/games/")).body, context.dialect).games
        hole = [one.cards.hole for one in listed if one.game_id == game]
        if role == "eve" and context.dialect == "hspe-go":
            seen[role] = [hole[0] if hole else None]
        else:
            seen[role] = [(await context.get_game(role, game)).cards.hole, *hole]
    for role in ("ann", "bob"):
        if any(not hole for hole in seen[role]):
            context.add_deviation("holdem-5.6", f"the hole cards of {role}", "none")
        elif any(hole != seen[role][0] for hole in seen[role]):
            context.add_deviation("holdem-5.6", "the same hole cards in the list as in the game", "others")
    for role in ("eve", NOBODY):
        if any(seen[role]):
            context.add_deviation("holdem-5.6", f"no hole cards for {role}", f"{next(filter(None, seen[role]))}")
    context.check_hidden_cards({role: seen[role][0] or () for role in ("ann", "bob")})
    ann, bob = (set(seen[role][0] or ()) for role in ("ann", "bob"))
    if ann & bob:
        context.add_deviation("holdem-6.1", "every card once", f"{', '.join(sorted(ann & bob))} of ann and of bob")


@HANDWRITTEN_CASES.add("6.1", "a-fresh-deck")
async def fresh_deck(context: HoldemContext) -> None:
    """Every hand is dealt from a shuffled deck."""
    game = await context.seat("ann", "bob")
    deals: list[Sequence[str]] = []
    for _ in range(SHUFFLE_TEST_HANDS):
        shown = await context.get_game("ann", game)
        hands = {"ann": shown.cards.hole or (), "bob": (await context.get_game("bob", game)).cards.hole or ()}
        small = next((one.player_id for one in shown.table if one.small_blind), "")
        order = sorted(hands, key=lambda role: context.player_id(role, game) != small)
        deals.append([card for cards in zip(*(hands[role] for role in order), strict=False) for card in cards])
        if len(deals) > 1 and deals[-1] and deals[-1] == deals[-2]:
            found = f"{', '.join(deals[-1])} in two consecutive hands"
            context.add_deviation("holdem-6.1", "a deck that is shuffled for every hand", found)
            return
        await fold_to_end(context, game)


@HANDWRITTEN_CASES.add("9.3", "waiting-for-news")
async def long_poll(context: HoldemContext) -> None:
    """A long poll is answered when the game changes."""
    game, role = await context.seat_and_find_turn("ann", "bob")
    response = await context.request(NOBODY, "GET", f"/games/{game}")
    version = response.headers.get("x-game-version")
    if version is None:
        context.add_deviation("holdem-9.3", "the header X-Game-Version", "none", Outcome.CHOICE)
        return
    path = f"/games/{game}?wait={LONG_POLL_SECONDS:g}&since={version}"
    poll = asyncio.create_task(context.request(NOBODY, "GET", path, timeout=LONG_POLL_SECONDS + context.server.timeout))
    try:
        await asyncio.sleep(SETTLE_SECONDS)
        if poll.done():
            context.add_deviation("holdem-9.3", "a response after a change", "one before that", Outcome.CHOICE)
        await context.act(role, game, bet(context.first_call))
        response = await poll
    finally:
        await cancel_all(poll)
    if response.headers.get("x-game-version") == version:
        context.add_deviation("holdem-9.3", "another version", version, Outcome.CHOICE)


@HANDWRITTEN_CASES.add("9.6", "a-stream")
async def event_stream(context: HoldemContext) -> None:
    """A game is available as a stream of events."""
    game = await context.seat("ann", "bob")
    client = context.idle_client(NOBODY)
    request = SentRequest("GET", f"/games/{game}/events", [("Accept", "text/event-stream")])
    data = context.record_request(request, client)
    try:
        await client.send(data)
        response = await client.receive(is_stream=True)
    except ResponseError as error:
        context.add_deviation("holdem-9.6", "a stream of events", str(error), Outcome.CHOICE)
        return
    context.record_response(response)
    if response.status != 200 or b"data:" not in response.body:
        context.add_deviation("holdem-9.6", "a stream of events", response.summary, Outcome.CHOICE)


def server_time(response: ReceivedResponse) -> datetime:
    """Return the server's time from the Date header, which is in UTC if it has no time zone; else the local time."""
    try:
        date = parsedate_to_datetime(response.headers["date"])
    except (KeyError, ValueError):
        return datetime.now(UTC)
    return date.replace(tzinfo=date.tzinfo or UTC) + timedelta(seconds=0.5)  # the header has whole seconds
