"""Games of hold'em as the web app finds and follows them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from msgspec.structs import replace

from croupier.core.presentation import TableView, verbatim
from croupier.http.house_group import HouseGroup
from croupier.http.views import GameViewCache
from croupier.rooms.holdem.wire import Guid

FOLLOW_SECONDS: Final = 3600.0
"""A game is checked at least this often."""


async def follow_game(service: HouseGroup, game: Guid) -> AsyncIterator[GameViewCache]:
    """Yield a game with every new version that is durable, until it is removed or the service closes."""
    seen_version, loop = -1, asyncio.get_running_loop()
    while not service.closing and (found := service.views.games.get(game)) is not None:
        if found.version != seen_version:
            seen_version = found.version
            yield found
        else:
            await found.wait_for_change(FOLLOW_SECONDS, loop.create_future())


def choose_game(service: HouseGroup, user: str) -> Guid | None:
    """Return the game in which a newcomer finds most players: one with a free seat, None if there is none."""
    games = [game for game in service.views.games_for(user) if game.has_free_seat or user in game.shown.guids]
    best = max(games, key=lambda game: (user in game.shown.guids, len(game.shown.guids), -game.number), default=None)
    return None if best is None else best.guid


def with_absent_people(view: TableView, game: GameViewCache | None) -> TableView:
    """Mark the people who are away in a view of a game (holdem-9.15)."""
    if game is None or not game.shown.away:
        return view
    absent = [verbatim(player.handle) for player in game.shown.public.table if player.player_id in game.shown.away]
    seats = tuple(replace(seat, status="away") if seat.name in absent else seat for seat in view.seats)
    return replace(view, seats=seats)
