"""Runs a tap: relays all conversations between clients and a house, and reports them to listeners."""

from collections.abc import Callable, Sequence
from typing import Final

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.conversation import ConversationMonitor
from croupier.conformance.tap.connection import TapEvent
from croupier.conformance.tap.relay import Relay, relay_endpoint
from croupier.core.session import Address
from croupier.net.stop_signals import stop_signal_event

CLOSE_TIMEOUT_SECONDS: Final = 1.0
"""How long a connection may take to close when the tap ends."""


async def run_tap(
    listen: Address,
    target: Address,
    new_monitor: Callable[[], ConversationMonitor],
    listeners: Sequence[Callable[[TapEvent], None]],
    announce: Callable[[Address], None],
    *,
    to_house: Delivery = Delivery(),
    to_client: Delivery = Delivery(),
    cut_after: int | None = None,
) -> bool:
    """Relay until SIGINT or SIGTERM; return whether nothing has broken the protocol.

    `announce` receives the address on which the tap listens, and each of the `listeners` all events. An OSError of one
    ends the tap, and is raised again. Raises OSError, too, on addresses that cannot be used.
    """
    broken = False
    failed: list[OSError] = []

    def dispatch(event: TapEvent) -> None:
        nonlocal broken
        broken |= bool(event.connection.conversation.faults)
        try:
            for listener in listeners:
                listener(event)
        except OSError as error:  # a full disk must not disturb the conversation
            failed.append(error)
            stop.set()
        event.connection.conversation.forget()

    relay = Relay(target, new_monitor, dispatch, to_house=to_house, to_client=to_client, cut_after=cut_after)
    with stop_signal_event() as stop:
        endpoint = relay_endpoint(relay, CLOSE_TIMEOUT_SECONDS)
        announce(await endpoint.listen(*listen))
        await stop.wait()
        endpoint.halt(final=True)
        await endpoint.wait_drained()
    if failed:
        raise failed[0]
    return not broken
