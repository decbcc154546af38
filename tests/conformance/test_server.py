"""Server tests: our own servers pass with any cards; dead, mute and vanished servers are reported quickly."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from croupier.conformance.case_runner import MUTE_RESULTS
from croupier.conformance.clauses import clauses
from croupier.conformance.diagnosis.cause import MUTE_CAUSE, Cause
from croupier.conformance.first_look import LOOK_SECONDS
from croupier.conformance.plan import Plan
from croupier.conformance.results import Outcome, Report, Result
from croupier.conformance.run import check
from croupier.conformance.servers.bench import NO_MORE_CLIENTS, ONE_GAME_FOR_ALL
from croupier.conformance.servers.tcp_house import TcpHouse
from croupier.conformance.suite import find_suite
from croupier.core.room import HouseRoom
from croupier.core.session import Address
from croupier.core.transcript import Transcript, house_settings
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, Table, new_bench, opened, run_cases
from tests.conformance.mutants.simulated_time import run_in_simulated_time
from tests.conformance.suites import check_server, run_bench, server_cases
from tests.rooms.conversation_fixture import HANG_UP, before, followed, honest, instead
from tests.sampling import extended

rooms = pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)

HEADS: dict[str, list[dict[str, str]]] = {
    "kuhn": [{}, {"coins": "1"}, {"bot": "random"}, {"coins": "0"}, {"house": "BET FLD"}],
    "sevenhalf": [{}, {"bet": "1"}, {"once": "yes"}, {"dialect": "lenient"}, {"max_bet": "150"}],
    "blackjack": [{}, {"money": "5"}, {"decks": "6"}, {"ten": "X"}, {"dialect": "char8"}, {"money": "2147483647"}],
}
"""Houses that are set in ways a stranger may be."""

TOLD = {"decks", "dialect"}
"""The settings of a house that a client needs to know."""

DEPARTS = {"once", "ten"}
"""What a client may find wrong with a house, but a strict one only."""


def run(
    room: HouseRoom, head: Mapping[str, str], seed: int, *, strict: bool = False, part: int = 1
) -> tuple[Result, ...]:
    """What the tester finds; one case in `part` is tried."""
    own = house_settings(room, Transcript("a house", "set", (), head, ())) if TOLD & head.keys() else None
    parlour = HouseFixture(room, head, seed=seed, strict=strict)
    cases = server_cases(room)[::part]
    return asyncio.run(run_cases(parlour, room, cases, known_options=own, strict=strict, seed=seed, effort=0.0))


def bad(results: tuple[Result, ...]) -> list[Result]:
    return [result for result in results if not result.outcome.is_good]


@rooms
def test_every_clause_has_a_case_or_a_reason(room: HouseRoom) -> None:
    tested = {case.clause for case in server_cases(room)}
    reasons = find_suite(room, "server").reasons
    assert tested | reasons.keys() == clauses(room.name).keys()
    assert not tested & reasons.keys()
    assert all(reasons.values())


@rooms
def test_there_are_cases_enough_and_no_two_have_a_name(room: HouseRoom) -> None:
    cases = server_cases(room)
    assert len({case.id for case in cases}) == len(cases) >= 150
    assert all(case.id.startswith(f"{room.name}/{case.clause.removeprefix(f'{room.name}-')}/") for case in cases)
    assert all(case.title and case.scenarios for case in cases)
    assert server_cases(room) == cases


@rooms
@pytest.mark.parametrize("part", extended([2, 1], 2))
def test_our_own_house_has_no_faults(room: HouseRoom, part: int) -> None:
    results = run(room, {}, 0, part=part)
    assert bad(results) == []
    assert sum(result.outcome is Outcome.PASS for result in results) > 0.8 * len(results)
    assert not any(result.outcome is Outcome.NON_STRICT for result in results)


@pytest.mark.parametrize("room", extended(HOUSE_ROOMS.values(), 3), ids=HOUSE_ROOMS)
@pytest.mark.extended
def test_our_own_house_has_no_faults_when_strict_and_with_other_settings(room: HouseRoom) -> None:
    assert bad(run(room, HEADS[room.name][1], 1, strict=True)) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(50))
@rooms
def test_our_own_house_has_no_faults_over_a_thousand_runs(room: HouseRoom, part: int) -> None:
    for number in range(7):
        seed = 10 + 7 * part + number
        head = HEADS[room.name][seed % len(HEADS[room.name])]
        strict = seed % 4 == 0 and not DEPARTS & head.keys()
        assert bad(run(room, head, seed, strict=strict)) == [], (seed, head, strict)


@pytest.mark.parametrize(
    ("room", "head"), extended([("blackjack", {"ten": "digits"}), ("sevenhalf", {"once": "yes"})], 2)
)
def test_a_departure_that_is_tolerated_is_told_and_with_strict_it_fails(room: str, head: dict[str, str]) -> None:
    tolerated = run(HOUSE_ROOMS[room], head, 1, part=5)
    assert bad(tolerated) == []
    clause = "sevenhalf-8.5" if room == "sevenhalf" else "blackjack-2.7"
    reported = [result for result in tolerated if result.outcome is Outcome.NON_STRICT]
    assert len([result for result in reported if result.clause != clause]) == 1, "the others accept it"
    (note,) = {result.note for result in reported}
    assert note.startswith(f"the server departs from the document as {clause} tolerates: ")
    refused = bad(run(HOUSE_ROOMS[room], head, 1, strict=True, part=5))
    assert {result.failure.clause for result in refused if result.failure} == {clause}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("room", ["kuhn", "sevenhalf"])
def test_what_a_house_makes_of_a_tolerance_is_its_choice(room: str, strict: bool) -> None:
    tolerances = {"kuhn": {"kuhn-2.4", "kuhn-2.5"}, "sevenhalf": {"sevenhalf-2.8", "sevenhalf-4.8"}}[room]
    cases = [case for case in server_cases(HOUSE_ROOMS[room]) if case.clause in tolerances]
    results = asyncio.run(run_cases(HouseFixture(HOUSE_ROOMS[room], strict=strict), HOUSE_ROOMS[room], cases))
    assert {result.clause for result in results} == tolerances
    assert [result.outcome for result in results] == [Outcome.CHOICE] * len(cases)
    assert {result.note for result in results} == {
        "the server refuses this, as a strict server does" if strict else "the server accepts this"
    }


@pytest.mark.extended
def test_what_is_refused_wherever_it_is_said_is_unimplemented() -> None:
    room = HOUSE_ROOMS["blackjack"]
    habit = instead(b"SRD", b"ERR\0\0\x01\xf5")
    cases = [case for case in server_cases(room) if "surrender" in case.id]
    results = asyncio.run(run_cases(HouseFixture(room, habit=habit), room, cases))
    failed = bad(results)
    assert failed
    assert {result.outcome for result in failed} == {Outcome.UNIMPLEMENTED}
    assert {result.failure.clause for result in failed if result.failure} == {"blackjack-4.5"}


def test_a_failure_has_its_bytes_and_a_short_dialogue() -> None:
    room = HOUSE_ROOMS["kuhn"]
    habit = before(b"FAIL W_A", b"DISC")
    results = asyncio.run(run_cases(HouseFixture(room, habit=habit), room, server_cases(room)[::5], effort=0.0))
    failed = [result for result in bad(results) if result.failure and result.failure.wanted]
    assert failed
    for result in failed:
        assert result.failure
        assert result.failure.wanted == b"FAIL W_A"
        assert result.failure.got == b"DISC"
    short = [result for result in bad(results) if len(result.dialogue) <= 6]
    assert len(short) >= 0.9 * len(bad(results))


def test_a_house_of_one_game_is_found_on_the_close_that_nobody_has_asked_for() -> None:
    """The parlour lets the client speak before it hears that the house has left."""
    room = HOUSE_ROOMS["kuhn"]
    habit = followed(b"ACTN BET", HANG_UP)
    cases = [case for case in server_cases(room) if case.id == "kuhn/4.10/games-in-a-row"]
    (result,) = asyncio.run(run_cases(HouseFixture(room, habit=habit), room, cases))
    assert result.failure
    assert result.failure.clause == "kuhn-8.2"
    assert [line.data for line in result.dialogue][::2] == [b"STRT P_1", b"ACTN BET"]


async def over_a_socket(room: HouseRoom, port: int, **more: Any) -> tuple[Result, ...]:
    told: list[Result] = []
    plan: dict[str, Any] = {
        "cases": server_cases(room),
        "options": None,
        "strict": False,
        "seed": 3,
        "timeout": 5.0,
        "max_failures": None,
        "on_result": told.append,
        **more,
    }
    results = await check_server(room, "127.0.0.1", port, **plan)
    assert {result.case: result for result in results} == {result.case: result for result in told}
    return results


@pytest.mark.extended
@pytest.mark.parametrize("part", [pytest.param(1, marks=pytest.mark.slow), 9])
@rooms
def test_our_own_house_has_no_faults_over_a_socket(room: HouseRoom, part: int) -> None:
    cases = server_cases(room)[::part]

    async def check() -> tuple[Result, ...]:
        async with opened(HouseFixture(room)) as port:
            return await over_a_socket(room, port, cases=cases)

    results = asyncio.run(check())
    assert bad(results) == []
    assert [result.case for result in results] == [case.id for case in cases]


def test_nothing_is_tested_at_an_unreachable_server() -> None:
    async def check() -> tuple[Result, ...]:
        async with opened(HouseFixture(HOUSE_ROOMS["kuhn"])) as port:
            pass
        return await over_a_socket(HOUSE_ROOMS["kuhn"], port)

    (result,) = asyncio.run(check())
    assert result.failure is not None
    assert (result.outcome, result.failure.expected) == (Outcome.FAIL, "a server that accepts connections")


class StartedServer:
    """A server that the tester has started, and that never ends."""

    leaving_cause = None

    def __init__(self, address: Address) -> None:
        self.address = address

    async def address_for_client(self) -> Address:
        return self.address


def test_a_server_that_ends_with_each_client_is_not_asked_by_several_at_once() -> None:
    house = HouseFixture(HOUSE_ROOMS["kuhn"])
    server: Any = StartedServer(("127.0.0.1", 1))
    bench = new_bench(HOUSE_ROOMS["kuhn"], house, server=server)
    for _ in range(10):
        bench._conversations.timeout.record_answer(0.5)
    server.leaving_cause = Cause("it ends when a client leaves")
    assert asyncio.run(bench._find_clients()) == 1
    assert house.met == 0


def test_a_purse_that_all_clients_share_is_found_from_another_address() -> None:
    def habit(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
        starts.append(heard)
        return [b"FAIL N_C"] if len(starts) > 5 and heard.startswith(b"STRT") else answers

    starts: list[bytes] = []
    room = HOUSE_ROOMS["kuhn"]
    cases = [case for case in server_cases(room) if case.id in {"kuhn/4.1/strt-p1-at-start", "kuhn/3.1/dealt-q"}]

    async def check() -> tuple[Result, ...]:
        async with opened(HouseFixture(room, habit=habit)) as port:
            server: Any = StartedServer(("127.0.0.1", port))
            return await run_bench(new_bench(room, TcpHouse(2.0), server=server), cases, server.address)

    failures = [result.failure for result in asyncio.run(check()) if result.failure is not None]
    assert failures
    assert {failure.clause for failure in failures} == {"kuhn-7.1"}
    assert {str(failure.cause) for failure in failures} == {"it has one purse for all clients"}


@pytest.mark.parametrize("room", extended(HOUSE_ROOMS.values(), 3), ids=HOUSE_ROOMS)
def test_a_server_that_goes_on_with_the_game_of_an_earlier_client_has_one_for_all(room: HouseRoom) -> None:
    house = HouseFixture(room)
    table = house.table()
    house.table = lambda: table
    cases = [case for case in server_cases(room) if case.section.startswith("4.")]
    first = next(result for result in asyncio.run(run_cases(house, room, cases)) if result.failure is not None)
    assert first.failure is not None
    assert (first.failure.clause, first.failure.cause) == (f"{room.name}-1.2", ONE_GAME_FOR_ALL)


def test_a_server_that_plays_with_nobody_after_a_first_client_that_says_nothing_fails_once() -> None:
    room = HOUSE_ROOMS["kuhn"]
    house = HouseFixture(room, habit=lambda _, answers: [HANG_UP] if house.met > first_client else answers)
    first_client = 1
    cases = [case for case in server_cases(room) if case.id == "kuhn/1.2/client-speaks-first"]
    cases += [case for case in server_cases(room) if case.section.startswith("4.")]

    async def restart() -> None:
        nonlocal first_client
        first_client = house.met + 1

    server: Any = StartedServer(("127.0.0.1", 1))
    server.restart = restart
    results = run_in_simulated_time(run_bench(new_bench(room, house, server=server), cases, server.address))
    (failure,) = (result.failure for result in results if result.failure is not None)
    assert (failure.clause, failure.cause) == ("kuhn-1.2", NO_MORE_CLIENTS)
    assert Counter(result.outcome for result in results) == {"PASS": 1, "FAIL": 1, "SKIP": len(cases) - 2}


def test_a_mute_server_is_waited_for_a_few_times_only() -> None:
    room = HOUSE_ROOMS["kuhn"]
    cases = [case for case in server_cases(room) if case.section.startswith("4.")]

    async def check() -> tuple[Result, ...]:
        async with opened(HouseFixture(room, habit=lambda *_: [])) as port:
            return await over_a_socket(room, port, timeout=0.3, cases=cases)

    results = run_in_simulated_time(check())
    assert sum(result.seconds >= 0.3 and not result.outcome.is_good for result in results) <= 4
    deaf = next(result for result in results if result.case == "kuhn/4.1/strt-p1-at-start")
    assert (deaf.outcome, deaf.failure and deaf.failure.clause) == (Outcome.FAIL, "kuhn-4.1")
    assert [line.data for line in deaf.dialogue] == [b"STRT P_1"]
    assert {result.failure and result.failure.cause for result in results} == {MUTE_CAUSE}
    assert len(results) == MUTE_RESULTS < len(cases), "the others would not be answered either"


def test_a_server_that_was_silent_at_the_first_look_is_waited_for_once() -> None:
    async def run() -> Report:
        async with opened(HouseFixture(HOUSE_ROOMS["kuhn"], habit=lambda *_: [])) as port:
            plan = Plan(
                room=HOUSE_ROOMS["kuhn"], role="server", selection="kuhn/4.1/strt-p1-at-start", port=port, timeout=20.0
            )
            return await check(plan, lambda _: None, 0.0)

    report = run_in_simulated_time(run())
    assert report.exit_status == 1
    assert report.seconds < LOOK_SECONDS + 20.0


def test_after_so_many_failures_the_rest_is_left_out() -> None:
    room = HOUSE_ROOMS["kuhn"]

    async def check() -> tuple[Result, ...]:
        async with opened(HouseFixture(room, habit=lambda *_: [HANG_UP])) as port:
            return await over_a_socket(room, port, max_failures=2)

    results = asyncio.run(check())
    assert len(bad(results)) == 2
    assert not results[-1].outcome.is_good
    assert Report("kuhn", "server", "", "", "", 0, 0.0, 0.0, results).exit_status == 1


def test_a_run_ends_when_the_server_is_gone() -> None:
    room = HOUSE_ROOMS["kuhn"]
    parlour = HouseFixture(room)

    async def check() -> tuple[Result, ...]:
        async with opened(parlour) as port:
            done: list[Result] = []

            def told(result: Result) -> None:
                done.append(result)
                if len(done) == 2:
                    parlour.stop_listening()

            return await check_server(
                room,
                "127.0.0.1",
                port,
                cases=[case for case in server_cases(room) if not case.is_concurrent][:6],
                seed=0,
                timeout=1.0,
                on_result=told,
            )

    results = asyncio.run(check())
    assert sorted(result.outcome.is_good for result in results) == [False, True, True]
    assert {result.failure.expected for result in results if result.failure} == {"a server that accepts connections"}


ARGUMENT_SIZES: Mapping[str, Mapping[bytes, int]] = {
    "kuhn": dict.fromkeys((b"STRT", b"ACTN", b"CARD", b"FAIL"), 4),
    "sevenhalf": {b"ANTE": 5, b"STBT": 5, b"GAIN": 5, b"CARD": 3, b"ERRO": 3, b"BKSC": 5},
}
"""How many bytes follow each code; a text or a bank comes after them."""


class WholeReadingTable(Table):
    """A house that receives all bytes of a message before it looks at its argument."""

    def __init__(self, room: HouseRoom, number: int) -> None:
        super().__init__(room, {}, honest, number, strict=False)
        self._sizes = ARGUMENT_SIZES[room.name]
        self._rest = b""

    def hears(self, data: bytes) -> Sequence[bytes]:
        self._rest += data
        answers: list[bytes] = []
        while len(self._rest) >= 4:
            size = 4 + self._sizes.get(self._rest[:4].upper(), 0)
            if len(self._rest) < size:
                break
            answers += super().hears(self._rest[:size])
            self._rest = self._rest[size:]
        return answers


@pytest.mark.parametrize("name", ARGUMENT_SIZES)
def test_a_house_may_receive_a_whole_message_before_it_looks_for_the_space(name: str) -> None:
    room = HOUSE_ROOMS[name]
    house = HouseFixture(room)
    house.table = lambda: WholeReadingTable(room, house.met)
    cases = [case for case in server_cases(room) if "no-space" in case.slug or "without-space" in case.slug]
    assert bad(asyncio.run(run_cases(house, room, cases, effort=0.0))) == []


def test_all_bytes_are_shown_and_sent_again_of_a_message_that_a_house_should_not_read_on_after() -> None:
    room = HOUSE_ROOMS["sevenhalf"]
    house = HouseFixture(room, habit=lambda _, answers: [answer for answer in answers if answer != HANG_UP])
    (case,) = (case for case in server_cases(room) if case.id.endswith("2.9/no-space-at-start"))
    (result,) = asyncio.run(run_cases(house, room, [case]))
    assert result.failure is not None
    assert result.failure.expected == "the close of the connection"
    assert result.dialogue[0].data == b"ANTE-\0\0\0\x0a"


def test_a_house_may_read_the_words_of_a_bank_by_their_count_and_look_for_no_space_before_the_score() -> None:
    room = HOUSE_ROOMS["sevenhalf"]
    house = HouseFixture(room, habit=lambda _, answers: [answer for answer in answers if answer != HANG_UP])
    cases = [case for case in server_cases(room) if case.id.endswith("2.9/bank-words-without-space")]
    assert bad(asyncio.run(run_cases(house, room, cases, effort=0.0))) == []
