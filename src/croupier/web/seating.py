"""Gives seats to browsers, in each room in its own way."""

from collections.abc import Sequence
from functools import partial

from croupier.core.session import Address
from croupier.http.house_group import HouseGroup
from croupier.rooms.holdem.wire import Guid
from croupier.rooms.oldmaid.settings import Settings as RingSettings
from croupier.web.cookies import Visitor
from croupier.web.holdem_bots import HoldemBots
from croupier.web.holdem_games import choose_game
from croupier.web.holdem_seat import HoldemSeat
from croupier.web.house_seat import HouseSeat
from croupier.web.render import TablePage
from croupier.web.ring_seat import USUAL_BOTS, RingLobby, RingSeat, RingTable
from croupier.web.rooms import RoomEntry, holdem_service, room_view
from croupier.web.site import Site
from croupier.web.tables import SeatedTable, Tables, new_table_id


class Seating:
    """Takes seats for visitors, and returns to those that outlive this server: seats of hold'em with a journal."""

    def __init__(self, entries: Sequence[RoomEntry], tables: Tables, site: Site) -> None:
        self._entries = {entry.room.name: entry for entry in entries}
        self._tables = tables
        self._site = site
        self._ring: RingLobby | None = None
        self._holdem_bots: HoldemBots | None = None

    def playable(self, name: str) -> RoomEntry | None:
        """Return a room in which people can play; None if there is none with this name."""
        entry = self._entries.get(name)
        return entry if entry is not None and entry.is_playable else None

    async def take(
        self, entry: RoomEntry, visitor: Visitor, address: Address, csrf: str, game: Guid | None = None
    ) -> SeatedTable:
        """Take a seat, in hold'em in this game if one is chosen. Raises SeatRefused."""
        if (service := holdem_service(entry)) is not None:
            return await self._take_holdem_seat(entry, service, visitor, csrf, game)
        page = TablePage(new_table_id(), room_view(entry), csrf)
        if isinstance(entry.settings, RingSettings):
            return self._tables.add(SeatedTable(visitor.session, page, self._ring_seat(entry, visitor, page)))
        certificate = {"subject": ((("userId", visitor.user),),)}
        seat = HouseSeat(entry.house, address, certificate, self._site.renderer.table(page))
        return self._tables.add(SeatedTable(visitor.session, page, seat))

    def find(self, table_id: str, visitor: Visitor, csrf: str) -> SeatedTable | None:
        """Return the table of a visitor with this id; None if they have no seat there."""
        table = self._tables.find(table_id, visitor.session)
        if table is not None:
            return table
        for entry in self._entries.values():
            service = holdem_service(entry)
            if service is not None and service.views.games.get(table_id) is not None:
                page = TablePage(table_id, room_view(entry), csrf)
                user = visitor.user
                seat = HoldemSeat.resume(service, user, table_id, self._site.renderer.table(page))
                if seat is None:
                    return None
                self._watch_for_bots(entry, table_id, user)
                return self._tables.add(SeatedTable(visitor.session, page, seat))
        return None

    def own_pages(self, visitor: Visitor, csrf: str) -> list[TablePage]:
        """Return the tables at which a visitor sits, also those of hold'em that only other browsers have opened."""
        pages = {table.page.id: table.page for table in self._tables.of_session(visitor.session)}
        for entry in self._entries.values():
            if (service := holdem_service(entry)) is not None:
                for game in service.views.games_for(visitor.user):
                    if visitor.user in game.shown.guids:
                        pages.setdefault(game.guid, TablePage(game.guid, room_view(entry), csrf))
        return [*pages.values()]

    def close(self) -> None:
        """Send the bots away that play with people."""
        if self._ring is not None:
            self._ring.close()
        if self._holdem_bots is not None:
            self._holdem_bots.close()

    async def wait_closed(self) -> None:
        """Wait until all bots have stopped after `close`."""
        if self._ring is not None:
            await self._ring.wait_closed()
        if self._holdem_bots is not None:
            await self._holdem_bots.wait_closed()

    def _watch_for_bots(self, entry: RoomEntry, game: Guid, user: str) -> None:
        """Let bots join a person who is alone in a game."""
        if self._holdem_bots is None:
            self._holdem_bots = HoldemBots(entry, self._site.keys)
        self._holdem_bots.watch(game, user)

    def _ring_seat(self, entry: RoomEntry, visitor: Visitor, page: TablePage) -> RingSeat:
        if self._ring is None:
            assert entry.address is not None, "a playable table of Old Maid has an address"
            self._ring = RingLobby(RingTable(entry.address, entry.settings), entry.bots or USUAL_BOTS)
        guest = f"{visitor.guest} {page.id[:4]}"
        nicks = [guest] if visitor.account is None else [visitor.account, guest]
        return RingSeat(self._ring, nicks, self._site.renderer.table(page))

    async def _take_holdem_seat(
        self, entry: RoomEntry, service: HouseGroup, visitor: Visitor, csrf: str, game: Guid | None
    ) -> SeatedTable:
        user = visitor.user
        chosen = choose_game(service, user) if game is None else game
        known = None if chosen is None else self.find(chosen, visitor, csrf)
        if known is not None:
            if known.seat.shared_id is not None:
                return known
            known.seat.detach()  # it was lost: its other pages end
            known.seat.publish_now()
        page = partial(TablePage, room=room_view(entry), csrf=csrf)
        seat = await HoldemSeat.join(service, user, chosen, lambda guid: self._site.renderer.table(page(guid)))
        self._watch_for_bots(entry, seat.game, user)
        return self._tables.add(SeatedTable(visitor.session, page(seat.game), seat))
