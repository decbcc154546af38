"""Opens the table of Old Maid: its house, in memory or from its journal, and its endpoint."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from croupier.app.config import RoomConfig, ServerConfig, is_stored, wanted_seeds
from croupier.app.room_context import RoomContext
from croupier.core.session import Address, TimedOut
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.recording.durable_session import DurableTableEndpoint, void_game_effects
from croupier.recording.oldmaid_journal import OldMaidJournal, open_journal
from croupier.rooms.oldmaid import TABLE_FULL
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.wire import Wire


async def open_oldmaid(
    room_config: RoomConfig, server_config: ServerConfig, context: RoomContext
) -> tuple[SharedEndpoint, Sequence[Address]]:
    """Open the table; see `open_room`."""
    settings, log, node = room_config.settings, context.log, context.node
    settings.check()
    codec = partial(Wire, "table", strict=server_config.strict, dialect=settings.dialect)
    endpoint_options: Any = {"limits": server_config.limits, "refusal": [TABLE_FULL]}
    seeds = wanted_seeds(room_config, server_config)
    if not is_stored(room_config, server_config):
        dealers = seeds.with_secret().dealers(room_config.room)
        house = House(settings, dealers, idle=server_config.idle_seconds)
        table = SharedEndpoint(house, codec, log, observers=context.observers, **endpoint_options)
        return table, [await table.listen(server_config.host, room_config.port, context.tls_context)]

    async def load(table: DurableTableEndpoint) -> tuple[House, OldMaidJournal]:
        """Rebuild the house from its journal."""
        now = time.time()
        start, journal, started_count, void_games = await open_journal(
            store, seeds, now, log, is_shared=node is not None
        )
        dealers = start.dealers(room_config.room)
        house = House(settings, dealers, idle=server_config.idle_seconds, record_entries=True)
        house.restore(started_count, len(void_games), asyncio.get_running_loop().time())
        if void_games:
            log.warning("interrupted games voided", games=[game.number for game in void_games])
        for game in void_games:
            table.observers(TimedOut(), void_game_effects(game, dealers(game.number)), 0.0)
        return house, journal

    async with context.shared_store.open_for(room_config.room.name, shared=node is not None) as store:
        options = {"observers": context.observers, "promises": context.promises, **endpoint_options}
        if node is None:
            durable = DurableTableEndpoint(store, codec, log, **options)
            durable.open_house(*await load(durable))
        else:
            from croupier.app.divided_table import DividedTable

            durable = table = DividedTable(node, load, store, codec, log, **options)
            await table.join()
        return durable, [await durable.listen(server_config.host, room_config.port, context.tls_context)]
