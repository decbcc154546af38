"""Our own server and client for the matrix: sessions on endpoints in this process, whose luck follows from a seed."""

import asyncio
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any, Final

from croupier.clients.luck import make_luck
from croupier.conformance.listening import HOST
from croupier.conformance.matrix.programs import STOP_TIMEOUT_SECONDS, PairingTerms
from croupier.conformance.program import ProgramError
from croupier.conformance.server_process import Program, StartProgram
from croupier.core.bots import bot_factory
from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.referee import HOUSE
from croupier.core.session import Closing, Effect, Event, Left, Settle, Submitted, Timeouts
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.event_loop import wait_set

REFERENCE_GAMES: Final = 5
"""Our own client plays this many games in a conversation."""

REFERENCE_BOT: Final = "random"

REFERENCE_LIMITS: Final = EndpointLimits(close_timeout=STOP_TIMEOUT_SECONDS)


class ReferenceProgram:
    """Our own server or client on an endpoint in this process; it never crashes, and writes nothing."""

    end_description = ""
    has_written_too_much = False
    stderr = b""

    def __init__(self, endpoint: Endpoint, ended: asyncio.Event) -> None:
        self._endpoint = endpoint
        self._ended = ended

    @property
    def status(self) -> int | None:
        """0 after its end."""
        return 0 if self._ended.is_set() else None

    async def wait_listening(self, host: str, port: int, seconds: float) -> None:
        """It listens from the start."""

    async def wait_ended(self, seconds: float) -> int | None:
        """See `ProgramUnderTest`."""
        await wait_set(self._ended, seconds)
        return self.status

    def stderr_excerpt(self) -> str:
        """See `ProgramUnderTest`."""
        return ""

    async def stop(self, grace: float = 1.0) -> None:  # noqa: ARG002 -- the endpoint has its own limit
        """See `ProgramUnderTest`."""
        await self._endpoint.close()
        self._ended.set()


class ReferenceClient:
    """The session of our own client: a bot that plays some games and leaves. `ended` is set when the house is gone."""

    def __init__(self, terms: PairingTerms, seed: int) -> None:
        room = terms.room
        self.ended = asyncio.Event()
        self._player = room.player(
            terms.known_options or room.options(), strict=terms.strict, reply_timeout=2 * terms.timeout_seconds
        )
        self._bot = bot_factory(room.bots, REFERENCE_BOT)()
        self._luck = make_luck(seed, f"{room.name} bot")
        self._games = 0

    @property
    def deadline(self) -> float | None:
        """See `Session`."""
        return self._player.deadline

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        """See `Session`."""
        effects: list[Effect[Any]] = []
        following: Event[Any] | None = event
        while following is not None:
            found = self._player.on(following, now)
            self._games += sum(isinstance(effect, Settle) for effect in found)
            effects += found
            following = self._next(following)
        if isinstance(event, Left):
            self.ended.set()
        return effects

    def _next(self, last: Event[Any]) -> Event[Any] | None:
        """What the bot does next, None while it has to wait."""
        if isinstance(last, Left | Closing):
            return None
        if self._games >= REFERENCE_GAMES or self._player.is_exhausted:
            return Closing(is_final=False)
        message = self._player.decide(self._bot, self._luck, self._games)
        return None if message is None else Submitted(message)


def reference_starter(role: str, terms: PairingTerms) -> StartProgram:
    """Return what starts our own server or client."""
    return partial(_serve if role == "server" else _play, terms)


async def _serve(terms: PairingTerms, port: int, seed: int) -> Program:
    room, known = terms.room, terms.known_options
    settings = {field.name for field in fields(room.settings)}
    own = () if known is None else (field.name for field in fields(known) if field.name in settings)
    setting = room.settings(**{name: getattr(known, name) for name in own})
    timeouts = Timeouts(2 * terms.timeout_seconds)
    dealers = dealer_factory(lambda table: derive_server_seed(seed, room.name, table))
    hall = Hall(room.house(setting, timeouts, terms.strict), dealers, timeouts.shortest)
    endpoint = Endpoint(hall, partial(room.codec, terms.strict, setting), SilentLogger(), limits=REFERENCE_LIMITS)
    try:
        await endpoint.listen(HOST, port)
    except OSError as error:
        raise ProgramError(f"our own server cannot listen: {error}") from error
    return ReferenceProgram(endpoint, asyncio.Event())


async def _play(terms: PairingTerms, port: int, seed: int) -> Program:
    client = ReferenceClient(terms, seed)
    options = terms.known_options or terms.room.options()
    endpoint = Endpoint(
        client, partial(terms.room.codec, terms.strict, options), SilentLogger(), limits=REFERENCE_LIMITS
    )
    await endpoint.connect(HOUSE, (HOST, port))
    return ReferenceProgram(endpoint, client.ended)
