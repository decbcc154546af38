"""A server that would like a port takes another one where that is in use."""

from croupier.net.listening_socket import bind_socket, bound_address, free_port
from tests.net.raw_client import Run


def test_a_port_in_use_is_not_free(run: Run) -> None:
    async def main() -> None:
        with await bind_socket("127.0.0.1", 0) as bound:
            host, port = bound_address(bound)
            assert await free_port(host, port) == 0
        assert await free_port(host, port) == port

    run(main())
