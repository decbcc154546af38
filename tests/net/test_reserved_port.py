"""Tests of the ports that servers under test are given."""

import asyncio

import pytest

from croupier.net import reserved_port
from croupier.net.reserved_port import SERVER_PORTS, ReservedPort
from tests.net.raw_client import Run


def test_a_port_for_a_server_is_not_assigned_by_the_system(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        port = await ReservedPort.open()
        port.close()
        assert port.number in SERVER_PORTS
        monkeypatch.setattr(reserved_port, "SERVER_PORTS", range(port.number, port.number + 1))
        async with await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", port.number):
            with pytest.raises(OSError, match=r"(?i)address already in use"):
                await ReservedPort.open()

    run(main())


def test_a_port_is_not_given_to_two_servers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even before the first one listens: clients of one would be served by the other."""

    async def main() -> None:
        port = await ReservedPort.open()
        monkeypatch.setattr(reserved_port, "SERVER_PORTS", range(port.number, port.number + 1))
        with pytest.raises(OSError, match=r"(?i)address already in use"):
            await ReservedPort.open()
        async with await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", port.number):
            """The server can bind it."""
        port.close()
        again = await ReservedPort.open()
        again.close()
        assert again.number == port.number

    run(main())
