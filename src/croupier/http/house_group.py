"""The houses of a hold'em room as one: each request goes to the house of its game, here or on another server.

This is what the REST service and the web app use of the room, whether it has one house or many.
"""

from asyncio import Future
from collections.abc import Callable
from typing import Protocol

from croupier.http.holdem_answers import STORE_DOWN, Answered, refusal
from croupier.http.holdem_service import HoldemService
from croupier.http.views import ViewCache
from croupier.rooms.holdem.house import no_such_game
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.places import house_of
from croupier.rooms.holdem.wire import Close, Dialect, Guid, HoldemRequest, HoldemResponse, Open

type FoundHand = FinishedHand | Future[FinishedHand | None] | None


class Elsewhere(Protocol):
    """The houses that run on other servers."""

    def submit(self, house: int | None, request: HoldemRequest) -> Answered:
        """Forward a request to the server of a house; None is any house that can open a game."""
        ...

    def look_up(self, house: int) -> Future[None]:
        """Wait until the views show what the server of a house shows now. Raises HTTPError if they do not."""
        ...

    def find_hand(self, house: int, game: Guid, number: int) -> FoundHand:
        """Ask the server of a house for a finished hand."""
        ...


class HouseGroup:
    """The houses of a room as one.

    `services` are the houses that run here, by number; `views` shows the games of all houses. With `elsewhere` the
    others run on other servers; without, requests for them are refused. `trouble` is set while this server may serve
    none at all. `closing` is set from the beginning of the end. `guid_of` returns the GUID of a user (holdem-2.3), and
    `clock` the time in seconds.
    """

    def __init__(
        self, houses: int, settings: Settings, guid_of: Callable[[str], Guid], clock: Callable[[], float]
    ) -> None:
        self.services: dict[int, HoldemService] = {}
        self.views = ViewCache(settings)
        self.dialect: Dialect = settings.dialect
        self.houses = houses
        self.guid_of = guid_of
        self.clock = clock
        self.closing = False
        self.elsewhere: Elsewhere | None = None
        self.trouble: str | None = None

    @property
    def is_outdated(self) -> bool:
        """Whether the views may be those of an earlier time, because another server has taken over."""
        if self.trouble is not None:
            return True
        for service in self.services.values():  # noqa: SIM110 -- every GET asks; a generator takes longer
            if service.is_outdated:
                return True
        return False

    @property
    def is_writing(self) -> bool:
        """Whether the journal of any house is being written."""
        for service in self.services.values():  # noqa: SIM110 -- as above
            if service.is_writing:
                return True
        return False

    @property
    def is_playing(self) -> bool:
        """Whether a hand is running in a house here."""
        return any(service.house.playing for service in self.services.values())

    @property
    def unavailable_reason(self) -> str | None:
        """Why games cannot be played now; None if they can."""
        if self.trouble is not None:
            return self.trouble
        return next((reason for each in self.services.values() if (reason := each.unavailable_reason)), None)

    def add(self, house: int, service: HoldemService) -> None:
        """Run a house here from now on. Games of it that are shown but that it does not have are forgotten."""
        self.services[house] = service
        shown = [game.guid for game in self.views.games.tables if house_of(game.guid, self.houses) == house]
        self.views.publish({guid: None for guid in shown if service.house.game(guid) is None})

    def count_games_elsewhere(self, user: str, house: int) -> int:
        """Return the number of games in which a user is in all houses but one, as last shown."""
        return sum(house_of(game.guid, self.houses) != house for game in self.views.games.tables_of(user))

    def submit(self, request: HoldemRequest) -> Answered:
        """Handle an authenticated user's request, here or elsewhere: return the answer, or a future for it.

        The views show what the request has changed before the answer is given.
        """
        if self.trouble is not None:
            return STORE_DOWN
        house = self._house_of(request)
        if house is None and not isinstance(request, Open):
            return no_such_game(getattr(request, "game", ""))
        service = None if house is None else self.services.get(house)
        if self.elsewhere is None:
            return STORE_DOWN if service is None else service.submit(request)
        if service is None or (isinstance(request, Open) and service.house.is_full):
            return self.elsewhere.submit(None if isinstance(request, Open) else house, request)
        return service.submit(request)

    def submit_here(self, request: HoldemRequest) -> Answered | None:
        """Handle a request that another server has forwarded; None if its house does not run here."""
        house = self._house_of(request)
        service = None if house is None or self.trouble is not None else self.services.get(house)
        return None if service is None else service.submit(request)

    async def execute(self, request: HoldemRequest) -> HoldemResponse:
        """Like `submit`, for callers that can wait for the answer."""
        answer = self.submit(request)
        return await answer if isinstance(answer, Future) else answer

    def look_up(self, game: Guid) -> Future[None] | None:
        """Look for a game that `views` do not show; None if there is no such game.

        When the future is done, `views` show the game if there is one. It raises HTTPError if that cannot be known.
        """
        house = house_of(game, self.houses)
        if house is None or house in self.services:
            return None
        if self.elsewhere is None:
            raise refusal(STORE_DOWN)
        return self.elsewhere.look_up(house)

    def find_hand(self, game: Guid, number: int) -> FoundHand:
        """Return a finished hand of a game that is kept, or a future for it; None if there is none.

        The future raises HTTPError if that cannot be known.
        """
        house = house_of(game, self.houses)
        if house in self.services:
            view = self.views.games.get(game)
            return None if view is None else view.shown.hands.get(number)
        return None if house is None or self.elsewhere is None else self.elsewhere.find_hand(house, game, number)

    def halt(self, *, final: bool) -> None:
        """Start no new hands in the houses here; if `final`, end long polls and streams, too."""
        self.closing = self.closing or final
        for service in self.services.values():
            service.halt(final=final)
        if final:
            self.views.notify_all()

    def _house_of(self, request: HoldemRequest) -> int | None:
        """Return the house for a request, for a new game that with fewest games here; None if there is none."""
        if isinstance(request, Open):
            houses = {number: service.house for number, service in self.services.items()}
            return min(houses, key=lambda number: (houses[number].is_full, houses[number].game_count), default=None)
        assert not isinstance(request, Close), "accounts are closed in each house"
        return house_of(request.game, self.houses)
