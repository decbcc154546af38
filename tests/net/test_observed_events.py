"""What happened is counted, and told to whoever listens, before anything comes of it."""

from croupier.core.session import Drop, Effect, Event, Left, Malformed, Received, Send, Settle
from tests.net.raw_client import Caller, Notes, Run, kuhn, opened


def test_everything_is_counted_once(run: Run) -> None:
    async def main() -> None:
        room = kuhn(bot="script:CAL")
        async with opened(**room) as (board, address), Caller(address) as one, Caller(address) as two:
            said = b"STRT P_1ACTN BETSTRT P_3ACTN BET\r\n"
            await one.say(said)
            heard = await one.hear(32)
            assert heard.endswith(b"FAIL W_AFAIL W_A")
            await two.ask(b"HELO", b"FAIL W_ADISC")
            counts = board.counts
            assert counts.connections == 2
            assert counts.games == 1
            assert counts.messages_received == 5
            assert counts.messages_sent == 6
            assert counts.violations == 2
            assert counts.bytes_received == len(said) + 4
            assert counts.bytes_sent == len(heard) + 12
            assert (counts.overflows, counts.undeliverable) == (0, 0)
            assert not counts.refused

    run(main())


def test_a_tap_hears_every_event_with_its_effects_before_they_are_performed(run: Run) -> None:
    async def main() -> None:
        heard: list[tuple[str, list[str], int]] = []

        def tap(event: Event[object], effects: list[Effect[object]], now: float) -> None:
            heard.append((type(event).__name__, [type(effect).__name__ for effect in effects], board.counts.games))

        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            match event:
                case Received(peer, message):
                    return [Send(peer, message), Settle(peer, 1, 0, 1, None)]
                case Malformed(peer):
                    return [Send(peer, "what?"), Drop(peer)]
                case _:
                    return []

        session = Notes(answer)
        async with opened(session, taps=[tap]) as (board, address), Caller(address) as caller:
            await caller.ask(b"one\n!two\n", b"one\nwhat?\n")
            caller.hang_up()
            await session.hears(Left)
            assert board.counts.games == 1
        assert heard == [
            ("Joined", [], 0),
            ("Said", ["Say", "Settle"], 0),
            ("Garbled", ["Say", "Drop"], 1),
            ("Left", [], 1),
            ("Halted", [], 1),
        ]

    run(main())
