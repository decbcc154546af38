"""Tests of players: our player passes, and each faulty player fails by its clause."""

import asyncio
import json
import re
import sys
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from croupier.conformance.case import select
from croupier.conformance.case_runner import MUTE_RESULTS
from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.diagnosis.cause import CUT_LETTER_CAUSE, LINE_CAUSE, ONE_READ_CAUSE, Cause
from croupier.conformance.oldmaid import player_context
from croupier.conformance.oldmaid.cases.rings import DELIVERY_CASES, SEAT_CASES
from croupier.conformance.oldmaid.endpoints import (
    LAST_LOOK_SECONDS,
    STATUS_POLL_SECONDS,
    ProgramConnection,
    ProgramEndpoints,
    wait_for_activity,
)
from croupier.conformance.oldmaid.player_bench import MUTE_START_SECONDS, SILENT_CAUSE, SPACED_SECONDS, PlayerBench
from croupier.conformance.program import ProgramError
from croupier.conformance.results import Outcome, Result
from croupier.conformance.suite import MAX_ABSENCES, Config
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT
from croupier.core.session import Drop, Effect, Event, Received, Send
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import TABLE, Player
from croupier.rooms.oldmaid.ring.table_client import Options
from croupier.rooms.oldmaid.wire import DISCARD_OK, OK, OUT, Discard, Message, Offer, OutOfCards, Reply, Wire, YourTurn
from tests.conformance.mutants.simulated_time import run_in_simulated_time
from tests.conformance.oldmaid.changed_programs import ChangedSession, Effects, play_one_game, quick_options
from tests.conformance.oldmaid.faulty_players import (
    FAULTY_PLAYERS,
    FaultyPlayer,
    Mutation,
    answers_with,
    asks_before,
    hangs_up_after_an_error,
    hangs_up_on_the_unreadable,
    never_errs,
    play_faulty,
    reads_its_left_neighbour_late,
    reads_one_neighbour,
    replaces,
)
from tests.conformance.oldmaid.players import Main, TaskProgram, independent_player, our_player, start_as_task
from tests.conformance.suites import check_client, client_cases, failed, run_bench
from tests.sampling import extended, one_for_each

WHOLE_GAMES = [f"oldmaid/{clause}/{slug}" for slug, _, players, _, clause in SEAT_CASES if players in {2, 3}]

ONE_READ_CASES = ["oldmaid/1.3/neighbour-glues", "oldmaid/1.4/byte-by-byte"]
"""Cases in which messages come together or in pieces: by what the transcript sends at once, or by the delivery."""

type Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def new_bench(main: Main, *, detected_dialect: Any = None, dialect: str = "document", **config: Any) -> PlayerBench:
    """A bench for a player in this process."""
    options = Options("", dialect=dialect)
    return PlayerBench(Config(known_options=options, dialect=detected_dialect, **config), start_as_task(main))


def run(main: Main, *selections: str, timeout: float = 0.5, **options: Any) -> Sequence[Result]:
    """Run cases with a player in this process, in simulated time."""
    cases = [case for selection in selections for case in select(client_cases(ROOM), selection)]
    return run_in_simulated_time(run_bench(new_bench(main, timeout=timeout, **options), cases))


@pytest.mark.parametrize(
    "faulty", one_for_each(FAULTY_PLAYERS, lambda faulty: faulty.clauses, 3, first_of=4), ids=lambda faulty: faulty.name
)
def test_faulty_player_fails_by_its_clause(faulty: FaultyPlayer) -> None:
    results = run(partial(play_faulty, faulty), *faulty.selections, strict=faulty.strict)
    found = failed(results)
    assert {clause for _, clause, _ in found} & faulty.clauses, found or [str(result) for result in results]


def test_a_player_that_reads_line_by_line_has_one_cause() -> None:
    line_by_line = next(faulty for faulty in FAULTY_PLAYERS if faulty.name == "wants-line-ends")
    results = run(partial(play_faulty, line_by_line), "oldmaid/1.3", "oldmaid/1.4")
    failures = [result.failure for result in results if result.failure is not None]
    assert {(failure.clause, failure.cause) for failure in failures} == {("oldmaid-1.3", LINE_CAUSE)}


def test_a_player_that_takes_one_read_for_one_message_has_one_cause() -> None:
    one_read = next(faulty for faulty in FAULTY_PLAYERS if faulty.name == "one-read-one-message")
    results = run(partial(play_faulty, one_read), *ONE_READ_CASES)
    failures = [result.failure for result in results if result.failure is not None]
    assert [(failure.clause, failure.cause) for failure in failures] == [("oldmaid-1.4", ONE_READ_CAUSE)] * len(
        ONE_READ_CASES
    )


@pytest.mark.extended
def test_a_player_that_decodes_each_read_by_itself_is_told_so() -> None:
    decodes_reads = next(faulty for faulty in FAULTY_PLAYERS if faulty.name == "decodes-reads")
    (result,) = run(partial(play_faulty, decodes_reads), "oldmaid/1.4/cut-letters")
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("oldmaid-1.4", CUT_LETTER_CAUSE)


def test_a_wrong_message_in_the_game_with_cut_letters_comes_from_no_read() -> None:
    one_too_many = replaces(lambda _, sent: Offer(sent.num_cards + 1) if isinstance(sent, Offer) else sent)
    first = iter([one_too_many()])
    lucky = FaultyPlayer("once", frozenset(), (), mutation=lambda: next(first, lambda _, __, effects: effects))
    (result,) = run(partial(play_faulty, lucky), "oldmaid/1.4/cut-letters")
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("oldmaid-7.2", None)


def test_a_pause_before_each_message_separates_those_sent_at_once_and_joins_pieces() -> None:
    async def read_all() -> list[bytes]:
        endpoints = ProgramEndpoints(delivery=Delivery(delay_seconds=SPACED_SECONDS))
        connections: list[ProgramConnection] = []
        endpoints.on_connection = connections.append
        reader, writer = await asyncio.open_connection(*await endpoints.listen("left"))
        while not connections:
            await endpoints.activity.wait()
        for data in (b'{"result":"ok"}{"cmd":"pick","card_num":0}', b'{"result":', b'"out"}\n', b'{"cmd":'):
            connections[0].send(data)
        connections[0].close()
        with closing(writer):
            read = [await reader.read(100) for _ in range(4)]
            await endpoints.close()
        return read

    expected = [b'{"result":"ok"}', b'{"cmd":"pick","card_num":0}', b'{"result":"out"}\n', b'{"cmd":']
    assert run_in_simulated_time(read_all()) == expected


def test_a_connection_that_is_seen_after_the_end_of_its_program_counts() -> None:
    async def see_end() -> str | None:
        endpoints, program = ProgramEndpoints(), TaskProgram(asyncio.sleep(0))
        asyncio.get_running_loop().call_later(STATUS_POLL_SECONDS + LAST_LOOK_SECONDS / 2, endpoints.notify)
        return await wait_for_activity(endpoints, program)

    assert run_in_simulated_time(see_end()) is None


@pytest.mark.parametrize("step", extended([20, 1], 2))
def test_our_player_passes(step: int) -> None:
    results = run(our_player, *[case.id for case in client_cases(ROOM)][::step], timeout=8.0)
    assert failed(results) == []
    assert len(results) >= 100 / step
    assert {result.outcome for result in results} == {Outcome.PASS}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_our_player_passes_with_any_seed(seed: int) -> None:
    results = run(partial(our_player, seed=seed), "oldmaid", seed=seed, strict=bool(seed % 2), timeout=8.0)
    assert failed(results) == []


@pytest.mark.slow
def test_independent_player_passes_in_rings() -> None:
    selections = [
        *(f"oldmaid/{clause}/{slug}" for slug, _, _, _, clause in SEAT_CASES),
        *(f"oldmaid/1.4/{slug}" for slug, *_ in DELIVERY_CASES),
    ]
    results = run(independent_player, *selections, timeout=8.0)
    assert failed(results) == []
    assert {result.outcome for result in results} == {Outcome.PASS}


class AheadOfTheTable(ChangedSession):
    """Goes on at once after a discard and out_of_cards, as if the table had answered ok."""

    def __init__(self, player: Player) -> None:
        super().__init__(player, lambda _, effects: effects)
        self._ahead: list[Message] = []

    def on(self, event: Event[Any], now: float) -> Effects:
        if self._ahead and event == Received(TABLE, self._ahead[0]):
            self._ahead.pop(0)
            return []
        return self._go_on(super().on(event, now), now)

    def _go_on(self, effects: Effects, now: float) -> Effects:
        changed: list[Effect[Any]] = []
        for effect in effects:
            changed.append(effect)
            if isinstance(effect, Send) and isinstance(effect.message, Discard | OutOfCards):
                self._ahead.append(DISCARD_OK if isinstance(effect.message, Discard) else OK)
                changed += self._go_on(super().on(Received(TABLE, self._ahead[-1]), now), now)
        return changed


async def ahead_of_the_table(values: Mapping[str, object]) -> None:
    luck = FairDealer(derive_server_seed(1, "player", 1)).luck
    await play_one_game(values, quick_options(values), luck, luck, wrap_session=AheadOfTheTable)


@pytest.mark.parametrize("name", extended(["table", "ann", "bob"], 3))
def test_messages_on_one_connection_may_be_later_than_those_on_others(name: str) -> None:
    """The player does not wait for the table's answers either."""
    receive = ProgramConnection.data_received

    def receive_late(self: ProgramConnection, data: bytes) -> None:
        if self.name == name:
            asyncio.get_running_loop().call_later(0.05, receive, self, data)
        else:
            receive(self, data)

    with patch.object(ProgramConnection, "data_received", receive_late):
        for seed in range(1, 6):
            assert failed(run(ahead_of_the_table, *WHOLE_GAMES, seed=seed, timeout=8.0)) == []


def test_a_dialogue_ends_with_the_fault_also_if_the_tester_has_waited_for_other_messages() -> None:
    counts_one_more = replaces(lambda _, message: Offer(message.num_cards + 1) if type(message) is Offer else message)
    faulty = FaultyPlayer("", frozenset(), (), mutation=counts_one_more)
    for result in run(partial(play_faulty, faulty), *WHOLE_GAMES):
        assert [clause for _, clause, _ in failed([result])] == ["oldmaid-7.2"]
        assert b'"offer"' in result.dialogue[-1].data


async def tries_again(values: Mapping[str, object]) -> None:
    """Offers the card that it draws; tries for five seconds to reach a neighbour again that is gone."""

    async def ask(connection: Connection, **request: object) -> Any:
        reader, writer = connection
        writer.write(json.dumps(request).encode())
        line = await reader.readline()
        return json.loads(line) if line else None

    table = await asyncio.open_connection(str(values["host"]), int(str(values["port"])))
    connections = [table]
    try:
        seats = (await ask(table, cmd="join", nick="me"))["players"]
        card = (await ask(table, cmd="draw"))["card"]
        for seat in ("player2", "player3"):
            for _ in range(10):
                with suppress(OSError):
                    connections.append(await asyncio.open_connection(*seats[seat][0]))
                    answer = await ask(connections[-1], cmd="offer", num_cards=1)
                    if answer is not None and await connections[-1][0].readline():
                        connections[-1][1].write(json.dumps({"result": "ok", "card": card}).encode())
                        await ask(table, cmd="out_of_cards")
                        return
                await asyncio.sleep(0.5)
    finally:
        for _, writer in connections:
            writer.transport.abort()


def test_a_player_may_try_to_reach_a_neighbour_again_that_is_gone() -> None:
    results = run(tries_again, "oldmaid/9.6/left-gone-before-ok", "oldmaid/9.6/left-gone-before-pick", timeout=5.0)
    assert [result.outcome for result in results] == 2 * [Outcome.PASS]


async def waits_for_both_neighbours(values: Mapping[str, object], *, list_type: type = dict) -> None:
    """Draws only when its right neighbour has connected, and reads one form of the list of players."""
    called: asyncio.Queue[Connection] = asyncio.Queue()
    server = await asyncio.start_server(lambda *call: called.put_nowait(call), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connections = [await asyncio.open_connection(str(values["host"]), int(str(values["port"])))]

    async def ask(at: int, **request: object) -> Any:
        reader, writer = connections[at]
        writer.write(json.dumps(request).encode())
        return json.loads(await reader.readline())

    try:
        players = (await ask(0, cmd="join", nick="me", port=port))["players"]
        assert isinstance(players, list_type)
        seats = [*players.values()] if isinstance(players, dict) else players
        connections += [await asyncio.open_connection(*seats[1][0]), await called.get()]
        await ask(0, cmd="draw")
        await ask(1, cmd="your_turn")
        await connections[2][0].read()
    finally:
        server.close()
        while not called.empty():
            connections.append(called.get_nowait())
        for _, writer in connections:
            writer.transport.abort()


def test_a_player_may_wait_for_the_call_of_its_right_neighbour() -> None:
    (result,) = run(waits_for_both_neighbours, "oldmaid/4.7/first")
    assert result.outcome is Outcome.PASS


def test_every_case_can_be_played_in_the_dialect_njaal() -> None:
    results = run(partial(our_player, dialect="njaal"), "oldmaid/1.4", "oldmaid/3", dialect="njaal", timeout=8.0)
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_the_list_of_players_is_in_the_form_of_the_dialect() -> None:
    reads_an_array = partial(waits_for_both_neighbours, list_type=list)
    results = run(reads_an_array, "oldmaid/4.7/first", "oldmaid/10.2/njaal-list", dialect="njaal")
    assert [(result.clause, result.outcome) for result in results] == [
        ("oldmaid-4.7", Outcome.PASS),
        ("oldmaid-10.2", Outcome.FAIL),
    ]


def test_a_player_may_close_a_connection_to_the_table_that_it_has_not_used() -> None:
    async def connects_twice(values: Mapping[str, object]) -> None:
        _, unused = await asyncio.open_connection(str(values["host"]), int(str(values["port"])))
        asyncio.get_running_loop().call_later(0.05, unused.close)
        await our_player(values)

    results = run(connects_twice, "oldmaid/1.2/first-of-two", "oldmaid/7.7", timeout=8.0)
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_a_player_may_refuse_a_pick_when_it_reads_its_left_neighbour_again() -> None:
    late = FaultyPlayer("", frozenset(), (), mutation=reads_its_left_neighbour_late)
    silent = FaultyPlayer("", frozenset(), (), mutation=never_errs)
    for faulty, outcome in ((late, Outcome.CHOICE), (silent, Outcome.FAIL)):
        results = run(partial(play_faulty, faulty), "oldmaid/7.7/pick-twice", "oldmaid/7.7/pick-unoffered")
        assert [result.outcome for result in results] == 2 * [outcome]


def test_a_player_that_leaves_when_it_is_out_fails_by_the_answer_that_is_missing() -> None:
    async def leaves(values: Mapping[str, object]) -> None:
        await tries_again(values)
        await asyncio.sleep(60)

    results = run(leaves, "oldmaid/7.12/gives-his-last-card")
    assert [clause for _, clause, _ in failed(results)] == ["oldmaid-7.9"]


def test_a_player_that_leaves_soon_after_it_is_out_is_found() -> None:
    async def leaves_soon(values: Mapping[str, object]) -> None:
        await tries_again(values)
        await asyncio.sleep(0.1)

    (result,) = run(leaves_soon, "oldmaid/7.16/out-answers-later")
    assert result.failure is not None
    assert (result.failure.clause, result.failure.expected) == ("oldmaid-7.16", '{"result": "out"} to \'next\'')


def test_cases_share_the_games_that_they_need() -> None:
    starts: list[Mapping[str, object]] = []

    def counted(values: Mapping[str, object]) -> Coroutine[Any, Any, None]:
        starts.append(values)
        return our_player(values)

    results = run(
        counted, "oldmaid/1.2/first-of-two", "oldmaid/2.6", "oldmaid/2.7", "oldmaid/7.4/departure", timeout=8.0
    )
    assert [result.outcome for result in results] == 4 * [Outcome.PASS]
    assert len(starts) == 1


def test_a_shared_game_that_fails_is_played_again() -> None:
    starts: list[Mapping[str, object]] = []

    async def late(values: Mapping[str, object]) -> None:
        starts.append(values)
        if len(starts) > 1:
            await our_player(values)
        else:
            _, writer = await asyncio.open_connection(str(values["host"]), int(str(values["port"])))
            writer.close()

    results = run(late, "oldmaid/1.2/first-of-two", "oldmaid/2.6", timeout=2.0)
    assert [result.outcome for result in results] == [Outcome.FAIL, Outcome.FAIL]
    results = run(late, "oldmaid/1.2/first-of-two", "oldmaid/2.6", timeout=2.0)
    assert [result.outcome for result in results] == 2 * [Outcome.PASS]


def test_a_whole_game_is_repeated_with_pauses_if_it_ends_in_silence() -> None:
    """The delivery of the confirmation reaches the game."""
    deliveries: list[Delivery] = []

    def endpoints(**options: Any) -> ProgramEndpoints:
        deliveries.append(options["delivery"])
        return ProgramEndpoints(**options)

    async def silent(values: Mapping[str, object]) -> None:
        _, writer = await asyncio.open_connection(str(values["host"]), int(str(values["port"])))
        writer.write(b'{"cmd": "join", "nick": "me"}\n')
        with closing(writer):
            await asyncio.sleep(60)

    with patch.object(player_context, "ProgramEndpoints", endpoints):
        (result,) = run(silent, "oldmaid/1.2/first-of-two", timeout=0.3)
    assert result.outcome is Outcome.FAIL
    assert {delivery.delay_seconds for delivery in deliveries} == {0.0, SPACED_SECONDS}


def test_named_port_is_tolerated_unless_strict() -> None:
    assert [result.outcome for result in run(independent_player, "oldmaid/3.5")] == [Outcome.NON_STRICT]
    assert [result.outcome for result in run(independent_player, "oldmaid/3.5", strict=True)] == [Outcome.FAIL]


def test_list_is_sent_in_the_dialect() -> None:
    (result,) = run(partial(our_player, dialect="njaal"), "oldmaid/1.2/first-of-two", dialect="njaal", timeout=8.0)
    assert result.outcome is Outcome.PASS


def test_rulings_are_choices() -> None:
    results = run(independent_player, "oldmaid/7.13", "oldmaid/2.11", "oldmaid/3.19")
    assert {result.outcome for result in results} <= {Outcome.CHOICE, Outcome.PASS}
    assert any(result.outcome is Outcome.CHOICE for result in results)


def test_a_player_may_connect_before_its_start_is_noticed() -> None:
    bench = PlayerBench(Config(timeout=8.0), start_as_task(our_player, seconds=0.5))
    cases = select(client_cases(ROOM), "oldmaid/4.7")
    results = run_in_simulated_time(run_bench(bench, cases))
    assert [result.outcome for result in results] == len(cases) * [Outcome.PASS]


def test_cases_in_which_a_player_has_never_connected_are_skipped() -> None:
    starts: list[object] = []

    async def never_connects(values: Mapping[str, object]) -> None:
        starts.append(values)
        await asyncio.sleep(60)

    results = run(never_connects, "oldmaid/7")
    assert {str(result.outcome): result.note for result in results} == {"SKIP": "the program ran and never connected"}
    assert len(starts) <= MAX_ABSENCES * PlayerBench.lanes < len(results)


@pytest.mark.parametrize(
    ("data", "clause", "cause"),
    [(b"", "oldmaid-3.1", SILENT_CAUSE), (b"hello", "oldmaid-1.3", None), (b"hello\n", "oldmaid-1.3", None)],
)
def test_the_run_ends_early_at_a_player_that_connects_and_does_not_join(
    data: bytes, clause: str, cause: Cause | None
) -> None:
    async def never_joins(values: Mapping[str, object]) -> None:
        _, writer = await asyncio.open_connection(str(values["host"]), int(str(values["port"])))
        writer.write(data)
        with closing(writer):
            await asyncio.sleep(60)

    results = run(never_joins, "oldmaid", timeout=5.0)
    assert MUTE_RESULTS <= len(results) < MUTE_RESULTS + PlayerBench.lanes
    assert {result.failure and (result.failure.clause, result.failure.cause) for result in results} == {(clause, cause)}
    assert sum(result.seconds > 2 * MUTE_START_SECONDS + 1.0 for result in results) <= PlayerBench.lanes


def test_a_player_that_ends_before_it_has_connected_is_skipped_with_its_stderr() -> None:
    async def ends(_: Mapping[str, object]) -> None:
        raise ValueError("no such option")

    (result,) = run(ends, "oldmaid/3.1/joins")
    assert result.outcome is Outcome.SKIP
    assert result.note.startswith("the program ended (exit status 1) and never connected: ValueError")


def test_cases_are_played_after_some_at_the_same_time_in_which_the_player_has_not_connected() -> None:
    starts: list[object] = []

    async def connects_later(values: Mapping[str, object]) -> None:
        starts.append(values)
        await (asyncio.sleep(60) if len(starts) <= PlayerBench.lanes else our_player(values))

    results = run(connects_later, "oldmaid/4", "oldmaid/7", timeout=8.0)
    outcomes = [result.outcome for result in results]
    assert PlayerBench.lanes > MAX_ABSENCES
    assert outcomes.count(Outcome.SKIP) == PlayerBench.lanes
    assert {*outcomes} == {Outcome.SKIP, Outcome.PASS}


class OneNumberTypeWire(Wire):
    """Reads 3.0 as 3, as JavaScript does."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return super().feed(re.sub(rb'(": \d+)\.0\b', rb"\1", data))


class UntypedWire(Wire):
    """Reads "3" as 3, and truth values as 0 and 1, as Tcl and Perl do."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        numbers = re.sub(rb'(_(?:num|cards)": )"(\d+)"', rb"\1\2", data)
        return super().feed(numbers.replace(b"false", b"0").replace(b"true", b"1"))


class BracketCountingWire(Wire):
    """Counts the brackets in strings, too: what has a string with an opening bracket does not end."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return () if b" {[" in data else super().feed(data)


def test_a_player_that_counts_the_brackets_in_strings_is_found() -> None:
    player = FaultyPlayer("brackets", frozenset(), (), wire=BracketCountingWire)
    results = run(
        partial(play_faulty, player), "oldmaid/1.3/letters-of-the-world", "oldmaid/1.2/first-of-two", timeout=8.0
    )
    assert [clause for _, clause, _ in failed(results)] == ["oldmaid-1.3"]


@pytest.mark.parametrize(("wire", "kind"), [(OneNumberTypeWire, "integral"), (UntypedWire, "untyped")])
def test_what_many_languages_make_an_integer_may_be_read_as_one(wire: type[Wire], kind: str) -> None:
    player = FaultyPlayer(kind, frozenset(), (), wire=wire)
    results = run(partial(play_faulty, player), "oldmaid/2.12", "oldmaid/8.7", timeout=8.0)
    assert {result.case: result.outcome for result in results} == {
        f"oldmaid/2.12/{name}-{case}": Outcome.CHOICE if case == kind else Outcome.PASS
        for name in ("offer", "pick")
        for case in ("integral", "untyped")
    } | {f"oldmaid/8.7/{name}-mistyped": Outcome.PASS for name in ("offer", "pick")}


def test_who_hangs_up_on_the_unreadable_turns_nobody_away() -> None:
    player = FaultyPlayer("hangs-up", frozenset(), (), mutation=hangs_up_on_the_unreadable)
    selections = ("oldmaid/8.7/offer-mistyped", "oldmaid/8.8", "oldmaid/8.9", "oldmaid/8.11/unreadable-requests")
    results = run(partial(play_faulty, player), *selections, timeout=8.0)
    assert {(result.outcome, result.failure and result.failure.clause) for result in results} == {
        (Outcome.FAIL, "oldmaid-8.7"),
        (Outcome.CHOICE, None),
        (Outcome.FAIL, "oldmaid-8.5"),
    }


@pytest.mark.parametrize(
    ("clause", "outcome"), [("oldmaid-8.5", Outcome.FAIL), ("oldmaid-8.4", Outcome.CHOICE)], ids=["object", "array"]
)
def test_a_player_may_hang_up_after_an_error_to_what_is_no_object(clause: str, outcome: Outcome) -> None:
    """It is not blamed on the next message either."""
    player = FaultyPlayer("hangs-up", frozenset(), (), mutation=hangs_up_after_an_error(clause))
    (result,) = run(partial(play_faulty, player), "oldmaid/8.11/unreadable-requests", timeout=8.0)
    assert result.outcome is outcome
    assert clause in str(result)


def test_a_player_that_calls_its_right_neighbour_first_is_not_blamed_on_the_missing_draw() -> None:
    async def calls_right(values: Mapping[str, object]) -> None:
        reader, writer = await asyncio.open_connection(str(values["host"]), int(str(values["port"])))
        writer.write(b'{"cmd": "join", "nick": "me"}\n')
        host, port = json.loads(await reader.readline())["players"]["player3"][0]
        _, right = await asyncio.open_connection(host, port)
        with closing(right), closing(writer):
            await asyncio.sleep(60)

    results = run(calls_right, "oldmaid/4.7/first")
    assert [clause for _, clause, _ in failed(results)] == ["oldmaid-3.16"]


def test_a_player_may_wait_for_a_status_that_no_transcript_has() -> None:
    mutation = asks_before(lambda effect: isinstance(effect, Send) and effect.message == OUT)
    player = FaultyPlayer("asks-before-it-is-out", frozenset(), (), mutation=mutation)
    results = run(partial(play_faulty, player), "oldmaid/7.10/wins", "oldmaid/7.10/offered-before-the-ok", timeout=8.0)
    assert failed(results) == []


def test_a_player_may_draw_before_it_answers_that_it_is_its_turn() -> None:
    def answers_late() -> Mutation:
        late: list[Effect[Any]] = []

        def mutation(_: Player, event: Event[Any], effects: Effects) -> Effects:
            if isinstance(event, Received) and isinstance(event.message, YourTurn):
                late.extend(effect for effect in effects if isinstance(effect, Send) and effect.message == OK)
                return [effect for effect in effects if effect not in late]
            if isinstance(event, Received) and isinstance(event.message, Reply) and event.message.card:
                effects = [*effects, *late]
                late.clear()
            return effects

        return mutation

    player = FaultyPlayer("answers-late", frozenset(), (), mutation=answers_late)
    results = run(partial(play_faulty, player), "oldmaid/4.8/middle-of-three", "oldmaid/1.2/first-of-two", timeout=8.0)
    assert [result.outcome for result in results] == 2 * [Outcome.PASS]


LOSING: Sequence[str] = ("oldmaid/7.11/loses", "oldmaid/4.8/game-lost")


def test_a_player_that_has_lost_may_wait_for_the_status_before_it_leaves() -> None:
    player = FaultyPlayer("asks-before-it-leaves", frozenset(), (), mutation=asks_before(_leaves))
    results = run(partial(play_faulty, player), *LOSING, timeout=8.0)
    assert [result.outcome for result in results] == 2 * [Outcome.PASS]


def test_a_player_that_has_lost_may_stay_connected() -> None:
    def stays() -> Mutation:
        def mutation(player: Player, _: Event[Any], effects: Effects) -> Effects:
            player.is_exhausted = False
            return [effect for effect in effects if not _leaves(effect)]

        return mutation

    player = FaultyPlayer("stays", frozenset(), (), mutation=stays)
    results = run(partial(play_faulty, player), *LOSING, timeout=8.0)
    assert [result.outcome for result in results] == 2 * [Outcome.CHOICE]


def _leaves(effect: Effect[Any]) -> bool:
    return effect == Drop(TABLE)


def test_a_player_may_read_one_neighbour_at_a_time() -> None:
    player = FaultyPlayer("one-thread", frozenset(), (), mutation=reads_one_neighbour)
    assert failed(run(partial(play_faulty, player), "oldmaid/8.11/unreadable-requests", timeout=8.0)) == []


def test_a_second_turn_may_be_answered_ok() -> None:
    """The document has no error to your_turn (oldmaid-4.11)."""
    player = FaultyPlayer("accepts-a-second-turn", frozenset(), (), mutation=answers_with(YourTurn, Reply("ok")))
    results = run(partial(play_faulty, player), "oldmaid/4.11", timeout=8.0)
    assert [result.outcome for result in results] == 2 * [Outcome.CHOICE]


def test_failure_shows_the_dialogue() -> None:
    faulty = next(faulty for faulty in FAULTY_PLAYERS if faulty.name == "python-dictionaries")
    (result,) = run(partial(play_faulty, faulty), "oldmaid/4.7/first")
    assert result.failure is not None
    assert "Python" in str(result.failure.cause)
    assert [line.side for line in result.dialogue] == [CLIENT]
    assert str(result.dialogue[0].message).endswith("→ table: {'cmd': 'join', 'nick': 'me'}")


@pytest.mark.parametrize(
    ("name", "selection", "words"),
    [
        ("python-dictionaries", "oldmaid/4.7/first", "json.dumps"),
        ("commands-in-capitals", "oldmaid/4.7/first", "commands in capitals"),
        ("numbers-as-text", "oldmaid/7.2/offered", "quotes around its numbers"),
    ],
)
def test_dialect_is_named_and_undone(name: str, selection: str, words: str) -> None:
    faulty = partial(play_faulty, next(faulty for faulty in FAULTY_PLAYERS if faulty.name == name))
    (result,) = run(faulty, selection)
    assert result.failure is not None
    assert words in str(result.failure.cause)
    assert result.failure.cause is not None
    (result,) = run(faulty, selection, detected_dialect=result.failure.cause.dialect, timeout=8.0)
    assert result.outcome is Outcome.PASS


def test_program_is_started_for_each_case() -> None:
    command = f"{sys.executable} -m croupier play oldmaid {{host}}:{{port}} --nick {{nick}} --bot random"
    cases = select(client_cases(ROOM), "oldmaid/4.7")
    results = asyncio.run(check_client(ROOM, command, cases=cases, timeout=20.0))
    assert [result.outcome for result in results] == [Outcome.PASS] * len(cases)


def test_crash_is_reported_with_stderr() -> None:
    script = 'import socket, sys; table = socket.create_connection(("{host}", {port})); sys.exit("alas, {nick}")'
    command = f"{sys.executable} -c '{script}'"
    stderr_chunks: list[bytes] = []
    cases = select(client_cases(ROOM), "oldmaid/4.8/your-turn")
    (result,) = asyncio.run(check_client(ROOM, command, cases=cases, timeout=20.0, on_stderr=stderr_chunks.append))
    assert result.failure is not None
    assert "exit status 1" in result.failure.actual
    assert stderr_chunks == [b"alas, me\n"]


def test_exceeded_limit_is_named() -> None:
    command = f"{sys.executable} -S -c 'import signal; signal.raise_signal(signal.SIGXCPU)'"
    cases = select(client_cases(ROOM), "oldmaid/4.8/your-turn")
    (result,) = asyncio.run(check_client(ROOM, command, cases=cases, timeout=20.0))
    assert "(SIGXCPU: it has used more processor time than allowed)" in result.note


def test_invalid_command_raises() -> None:
    cases = client_cases(ROOM)[:1]
    with pytest.raises(ValueError, match=r"\{deck\}"):
        asyncio.run(check_client(ROOM, "player {deck}", cases=cases))
    with pytest.raises(ProgramError, match="no-such-player"):
        asyncio.run(check_client(ROOM, "no-such-player {host} {port}", cases=cases))
