"""A port in use is found, and several sockets share a port only if they are bound together."""

import socket
from contextlib import ExitStack

import pytest

from croupier.net.listening_socket import (
    bind_groups,
    bind_socket,
    bind_sockets,
    bound_address,
    close_sockets,
    free_port,
    inherit_sockets,
)
from tests.net.raw_client import Run


def test_a_port_in_use_is_not_free(run: Run) -> None:
    async def main() -> None:
        with await bind_socket("127.0.0.1", 0) as bound:
            host, port = bound_address(bound)
            assert await free_port(host, port) == 0
        assert await free_port(host, port) == port

    run(main())


def test_all_addresses_of_a_name_have_the_same_port(run: Run) -> None:
    async def main() -> None:
        bound = await bind_sockets("localhost", 0)
        assert len({bound_address(each)[1] for each in bound}) == 1
        close_sockets(bound)

    run(main())


def test_connections_are_distributed_to_the_sockets_of_one_port(run: Run) -> None:
    async def main() -> None:
        groups = await bind_groups("127.0.0.1", 0, 2)
        first, second = (group[0] for group in groups)
        address = bound_address(first)
        assert address == bound_address(second)
        with ExitStack() as stack:
            for _ in range(64):
                stack.enter_context(socket.create_connection(address))
            for listening in (first, second):
                stack.enter_context(listening.accept()[0])  # raises BlockingIOError if it has none of them
        close_sockets([first, second])

    run(main())


def test_a_port_of_others_is_in_use_though_they_share_it(run: Run) -> None:
    async def main() -> None:
        (shared,) = await bind_groups("127.0.0.1", 0, 1)
        with pytest.raises(OSError, match="address already in use"):
            await bind_groups(*bound_address(shared[0]), 2)
        close_sockets(shared)

    run(main())


def test_an_inherited_socket_is_used_once_and_still_has_its_queue(run: Run) -> None:
    async def main() -> None:
        (bound,) = await bind_sockets("127.0.0.1", 0)
        host, port = bound_address(bound)
        with socket.create_connection((host, port)):
            inherit_sockets([(host, port, [bound.detach()])])
            (inherited,) = await bind_sockets(host, port)
            inherited.accept()[0].close()
        with pytest.raises(OSError, match="address already in use"):
            await bind_socket(host, port)
        inherited.close()

    run(main())
