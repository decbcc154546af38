"""Client addresses: an IPv6 network counts as one address, and only trusted proxies may forward addresses."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.app.config import ServerConfig
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.net.client_addresses import TrustedProxies, address_key, parse_ip_address, parse_trusted_proxies
from croupier.net.rate_limiter import RateLimiter
from tests.http.service_fixture import InProcessService, ask, basic, opened
from tests.net.raw_client import RawClient, Run

PROXIES = parse_trusted_proxies("10.0.0.0/8, 2001:db8:ffff::1")
CLIENT = "192.0.2.7"


@pytest.mark.parametrize(
    ("host", "counts"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::", "2001:db8::/64"),
        ("2001:db8:0:1::7", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("no:address", "no:address"),
    ],
)
def test_address_key(host: str, counts: str) -> None:
    assert address_key(host) == counts


FORWARDED: dict[str, tuple[str, list[bytes], list[bytes], str]] = {
    "untrusted peer": ("198.51.100.1", [b"for=192.0.2.7"], [b"192.0.2.7"], "198.51.100.1"),
    "no header": ("10.0.0.1", [], [], "10.0.0.1"),
    "X-Forwarded-For": ("10.0.0.1", [], [b"192.0.2.7"], CLIENT),
    "the right-most counts": ("10.0.0.1", [], [b"203.0.113.9, 192.0.2.7"], CLIENT),
    "the last header counts": ("10.0.0.1", [], [b"203.0.113.9", b"192.0.2.7"], CLIENT),
    "trusted ones are skipped": ("10.0.0.1", [], [b"203.0.113.9, 192.0.2.7, 10.1.1.1,2001:db8:ffff::1"], CLIENT),
    "all are trusted": ("10.0.0.1", [], [b"10.0.0.3, 10.0.0.2"], "10.0.0.3"),
    "a port": ("10.0.0.1", [], [b"192.0.2.7:4711"], CLIENT),
    "IPv6": ("10.0.0.1", [], [b"2001:DB8::7"], "2001:db8::7"),
    "IPv6 with a port": ("10.0.0.1", [], [b"[2001:db8::7]:4711"], "2001:db8::7"),
    "no address": ("10.0.0.1", [], [b"192.0.2.7, unknown"], "10.0.0.1"),
    "no address behind a trusted one": ("10.0.0.1", [], [b"192.0.2.7, _x, 10.0.0.2"], "10.0.0.2"),
    "nothing in it": ("10.0.0.1", [], [b""], "10.0.0.1"),
    "Forwarded": ("10.0.0.1", [b"for=192.0.2.7"], [], CLIENT),
    "Forwarded with more": ("10.0.0.1", [b'by=10.0.0.1;For="192.0.2.7:80" ; proto=https'], [], CLIENT),
    "Forwarded over IPv6": ("2001:db8:ffff::1", [b'for="[2001:db8::7]:4711"'], [], "2001:db8::7"),
    "Forwarded twice": ("10.0.0.1", [b"for=203.0.113.9, for=192.0.2.7;proto=http"], [], CLIENT),
    "quotes that do not end": ("10.0.0.1", [b'for="203.0.113.9, for=192.0.2.7'], [], CLIENT),
    "Forwarded without for": ("10.0.0.1", [b"for=192.0.2.7, proto=http"], [], "10.0.0.1"),
    "both agree": ("10.0.0.1", [b"for=192.0.2.7"], [b"192.0.2.7"], CLIENT),
    "both differ": ("10.0.0.1", [b"for=203.0.113.9"], [b"192.0.2.7"], "10.0.0.1"),
    "the peer is written as IPv6": ("::ffff:10.0.0.1", [], [b"192.0.2.7"], CLIENT),
}


@pytest.mark.parametrize(("peer", "forwarded", "others", "client"), FORWARDED.values(), ids=FORWARDED.keys())
def test_client_is_the_last_address_that_is_not_a_trusted_proxy(
    peer: str, forwarded: list[bytes], others: list[bytes], client: str
) -> None:
    assert PROXIES.client_address(peer, forwarded, others) == client


@given(st.lists(st.binary(max_size=40), max_size=3), st.lists(st.binary(max_size=40), max_size=3))
def test_any_forwarded_header_gives_an_address(forwarded: list[bytes], others: list[bytes]) -> None:
    assert parse_ip_address(PROXIES.client_address("10.0.0.1", forwarded, others)) is not None
    assert parse_trusted_proxies("").client_address("10.0.0.1", forwarded, others) == "10.0.0.1"


@pytest.mark.parametrize("text", ["x", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.1,", ",", "10.0.0.1 10.0.0.2"])
def test_malformed_trusted_proxies_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"found --trusted-proxies .*; allowed: "):
        ServerConfig(trusted_proxies=text).check()
    with pytest.raises(ValueError, match="--check-targets"):
        ServerConfig(check_targets=text).check()


def test_proxy_protocol_requires_trusted_proxies() -> None:
    with pytest.raises(ValueError, match="found --proxy-protocol without --trusted-proxies"):
        ServerConfig(proxy_protocol=True).check()
    assert not ServerConfig(trusted_proxies="10.0.0.1").limits.trusted_proxies
    assert "10.0.0.1" in ServerConfig(trusted_proxies="10.0.0.1", proxy_protocol=True).limits.trusted_proxies


def test_limits_behind_a_proxy_count_its_clients(run: Run) -> None:
    async def main() -> None:
        authenticator = Authenticator(hasher=QUICK_HASHER, registration_limiter=RateLimiter(1, 60.0))
        with InProcessService(
            authenticator=authenticator,
            limits=ServiceLimits(max_requests=20),
            proxies=parse_trusted_proxies("10.0.0.1"),
        ) as web:

            async def ask_for(method: str, path: str, client: str, password: str, peer: str = "10.0.0.1") -> int:
                headers = {"x-forwarded-for": client, "authorization": basic(client.replace(":", "."), password)}
                return (await web.ask(method, path, headers=headers, address=peer)).status

            assert await ask_for("POST", "/users/", "192.0.2.7", "secret") == 201
            assert await ask_for("POST", "/users/", "192.0.2.8", "secret") == 201
            assert await ask_for("POST", "/users/", "2001:db8::1", "secret") == 201
            assert await ask_for("POST", "/users/", "2001:db8::2", "secret") == 429
            guesses = [await ask_for("GET", "/games/", "192.0.2.7", f"guess {number}") for number in range(11)]
            assert guesses == [401] * 10 + [429]
            assert [await ask_for("GET", "/games/", "192.0.2.7", "secret") for _ in range(9)] == [200] * 8 + [429]
            assert await ask_for("GET", "/games/", "192.0.2.8", "secret") == 200
            untrusted = "198.51.100.1"
            statuses = [
                await ask_for("GET", "/games/", f"203.0.113.{number}", "guess", untrusted) for number in range(21)
            ]
            assert statuses[-1] == 429, "an untrusted peer is counted by its own address"

    run(main())


def test_anonymous_streams_are_counted_by_network(run: Run) -> None:
    async def main() -> None:
        with InProcessService(limits=ServiceLimits(max_streams_per_user=1), proxies=TrustedProxies()) as web:
            game = await web.game()
            poll = f"/games/{game}?wait=60"
            waiting = asyncio.create_task(web.ask("GET", poll, address="2001:db8::1"))
            while not web.service.subscriber_count:
                await asyncio.sleep(0)
            assert (await web.ask("GET", poll, address="2001:db8::2")).status == 429
            web.service.halt(final=True)
            assert (await waiting).status == 200

    run(main())


def test_trusted_proxy_may_exceed_the_limit_per_address(run: Run) -> None:
    async def main() -> None:
        for proxies, counts in ((PROXIES, [200, 503, 503]), (parse_trusted_proxies("127.0.0.1"), [200] * 3)):
            async with (
                opened(
                    connection_limits=ConnectionLimits(max_connections_per_address=1, trusted_proxies=proxies)
                ) as server,
                AsyncExitStack() as stack,
            ):
                callers = [await stack.enter_async_context(RawClient(server.address)) for _ in range(3)]
                assert [(await ask(caller, "GET", "/games/")).status for caller in callers] == counts

    run(main())
