"""The states of one hold'em game, by the best way that the server offers: a stream, long polling, or polling."""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final, Self

from croupier.clients.holdem_api import ApiResponse, HoldemApi
from croupier.core.errors import Violation
from croupier.rooms.holdem.observed.state_reader import read_game
from croupier.rooms.holdem.wire import Game, Guid

LONG_POLL_SECONDS: Final = 25
"""How long the server is asked to delay its answer until the game changes (holdem-9.3)."""

POLL_INTERVAL_SECONDS: Final = 0.05
"""Interval between requests to a server without long polling (document, Understanding the state of the game)."""


class GameWatcher:
    """Follows one game: returns its state at once, and then after every change.

    It uses the stream of changes (holdem-9.6) or long polling (holdem-9.3) if the server has them, else it polls every
    POLL_INTERVAL_SECONDS. `is_public` is whether the latest state was the public view.
    """

    def __init__(self, api: HoldemApi, game: Guid) -> None:
        self.is_public = False
        self._api = api
        self._game = game
        self._last_response: ApiResponse | None = None
        self._version = ""
        self._can_stream = True
        self._stream = api.stream(game)
        self._is_outdated = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def refresh(self) -> None:
        """Make the next request immediate, and discard what is buffered in the stream."""
        self._last_response, self._is_outdated = None, True

    async def close(self) -> None:
        """Close the stream."""
        await self._stream.close()

    async def next_game(self) -> Game:
        """Return the next state of the game."""
        while True:
            last_response = self._last_response
            if last_response is None or not self._version:
                response = await self._poll()
            elif self.is_public or not self._can_stream:
                response = await self._long_poll()
            else:
                response = await self._read_stream()
            if response is None or (last_response is not None and response.body == last_response.body):
                continue
            self._last_response = response
            return read_game(response.body)

    async def _poll(self) -> ApiResponse | None:
        """Request the state now, or after the poll interval."""
        last_response, headers = self._last_response, {}
        if last_response is not None:
            await self._api.exchange.wait(POLL_INTERVAL_SECONDS)
            headers = {"if-none-match": last_response.headers["etag"]} if "etag" in last_response.headers else {}
        return await self._fetch(headers)

    async def _long_poll(self) -> ApiResponse | None:
        """Request the state when it differs from the last one."""
        previous_version = self._version
        response = await self._fetch({}, f"?wait={LONG_POLL_SECONDS}&since={previous_version}")
        if self._version == previous_version:
            await self._api.exchange.wait(POLL_INTERVAL_SECONDS)
        return response

    async def _read_stream(self) -> ApiResponse | None:
        """Read the next state from the stream."""
        if self._is_outdated:
            await self._stream.close()
            self._is_outdated = False
        with suppress(ConnectionError):  # a stream that broke off can be reopened
            response = await self._stream.read()
            if response.status == HTTPStatus.OK:
                return response
            self._can_stream = False
        await self._api.exchange.wait(POLL_INTERVAL_SECONDS)
        return await self._fetch({})

    async def _fetch(self, headers: Mapping[str, str], query: str = "") -> ApiResponse | None:
        """Request the state; None if it has not changed."""
        response, self.is_public = await self._api.fetch_game(self._game, headers, query)
        self._version = response.headers.get("x-game-version", "")
        if response.status != HTTPStatus.NOT_MODIFIED:
            return response
        if not headers:
            raise Violation("holdem-9.2", "304 although no tag was sent", "200")
        return None
