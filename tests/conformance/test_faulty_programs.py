"""Server programs: correct ones pass, faulty ones are found on their own clause."""

import asyncio
from collections.abc import Sequence

import pytest

from croupier.conformance.case import select
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.results import Outcome, Result
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.programs import command
from tests.conformance.suites import check_server, server_cases
from tests.ports import closed_port
from tests.processes import PATIENCE
from tests.sampling import extended, sampled

ROGUES = {
    "kuhn": [
        ("nul", "4.1", "2.1"),
        ("no-space", "4.1", "2.1"),
        ("spells-cards-out", "4.1", "2.2"),
        ("greets", "1.2", "1.2"),
        ("forgets-the-card", "4.2", "4.2"),
        ("waits-for-p2", "4.2", "4.2"),
        ("answers-a-fold", "4.7", "4.7"),
        ("says-call", "5.2", "4.8"),
        ("says-check", "5.1", "4.8"),
        ("deals-twice", "5.4", "5.4"),
        ("takes-any-action", "6.1", "6.1"),
        ("never-refuses", "6.4", "6.4"),
        ("one-game", "4.10", "8.2"),
        ("waits-for-the-first-message", "1.2", "1.2"),
        ("never-closes", "8.1", "8.1"),
    ],
    "sevenhalf": [
        ("nul", "4.2", "2.1"),
        ("quotes", "4.2", "2.1"),
        ("suit-first", "4.2", "2.4"),
        ("comma", "4.5", "2.5"),
        ("no-space", "4.1", "2.1"),
        ("text-bet", "4.1", "2.3"),
        ("forgets-bust", "4.6", "4.6"),
        ("forgets-gain", "4.5", "4.5"),
        ("acknowledges", "4.4", "4.4"),
        ("one-card-for-all", "3.3", "3.3"),
        ("takes-a-tie", "5.7", "5.7"),
        ("pays-once", "5.6", "5.6"),
        ("forgets-the-sign", "5.4", "5.4"),
        ("pays-first", "4.5", "4.5"),
        ("never-refuses", "6.2", "6.2"),
        ("case-sensitive", "2.7", "6.8"),
        ("hangs-up-at-house-words", "6.5", "6.8"),
    ],
    "blackjack": [
        ("newline", "4.1", "2.1"),
        ("lower-case", "4.1", "2.5"),
        ("one-byte-letters", "4.2", "2.4"),
        ("little-endian-letters", "4.2", "2.4"),
        ("little-endian", "4.1", "2.3"),
        ("no-turn", "4.2", "4.2"),
        ("one-card-for-all", "3.1", "3.1"),
        ("draws-on-17", "3.8", "3.8"),
        ("asks-at-21", "3.5", "3.5"),
        ("pays-the-gain", "5.1", "5.1"),
        ("keeps-a-surrender", "5.3", "5.3"),
        ("forgets-to-pay", "7.2", "7.2"),
        ("gives-credit", "6.6", "6.6"),
        ("leaves-without-a-word", "8.1", "8.1"),
        ("never-refuses", "6.4", "6.4"),
    ],
}
"""Habits, the section whose cases show each, and the clause that it breaks."""


def tried(
    room: str, habit: str, selection: str, part: int = 1, failures: int | None = None, timeout: float = 2.0
) -> Sequence[Result]:
    """What comes of these cases with a server."""
    house = HOUSE_ROOMS[room]
    cases = select(server_cases(house), selection)[::part]

    async def main() -> Sequence[Result]:
        port = closed_port()
        async with (
            asyncio.timeout(PATIENCE),
            await ProgramUnderTest.start(command(room, "server", habit), {"port": port}) as program,
        ):
            await program.wait_listening("127.0.0.1", port, PATIENCE)
            return await check_server(house, "127.0.0.1", port, cases=cases, timeout=timeout, max_failures=failures)

    return asyncio.run(main())


@pytest.mark.parametrize("room", extended(HOUSE_ROOMS, 3))
def test_an_honest_server_passes(room: str) -> None:
    results = tried(room, "honest", room, part=4, timeout=PATIENCE)
    assert [result for result in results if not result.outcome.is_good] == []
    assert sum(result.outcome is Outcome.PASS for result in results) > len(results) * 3 // 4


@pytest.mark.parametrize(
    ("room", "habit", "section", "clause"),
    sampled([(room, *row) for room, rows in ROGUES.items() for row in rows], 4, first_of=4),
    ids=[f"{room}-{habit}" for room, rows in ROGUES.items() for habit, _, _ in rows],
)
def test_a_rogue_server_is_found_on_its_own_clause(room: str, habit: str, section: str, clause: str) -> None:
    results = tried(room, habit, f"{room}/{section}", failures=2)
    found = {result.failure.clause for result in results if result.failure is not None}
    assert f"{room}-{clause}" in found
