"""Cases for servers that no paper shows: a full table, a turn that nobody uses, whose cards are shown, luck itself."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from croupier.conformance.holdem.cases import Deed
from croupier.conformance.holdem.context import NOBODY, Visit
from croupier.conformance.holdem.endpoint import WINDOW
from croupier.conformance.holdem.requests import Answer, Question, Unreadable
from croupier.conformance.holdem.schema import every, seconds_left
from croupier.conformance.holdem.tolerated import Broken, Unshown
from croupier.conformance.results import Outcome
from croupier.rooms.holdem.engine.blinds import BLINDS
from croupier.rooms.holdem.referee import STACK
from croupier.rooms.holdem.wire import Game

FOLD: Final[Mapping[str, int]] = {"action": 0}
CALL: Final[Mapping[str, int]] = {"action": 1, "betAmount": 10}

LATE: Final = 1.0
LOOKS: Final = 4
"""So many seconds behind the end of a turn it is looked whether it was ended, and so often, if there is time."""

NEWS: Final = 5.0
MOMENT: Final = 0.1
"""So many seconds somebody waits for news, and so many it takes until there are some."""

HANDS: Final = 4
"""So many hands are enough to tell a deck that is shuffled from one that is not: fewer than 1 of 10^9 are alike."""


# Acts.


async def no_body(visit: Visit) -> None:
    """An act without a body is none."""
    game, role = await visit.asked("ann", "bob")
    answer = await visit.act(role, game, b"")
    if answer.status < 400:
        visit.departs("holdem-4.4", "status 400", answer.text, Outcome.FAIL, got=answer.shown())
    elif answer.status != 400:
        visit.departs("holdem-4.4", "status 400", answer.text, Outcome.CHOICE, got=answer.shown())


async def the_limit_of_a_turn(visit: Visit) -> None:
    """A turn ends 15 seconds after it has begun, by what it tells of itself."""
    clock = asyncio.get_running_loop().time
    began = clock()
    game = await visit.seat("ann", "bob")
    answer = await visit.ask(NOBODY, "GET", f"/games/{game}")
    shown = visit.read(answer)
    left = seconds_left(shown.turn.expiry, now_there(answer))
    if left is None or not shown.turn.player_id:
        visit.departs("holdem-5.11", "the time at which the turn ends", repr(shown.turn.expiry))
    elif not WINDOW - 3 - (clock() - began) <= left <= WINDOW + 3:
        visit.departs("holdem-4.15", f"a turn of {WINDOW:g} s", f"one of {left:.0f} s", Outcome.CHOICE)


async def out_of_time(visit: Visit) -> None:
    """Who lets his time pass has folded, and has left."""
    game = await visit.seat("ann", "bob")
    answer = await visit.ask(NOBODY, "GET", f"/games/{game}")
    shown = visit.read(answer)
    left = seconds_left(shown.turn.expiry, now_there(answer)) or WINDOW
    loser = visit.turn(shown)
    if not loser:
        visit.departs("holdem-5.10", "the turn of ann or bob", f"that of {visit.turn(shown) or 'nobody'}")
        raise Broken
    wait = max(0.0, min(left, WINDOW + 3)) + LATE
    if visit.patience is not None and wait > visit.patience:
        raise Unshown(f"it takes {wait:.1f} s to see, and --timeout is {visit.patience:g} s")
    gone = shown.turn.player_id
    spare = LOOKS if visit.patience is None else int((visit.patience - wait) / LATE)
    for late in range(max(1, min(LOOKS, spare))):  # a machine that is slow ends a turn later
        await asyncio.sleep(LATE if late else wait)
        after = await visit.sees(NOBODY, game)
        if all(one.player_id != gone for one in after.table):
            break
    else:
        told = f"{loser} at the table {wait + late * LATE:.1f} s after the turn began"
        visit.departs("holdem-4.16", f"{loser} out of the game", told)
        raise Broken
    other = next(one for one in shown.table if one.player_id != gone)
    won = [one.wealth + one.bet_so_far for one in after.table if one.player_id == other.player_id]
    if won != [sum(one.wealth + one.bet_so_far for one in shown.table) - _of(shown, gone)]:
        visit.departs("holdem-4.16", "the pot for the one who is left", f"{won[0] if won else 'nobody'}")
    answer = await visit.act(loser, game, FOLD)
    if answer.status < 300:
        visit.departs("holdem-4.16", "status 404", answer.text, got=answer.shown())
    elif answer.status != 404:
        visit.departs("holdem-4.16", "status 404", answer.text, Outcome.CHOICE, got=answer.shown())


# Tables.


async def a_full_table(visit: Visit) -> None:
    """Ten sit down, the eleventh waits, and has the seat of the first to leave."""
    roles = [f"p{number}" for number in range(11)]
    await visit.enrol(*roles)
    game = await visit.seat(*roles[:10])
    shown = await visit.sees(NOBODY, game)
    answer = await visit.ask(roles[10], "POST", f"/games/{game}/players/")
    status = 202
    if answer.status != status:
        visit.departs("holdem-3.6", "status 202, as the table is full", answer.text, got=answer.shown())
        raise Broken
    if len(shown.table) > 10 or len((await visit.sees(NOBODY, game)).table) > 10:
        visit.departs("holdem-3.1", "ten players at the most", f"{len(shown.table)}")
    first = next(place for place in visit.places if place.role == roles[0])
    await visit.leave(first)
    await _to_the_end(visit, game)
    after = await visit.sees(NOBODY, game)
    if not any(one.player_id == visit.player(roles[10], game) for one in after.table):
        visit.departs("holdem-3.9", f"{roles[10]} at the table when the next hand begins", "a table without him")


async def what_everybody_brings(visit: Visit) -> None:
    """Everybody begins with 10,000 chips."""
    game = await visit.seat("ann", "bob")
    for one in (await visit.sees(NOBODY, game)).table:
        if one.wealth + one.bet_so_far != STACK:
            visit.departs("holdem-3.1", "10000 chips", f"{one.wealth + one.bet_so_far} of {one.handle}")


async def the_blinds(visit: Visit) -> None:
    """Two players post blinds of 10 and 20."""
    game = await visit.seat("ann", "bob")
    bets = sorted(one.bet_so_far for one in (await visit.sees(NOBODY, game)).table)
    if bets != [*BLINDS]:
        visit.departs("holdem-6.3", "blinds of 10 and 20", f"bets of {bets}")


async def own_cards(visit: Visit) -> None:
    """Everybody is shown his own hole cards, and nobody those of another."""
    await visit.enrol("eve")
    game = await visit.seat("ann", "bob")
    seen: dict[str, list[Sequence[str] | None]] = {}
    for role in ("ann", "bob", "eve", NOBODY):
        listed = every((await visit.ask(role, "GET", "/games/")).body, visit.dialect).games
        hole = [one.cards.hole for one in listed if one.game_id == game]
        if role == "eve" and visit.dialect == "hspe-go":
            seen[role] = [hole[0] if hole else None]
        else:
            seen[role] = [(await visit.sees(role, game)).cards.hole, *hole]
    for role in ("ann", "bob"):
        if any(not hole for hole in seen[role]):
            visit.departs("holdem-5.6", f"the hole cards of {role}", "none")
        elif any(hole != seen[role][0] for hole in seen[role]):
            visit.departs("holdem-5.6", "the same hole cards in the list as in the game", "others")
    for role in ("eve", NOBODY):
        if any(seen[role]):
            visit.departs("holdem-5.6", f"no hole cards for {role}", f"{next(filter(None, seen[role]))}")
    ann, bob = (set(seen[role][0] or ()) for role in ("ann", "bob"))
    if ann & bob:
        visit.departs("holdem-6.1", "every card once", f"{', '.join(sorted(ann & bob))} for ann and for bob")


async def a_fresh_deck(visit: Visit) -> None:
    """Every hand has a deck of its own."""
    game = await visit.seat("ann", "bob")
    hands = []
    for _ in range(HANDS):
        hands.append((await visit.sees("ann", game)).cards.hole)
        await _to_the_end(visit, game)
    if all(hand == hands[0] for hand in hands):
        visit.departs("holdem-6.1", "a deck that is shuffled for every hand", f"{hands[0]} {HANDS} times")


async def waiting_for_news(visit: Visit) -> None:
    """Who waits is answered when something changes."""
    game, role = await visit.asked("ann", "bob")
    answer = await visit.ask(NOBODY, "GET", f"/games/{game}")
    version = answer.headers.get("x-game-version")
    if version is None:
        visit.departs("holdem-9.3", "a version to wait for", "none", Outcome.CHOICE)
        return
    path = f"/games/{game}?wait={NEWS:g}&since={version}"
    news = asyncio.create_task(visit.ask(NOBODY, "GET", path, patience=NEWS + visit.server.patience))
    try:
        await asyncio.sleep(MOMENT)
        if news.done():
            visit.departs("holdem-9.3", "an answer when something has changed", "one before that", Outcome.CHOICE)
        await visit.act(role, game, CALL)
        answer = await news
    finally:
        news.cancel()
        await asyncio.gather(news, return_exceptions=True)
    if answer.headers.get("x-game-version") == version:
        visit.departs("holdem-9.3", "another version", version, Outcome.CHOICE)


async def a_stream(visit: Visit) -> None:
    """A game is told as a stream of events."""
    game = await visit.seat("ann", "bob")
    caller = visit.callers(NOBODY)
    question = Question("GET", f"/games/{game}/events", [("Accept", "text/event-stream")])
    visit.said(question)
    try:
        answer = await caller.first(question)
    except Unreadable as error:
        visit.departs("holdem-9.6", "a stream of events", str(error), Outcome.CHOICE)
        return
    visit.heard(answer)
    if answer.status != 200 or b"data:" not in answer.body:
        visit.departs("holdem-9.6", "a stream of events", answer.text, Outcome.CHOICE)


def now_there(answer: Answer) -> datetime:
    """The time of the server as it tells it, else ours."""
    try:
        return parsedate_to_datetime(answer.headers["date"]) + timedelta(seconds=0.5)  # it is told in whole seconds
    except (KeyError, ValueError):
        return datetime.now(UTC)


def _of(shown: Game, player: str) -> int:
    """What a player has who loses his bet."""
    return next(one.wealth for one in shown.table if one.player_id == player)


async def _to_the_end(visit: Visit, game: str) -> None:
    """Everybody folds to the last one. Raises Unshown where the hand does not end by that."""
    shown = await visit.sees(NOBODY, game)
    for _ in range(len(shown.table) - 1):
        role = visit.turn(shown)
        if not role:
            return
        answer = await visit.act(role, game, FOLD)
        if answer.status >= 300:
            raise Unshown("who is told to have the turn may not fold in it")
        after = await visit.sees(NOBODY, game)
        if after.turn.player_id == shown.turn.player_id and len(shown.table) > 2:
            return
        shown = after


DEEDS: Final[Sequence[Deed]] = (
    Deed("holdem-3.1", "what-everybody-brings", "Everybody begins with 10,000 chips", what_everybody_brings),
    Deed("holdem-3.6", "a-full-table", "The eleventh waits for a seat", a_full_table, ("holdem-3.9", "holdem-3.1")),
    Deed("holdem-4.4", "no-body", "An act without a body is none", no_body),
    Deed("holdem-4.15", "the-limit-of-a-turn", "A turn ends in 15 seconds", the_limit_of_a_turn, ("holdem-5.11",)),
    Deed("holdem-5.6", "whose-cards-are-shown", "Everybody sees his own hole cards only", own_cards, ("holdem-6.1",)),
    Deed("holdem-6.1", "a-fresh-deck", "Every hand has a deck of its own", a_fresh_deck),
    Deed("holdem-6.3", "the-blinds", "The blinds are 10 and 20", the_blinds),
    Deed("holdem-9.3", "waiting-for-news", "Who waits is told what changes", waiting_for_news),
    Deed("holdem-9.6", "a-stream", "A game is told as a stream of events", a_stream),
)  # fmt: skip
"""What these cases are."""

SLOW: Final = Deed("holdem-4.16", "out-of-time", "Who lets his time pass has folded and left", out_of_time)
"""The one case for which time has to pass; it is played beside the others."""
