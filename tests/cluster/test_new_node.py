"""A node that has just joined shows the tables of all houses, though it has seen none of their changes."""

import asyncio

from msgspec.json import encode

from croupier.cluster.messages import Position, Views
from croupier.cluster.mirror import ViewMirror
from croupier.core.logger import SilentLogger
from croupier.http.views import ViewCache
from croupier.rooms.holdem.settings import Settings
from tests.net.raw_client import Run


def test_first_message_about_a_house_makes_a_new_node_ask_for_all_of_its_tables(run: Run) -> None:
    async def main() -> None:
        asked: list[tuple[int, int]] = []

        async def fetch(house: int, after: int) -> Views:
            asked.append((house, after))
            return Views(house, Position(0, 1))

        mirror = ViewMirror(ViewCache(Settings()), 2, SilentLogger(), is_here=lambda house: house == 2, fetch=fetch)
        assert [mirror.is_known(house) for house in (1, 2)] == [False, True]
        # It may be the first change of a house that has just begun its journal, or a repetition of it.
        mirror.on_message("croupier.view.1", encode(Views(1, Position(0, 1))))
        assert not mirror.is_known(1)
        await mirror.wait_for(1, Position(0, 1), 20.0)
        assert mirror.is_known(1)
        mirror.on_message("croupier.view.1", encode(Views(1, Position(0, 2))))
        await asyncio.sleep(0)
        assert asked == [(1, 0)]
        mirror.close()

    run(main())
