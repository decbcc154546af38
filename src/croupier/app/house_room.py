"""Opens a game against the house: its recorder, if games are recorded, and its endpoint."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from croupier.app.config import RoomConfig, ServerConfig, journal_mode, wanted_seeds
from croupier.app.room_context import RoomContext
from croupier.core.dealer import Dealer
from croupier.core.hall import Hall
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Peer, Session, Timeouts
from croupier.net.endpoint import Endpoint
from croupier.recording.recorded_room import RecordedEndpoint, open_recorder


async def open_house(
    room_config: RoomConfig, server_config: ServerConfig, context: RoomContext
) -> tuple[Endpoint, Sequence[Address]]:
    """Open the house; see `open_room`."""
    room, log, node = room_config.room, context.log, context.node
    assert isinstance(room, HouseRoom), f"{room.name} has no private tables"
    timeouts = Timeouts(server_config.idle_seconds, server_config.move_seconds)
    new_session = room.house(room_config.settings, timeouts, server_config.strict)
    dealers = wanted_seeds(room_config, server_config).with_secret().dealers(room)
    journal = journal_mode(room_config, server_config)
    recorder = None
    make_session: Callable[[Peer, Dealer], Session[Any, Any]] = new_session
    if journal != "off":
        holder = None
        if node is not None and server_config.accounts is not None:
            from croupier.recording.accounts import AccountHolder

            holder = AccountHolder(node.name, node.process)
        recorder = await open_recorder(
            context.shared_store,
            room,
            room_config.settings,
            log,
            journal=journal,
            identify_by=server_config.accounts,
            promises=context.promises,
            holder=holder,
        )
        if (purses := recorder.purses) is not None:
            make_session = lambda peer, dealer: new_session(peer, dealer, purses.purse_of(peer))  # noqa: E731 -- one call; a def would be longer
    make_endpoint: Callable[..., Endpoint] = Endpoint
    if recorder is not None and recorder.purses is not None and node is not None:
        from croupier.app.divided_house import DividedHouse

        make_endpoint = partial(DividedHouse, node, room.name, recorder)
    elif recorder is not None:
        make_endpoint = partial(RecordedEndpoint, recorder)
    endpoint = make_endpoint(
        Hall(make_session, dealers, timeouts.shortest),
        partial(room.codec, server_config.strict, room_config.settings),
        log,
        observers=context.observers,
        limits=server_config.limits,
        refusal=room.refusal_messages,
        hosts=context.counts,
        first_peer=context.first_peer,
    )
    try:
        addresses = [await endpoint.listen(server_config.host, room_config.port, context.tls_context)]
    except BaseException:
        if recorder is not None:
            await recorder.close()
        raise
    if room_config.document_port is not None:
        try:
            addresses.append(await endpoint.listen(server_config.host, room_config.document_port, context.tls_context))
        except OSError as error:
            log.warning("document port unavailable", reason=str(error))
    return endpoint, addresses
