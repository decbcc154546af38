"""Events are counted and passed to observers before their effects are performed."""

from croupier.core.session import Drop, Effect, Event, Left, Malformed, Received, Send, Settle
from tests.net.raw_client import RawClient, RecordingSession, Run, kuhn, opened


def test_all_counters(run: Run) -> None:
    async def main() -> None:
        room = kuhn(bot="script:CAL")
        async with opened(**room) as (endpoint, address), RawClient(address) as one, RawClient(address) as two:
            sent = b"STRT P_1ACTN BETSTRT P_3ACTN BET\r\n"
            await one.send(sent)
            observed = await one.receive(32)
            assert observed.endswith(b"FAIL W_AFAIL W_A")
            await two.exchange(b"HELO", b"FAIL W_ADISC")
            counts = endpoint.counts
            assert counts.connections == 2
            assert counts.games == 1
            assert counts.messages_received == 5
            assert counts.messages_sent == 6
            assert counts.violations == 2
            assert counts.bytes_received == len(sent) + 4
            assert counts.bytes_sent == len(observed) + 12
            assert (counts.overflows, counts.undeliverable) == (0, 0)
            assert not counts.refused

    run(main())


def test_observer_gets_each_event_with_its_effects_before_they_are_performed(run: Run) -> None:
    async def main() -> None:
        observed: list[tuple[str, list[str], int]] = []

        def observer(event: Event[object], effects: list[Effect[object]], now: float) -> None:
            observed.append(
                (type(event).__name__, [type(effect).__name__ for effect in effects], endpoint.counts.games)
            )

        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(peer, message):
                    return [Send(peer, message), Settle(peer, 1, 0, 1, None)]
                case Malformed(peer):
                    return [Send(peer, "what?"), Drop(peer)]
                case _:
                    return []

        session = RecordingSession(answer)
        async with opened(session, observers=[observer]) as (endpoint, address), RawClient(address) as caller:
            await caller.exchange(b"one\n!two\n", b"one\nwhat?\n")
            caller.close()
            await session.wait_for(Left)
            assert endpoint.counts.games == 1
        assert observed == [
            ("Joined", [], 0),
            ("Received", ["Send", "Settle"], 0),
            ("Malformed", ["Send", "Drop"], 1),
            ("Left", [], 1),
            ("Closing", [], 1),
        ]

    run(main())
