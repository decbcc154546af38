"""Server cases that no transcript covers: requests at the same time, hidden cards, the shuffle."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from html import unescape
from typing import Final

from msgspec.json import encode

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.holdem.cases import DEAL_RANK, REQUEST_RANK, RETRIES, ROOM, HoldemServerCase
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import LEAVING_CLAUSE, PASSWORD, ServerUser, basic_auth_header, bet
from croupier.conformance.holdem.http_client import ResponseError
from croupier.conformance.holdem.schema import parse_games
from croupier.conformance.holdem.table_cases import fold_to_end
from croupier.conformance.results import Outcome
from croupier.core.errors import FoundKind, Violation
from croupier.core.http_transcript import NOBODY
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.net.event_loop import cancel_all
from croupier.rooms.holdem.engine.stakes import STAKES, STARTING_STACK
from croupier.rooms.holdem.observed.state_reader import read_guid

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403

LONG_POLL_SECONDS: Final = 5.0
SETTLE_SECONDS: Final = 0.1
"""The long-poll parameter `wait`, and the delay before the change that ends it."""

OBJECT_NAMES: Final = ("constructor", "toString", "valueOf")
"""Keys that a dictionary has in JavaScript before any user is in it."""

MARKS: Final = '"\\<b>&'
"""Characters that JSON, or a page, has to escape."""

ESCAPES_HTML: Final = Cause("it escapes text for HTML, in which it is not sent")

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
