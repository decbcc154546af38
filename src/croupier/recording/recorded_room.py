"""A house whose games are recorded: its recorder and its endpoint."""

import time
from typing import TYPE_CHECKING, Any, Literal

from croupier.core.logger import Logger
from croupier.core.room import HouseRoom
from croupier.net.endpoint import Endpoint
from croupier.recording.promises import Promises
from croupier.recording.shared_store import SharedStore

if TYPE_CHECKING:  # the store is imported only if games are recorded
    from croupier.recording.accounts import AccountHolder, ClientIdentity
    from croupier.recording.recorder import GameRecorder


async def open_recorder(
    shared_store: SharedStore,
    room: HouseRoom,
    settings: Any,
    log: Logger,
    *,
    journal: Literal["async", "durable"],
    identify_by: "ClientIdentity | None",
    promises: Promises | None = None,
    holder: "AccountHolder | None" = None,
) -> "GameRecorder":
    """Open the recorder of a house.

    `identify_by` enables accounts. `promises` are made durable if the games are. Several servers may record a room's
    games in one store, but only one of them may manage its accounts, or the nodes of a cluster, which is then `holder`.
    Raises OSError if the store cannot be opened.
    """
    from croupier.recording.accounts import Purses
    from croupier.recording.recorder import GameRecorder

    async with shared_store.open_for(room.name, exclusive=identify_by is not None, shared=holder is not None) as store:
        purses = None
        if identify_by is not None:
            house_account = await store.house_account(room.name)
            purses = Purses(
                store,
                room,
                log,
                identify_by=identify_by,
                opening_coins=room.initial_purse(settings),
                house_account=house_account,
                holder=holder,
            )
        durable = journal == "durable"
        durable_promises = promises if durable else None
        return GameRecorder(store, room, log, time.time, durable=durable, purses=purses, promises=durable_promises)


class RecordedEndpoint(Endpoint):
    """The endpoint of a house whose games are recorded. It closes its recorder after the final halt."""

    def __init__(self, recorder: "GameRecorder", *session_and_codec: Any, **options: Any) -> None:
        super().__init__(*session_and_codec, recorder=recorder, **options)
        self._game_recorder = recorder
        self._is_final = False
        recorder.admission = self

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why games cannot be recorded now, or None if they can."""
        return self._game_recorder.trouble or self._game_recorder.store.outage

    def halt(self, *, final: bool) -> None:
        """Start no new games; if `final`, also void the running games and stop waiting for an unavailable store."""
        self._is_final = final
        super().halt(final=final)
        self._game_recorder.halt(final=final)

    async def wait_drained(self) -> None:
        """Wait until all clients are disconnected, and after the final halt until all games are written."""
        await super().wait_drained()
        if self._is_final:
            await self._game_recorder.close()
