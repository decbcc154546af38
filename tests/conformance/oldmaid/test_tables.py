"""Tests of tables: our table passes, and each faulty table fails by its clause."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from croupier.conformance.case import select
from croupier.conformance.crowd import CROWD_CAUSE
from croupier.conformance.diagnosis.cause import LINE_CAUSE, MUTE_CAUSE, SENDS_BACK
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.table_bench import CLOSES_AFTER_ANSWERS
from croupier.conformance.oldmaid.table_replay import OtherGame, TableReplay
from croupier.conformance.plan import Plan
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome, Report, Result
from croupier.conformance.run import check
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Effect, Event, Malformed, Received
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.rules import MAX_PLAYERS
from croupier.rooms.oldmaid.wire import Draw, Join, Message, OutOfCards, Reply, Wire
from tests.conformance.mutants.simulated_time import run_in_simulated_time
from tests.conformance.oldmaid.changed_programs import EffectChange
from tests.conformance.oldmaid.faulty_tables import (
    FAULTY_TABLES,
    Effects,
    FaultyTable,
    NoticesLate,
    NoticesVeryLate,
    PlaysOneGame,
    RefusesLastPair,
    SeatsBackwards,
    answers_refused,
    hangs_up,
    hangs_up_silently,
    open_faulty_table,
    shared_deck_dealer,
)
from tests.conformance.suites import check_server, failed, server_cases
from tests.ports import closed_port
from tests.sampling import extended, one_for_each, sampled

HONEST = FaultyTable("honest", frozenset(), "oldmaid")


class Strict(Wire):
    """Reads without tolerances."""

    def __init__(self, role: Literal["table", "player"]) -> None:
        super().__init__(role, strict=True)


def run(faulty: FaultyTable, selection: str, *, timeout: float = 0.5, **options: Any) -> Sequence[Result]:
    """Run cases at a faulty table, in simulated time."""

    async def run() -> Sequence[Result]:
        async with open_faulty_table(faulty) as (host, port):
            cases = select(server_cases(ROOM), selection)
            return await check_server(ROOM, host, port, cases=cases, timeout=timeout, **options)

    return run_in_simulated_time(run())


@pytest.mark.parametrize(
    "faulty", one_for_each(FAULTY_TABLES, lambda faulty: faulty.clauses, 3, first_of=4), ids=lambda faulty: faulty.name
)
def test_faulty_table_fails_by_its_clause(faulty: FaultyTable) -> None:
    failures = failed(run(faulty, faulty.selection))
    assert {clause for _, clause, _ in failures} & faulty.clauses, failures


def test_an_error_to_a_piece_is_blamed_on_the_stream() -> None:
    one_read = next(faulty for faulty in FAULTY_TABLES if faulty.name == "one-read-one-message")
    assert [clause for _, clause, _ in failed(run(one_read, "oldmaid/1.4/tail"))] == ["oldmaid-1.4"]


def test_a_table_that_reads_line_by_line_has_one_cause() -> None:
    line_by_line = next(faulty for faulty in FAULTY_TABLES if faulty.name == "wants-line-ends")
    failures = [result.failure for result in run(line_by_line, "oldmaid/1") if result.failure is not None]
    assert len(failures) > 3
    assert {(failure.clause, failure.cause) for failure in failures} == {("oldmaid-1.3", LINE_CAUSE)}


def test_a_table_whose_games_share_a_deck_mixes_them_up() -> None:
    shared = FaultyTable("shared-deck", frozenset(), "oldmaid", dealer=shared_deck_dealer)
    failures = [result.failure for result in run(shared, "oldmaid/6") if result.failure is not None]
    causes = Counter(failure.cause for failure in failures)
    assert causes[CROWD_CAUSE] > causes[None]
    assert {*causes} <= {CROWD_CAUSE, None}


@pytest.mark.parametrize("selection", extended(["oldmaid/4", "oldmaid"], 2))
def test_our_table_passes(selection: str) -> None:
    results = run(HONEST, selection, timeout=5.0)
    assert failed(results) == []
    assert len(results) == len(select(server_cases(ROOM), selection))
    assert sum(result.outcome is Outcome.PASS for result in results) >= 0.9 * len(results)
    assert {result.outcome for result in results} <= {Outcome.PASS, Outcome.CHOICE, Outcome.SKIP}


def test_a_table_may_look_now_and_then_who_has_left() -> None:
    results = run(replace(HONEST, house=NoticesLate), "oldmaid/3.12", timeout=1.5)
    assert [result.outcome for result in results] == [Outcome.PASS] * len(results)


@pytest.mark.extended
@pytest.mark.parametrize("section", ["3", "9"])
def test_a_table_may_take_seconds_to_see_who_has_left(section: str) -> None:
    results = run(replace(HONEST, house=NoticesVeryLate), f"oldmaid/{section}", timeout=1.5)
    assert failed(results) == []
    too_few = sum("it takes" in result.note for result in results)
    assert sum(result.outcome is Outcome.PASS for result in results) >= len(results) - too_few - 3


def test_a_table_that_never_notices_who_has_left_is_tested_with_those_who_are_there() -> None:
    stale = next(faulty for faulty in FAULTY_TABLES if faulty.name == "seats-the-dead")
    results = run(stale, "oldmaid/3", timeout=1.5)
    assert {clause for _, clause, _ in failed(results)} <= {"oldmaid-3.12", "oldmaid-3.8"}
    assert sum(result.outcome is Outcome.PASS for result in results) > len(results) // 2


def test_a_table_that_never_notices_who_has_left_is_not_waited_for_each_time() -> None:
    stale = next(faulty for faulty in FAULTY_TABLES if faulty.name == "seats-the-dead")

    async def seconds() -> float:
        async with open_faulty_table(stale) as (host, port):
            clock = asyncio.get_running_loop().time
            started_at = clock()
            await check_server(ROOM, host, port, cases=select(server_cases(ROOM), "oldmaid/3"), timeout=1.5)
            return clock() - started_at

    assert run_in_simulated_time(seconds()) < 50


def test_a_table_may_read_keys_in_capitals() -> None:
    class IgnoresCase(Wire):
        def feed(self, data: bytes) -> Sequence[Message | Violation]:
            return super().feed(data.replace(b'"CMD"', b'"cmd"'))

    results = run(replace(HONEST, wire=IgnoresCase), "oldmaid/2")
    assert failed(results) == []
    assert {result.case: result.outcome for result in results}["oldmaid/2.13/keys-in-capitals"] is Outcome.CHOICE


def test_a_table_may_seat_its_players_in_any_order() -> None:
    results = run(replace(HONEST, house=SeatsBackwards), "oldmaid/3")
    assert failed(results) == []
    outcomes = {result.case: result.outcome for result in results}
    assert outcomes["oldmaid/3.20/order"] is Outcome.CHOICE
    assert outcomes["oldmaid/3.3/order"] is Outcome.PASS


@pytest.mark.parametrize("players", extended([2, 3, 8], 3))
def test_our_table_passes_with_any_size(players: int) -> None:
    selections = ("oldmaid/3", "oldmaid/9") if players < 8 else ("oldmaid/3.3", "oldmaid/6.8", "oldmaid/9.2")
    for selection in selections:
        assert failed(run(replace(HONEST, players=players), selection, timeout=5.0)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("players", [2, 3, 4, 5, 8])
def test_our_table_passes_with_any_seed(players: int, seed: int) -> None:
    results = run(replace(HONEST, players=players), "oldmaid", seed=seed, strict=bool(seed % 2), timeout=5.0)
    assert failed(results) == []


def test_a_second_out_of_cards_may_be_answered_ok() -> None:
    """The document has no other answer to it (oldmaid-6.3)."""
    table = replace(HONEST, mutation=answers_refused(OutOfCards, "oldmaid-6.3", Reply("ok")))
    assert {result.outcome for result in run(table, "oldmaid/6.3", timeout=5.0)} == {Outcome.CHOICE}


def test_an_out_of_cards_after_the_end_may_be_answered_ok() -> None:
    """It changes nothing (oldmaid-6.9)."""
    table = replace(HONEST, mutation=answers_refused(OutOfCards, "oldmaid-6.9", Reply("ok")))
    selections = ("oldmaid/6.9/out-of-cards-game-over", "oldmaid/6.9/out-of-cards-last-player")
    assert [result.outcome for one in selections for result in run(table, one, timeout=5.0)] == 2 * [Outcome.CHOICE]


def test_a_discard_after_the_end_may_be_refused() -> None:
    """The last player may discard its last pair, and need not (oldmaid-6.9)."""
    assert failed(run(replace(HONEST, house=RefusesLastPair), "oldmaid/6", timeout=5.0)) == []


def test_a_table_that_plays_one_game_at_a_time_is_examined_all_the_same() -> None:
    results = run(replace(HONEST, house=PlaysOneGame), "oldmaid/4", timeout=5.0)
    assert {clause for _, clause, _ in failed(results)} == {"oldmaid-3.13"}
    assert sum(result.outcome is Outcome.PASS for result in results) >= len(results) / 2


class UntypedWire(Wire):
    """Reads a number as a string, as Tcl and Perl do."""

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return super().feed(re.sub(rb'"nick": (\d+)', rb'"nick": "\1"', data))


def test_a_nick_may_be_a_number() -> None:
    results = run(replace(HONEST, wire=UntypedWire), "oldmaid/8.7", timeout=5.0)
    choices = [result.case for result in results if result.outcome is not Outcome.PASS]
    assert (choices, failed(results)) == (["oldmaid/8.7/nick-number"], [])


@pytest.mark.parametrize(
    ("case", "mutation", "clause"),
    extended(
        [
            ("oldmaid/3.7/nicks", hangs_up, "oldmaid-8.1"),
            ("oldmaid/3.7/nicks", hangs_up_silently, "oldmaid-3.7"),
            ("oldmaid/3.7/empty", hangs_up_silently, "oldmaid-3.7"),
            ("oldmaid/2.10/numbers", hangs_up_silently, "oldmaid-8.7"),
            ("oldmaid/5.9/discard-when-out", hangs_up_silently, "oldmaid-5.9"),
        ],
        3,
    ),
)
def test_a_close_in_answer_to_a_readable_request_is_no_choice(
    case: str, mutation: Callable[[], EffectChange], clause: str
) -> None:
    failures = failed(run(replace(HONEST, mutation=mutation), case, timeout=5.0))
    assert [found for _, found, _ in failures] == [clause]


def test_a_table_may_limit_the_length_of_messages() -> None:
    def closes_on_long_messages() -> EffectChange:
        def mutation(event: Event[Any], effects: Effects) -> Effects:
            return [Drop(event.peer)] if isinstance(event, Received) and isinstance(event.message, Draw) else effects

        return mutation

    table = replace(HONEST, mutation=closes_on_long_messages)
    (result,) = run(table, "oldmaid/8.9/long-message", timeout=5.0)
    assert result.outcome is Outcome.CHOICE


@pytest.mark.parametrize("case", ["oldmaid/1.7/text-between", "oldmaid/8.3/no-json", "oldmaid/2.11/swallowed"])
def test_a_close_after_what_need_not_be_readable_is_a_choice(case: str) -> None:
    def closes_on_garbage() -> EffectChange:
        def mutation(event: Event[Any], effects: Effects) -> Effects:
            is_garbage = isinstance(event, Malformed) or (
                isinstance(event, Received) and isinstance(event.message, Reply)
            )
            return [Drop(event.peer)] if is_garbage else effects

        return mutation

    (result,) = run(replace(HONEST, mutation=closes_on_garbage), case, timeout=5.0)
    assert result.outcome is Outcome.CHOICE


@pytest.mark.parametrize("case", ["oldmaid/8.4/no-object", "oldmaid/8.4/array-in-turn", "oldmaid/8.1/lies-1"])
def test_a_table_may_close_after_an_error_to_what_is_no_object(case: str) -> None:
    def closes_after_arrays() -> EffectChange:
        def mutation(event: Event[Any], effects: Effects) -> Effects:
            is_array = isinstance(event, Malformed) and event.violation.clause == "oldmaid-8.4"
            return [*effects, Drop(event.peer)] if is_array else effects

        return mutation

    (result,) = run(replace(HONEST, mutation=closes_after_arrays), case, timeout=5.0)
    assert result.outcome is (Outcome.PASS if case == "oldmaid/8.1/lies-1" else Outcome.CHOICE)


def test_a_transcript_begins_again_after_a_game_with_players_that_have_left() -> None:
    """The order is not wrong where the table has not noticed who is gone (oldmaid-3.12)."""

    def player(nick: str) -> SimpleNamespace:
        return SimpleNamespace(nick=nick, is_disconnected=False)

    context: Any = SimpleNamespace(scripted_players=[player("ann-1")], require_noticed=lambda _: None)
    replay = TableReplay(transcripts("oldmaid")[0], context, 0.0, requires_order=True)
    context.scripted_players += [player("ann-2"), player("bob-2")]
    for nicks, is_own in ((("ann-2", "bob-2"), True), (("ann-1", "bob-2"), False)):
        listed = Reply("ok", players=tuple((("192.0.2.1", 1), nick) for nick in nicks))
        with nullcontext() if is_own else pytest.raises(OtherGame):
            replay._require_own_game(ReceivedMessage(b"", listed, b""))


@pytest.mark.extended
def test_a_message_lost_in_a_read_is_blamed_before_one_lost_behind_a_join() -> None:
    table = next(faulty for faulty in FAULTY_TABLES if faulty.name == "one-line-a-read")
    clauses = [result.failure.clause for result in full_report(table, "oldmaid").results if result.failure is not None]
    assert clauses.index("oldmaid-1.4") < clauses.index("oldmaid-3.15")


def test_dialect_njaal() -> None:
    njaal = replace(HONEST, settings={"dialect": "njaal"})
    assert [result.outcome for result in run(njaal, "oldmaid/3.3/form")] == [Outcome.NON_STRICT]
    assert [result.outcome for result in run(njaal, "oldmaid/3.3/form", strict=True)] == [Outcome.FAIL]
    for selection in ("oldmaid/10", "oldmaid/3.3/order", "oldmaid/6.8"):
        outcomes = {result.outcome for result in run(njaal, selection, options=Options("x", dialect="njaal"))}
        assert outcomes == {Outcome.PASS}


def full_report(faulty: FaultyTable, selection: str) -> Report:
    """Run the whole tester at a faulty table, in simulated time."""

    async def run() -> Report:
        async with open_faulty_table(faulty) as (host, port):
            plan = Plan(room=ROOM, role="server", selection=selection, host=host, port=port, timeout=5.0)
            return await check(plan, lambda _: None, 0.0)

    return run_in_simulated_time(run())


def check_dialect_is_one_failure(name: str, words: str, selection: str, others: int) -> None:
    """Check that a dialect is one failure; at most `others` cases (and two more) do not pass."""
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == name)
    report = full_report(faulty, selection)
    results = [result for result in report.results if (name, result.case) not in AMBIGUOUS]
    failures = [result.failure for result in results if result.failure is not None]
    assert report.dialect == f"the server departs from the protocol all along: it {words}"
    assert [str(failure.cause) for failure in failures] == [f"it {words}"]
    assert sum(result.outcome is Outcome.PASS for result in results) >= len(results) - 2 - others


AMBIGUOUS = {
    ("printed-quotes", f"oldmaid/{case}")
    for case in ("3.7/brackets", "8.3/printed-quotes-before-joining", "8.3/printed-quotes-in-turn")
}
"""Quotes within a text make its end ambiguous."""

DIALECTS = [
    ("capital-suits", "writes suits in capitals"),
    ("python-dictionaries", "prints its messages as Python does, and that is no JSON: json.dumps makes it JSON"),
    ("printed-quotes", "uses the quotes of the printed document, where JSON has plain ones"),
    ("length-before", "sends a length before its messages: nothing frames them"),
    ("capital-results", "writes its results in capitals"),
    ("ten-is-t", "writes the ten as T"),
    ("values-are-numbers", "writes values as numbers, where they are strings"),
    ("old-maid-is-joker", 'has another name for the old maid than ["joker", "maid"]'),
    ("welcomes", "greets every client with 'Welcome!' before the client has sent anything"),
    ("prompts", "greets every client with '> ' before the client has sent anything"),
    ("no-message", 'answers a discard without the message "ok"'),
]


@pytest.mark.parametrize(("name", "words"), sampled(DIALECTS, 3, first_of=6), ids=[name for name, _ in DIALECTS])
def test_dialect_is_one_failure(name: str, words: str) -> None:
    check_dialect_is_one_failure(name, words, "oldmaid/4" if name != "no-message" else "oldmaid/5", 0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), DIALECTS)
def test_dialect_is_one_failure_in_a_full_run(name: str, words: str) -> None:
    check_dialect_is_one_failure(name, words, "oldmaid", 9)


def test_strict_table_passes() -> None:
    strict = replace(HONEST, wire=Strict)
    selections = [f"oldmaid/{number}" for number in ("2.6", "2.7", "2.8", "3.5")]
    results = [result for selection in selections for result in run(strict, selection)]
    assert {result.outcome for result in results} == {Outcome.NON_STRICT, Outcome.PASS}
    results = [result for selection in selections for result in run(strict, selection, strict=True)]
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_failure_shows_the_dialogue() -> None:
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == "python-dictionaries")
    result = next(result for result in run(faulty, faulty.selection) if result.failure is not None)
    assert result.failure is not None
    assert "Python" in str(result.failure.cause)
    assert b"'result': 'ok'" in result.failure.got
    assert {line.side for line in result.dialogue} == {CLIENT, HOUSE}
    assert str(result.dialogue[0].message).startswith("p01-")
    assert " → table: " in str(result.dialogue[0].message)


def test_a_table_that_closes_after_each_answer_has_that_as_its_cause() -> None:
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == "closes-after-answers")
    failures = [result.failure for result in run(faulty, "oldmaid/3.3/order") if result.failure is not None]
    assert [(failure.clause, failure.cause) for failure in failures] == [("oldmaid-1.8", CLOSES_AFTER_ANSWERS)]


def test_a_table_that_sends_back_what_it_receives_has_that_as_its_cause() -> None:
    async def send_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def run() -> Sequence[Result]:
        async with await asyncio.start_server(send_back, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            cases = select(server_cases(ROOM), "oldmaid/4.6")
            return await check_server(ROOM, host, port, cases=cases, timeout=0.5)

    causes = [result.failure.cause for result in run_in_simulated_time(run()) if result.failure is not None]
    assert causes == [SENDS_BACK] * len(causes) != []


@pytest.mark.extended
def test_silent_table_skips_cases_quickly() -> None:
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == "never-answers")
    results = run(faulty, "oldmaid", timeout=0.5)
    assert failed(results)[0][1] == "oldmaid-3.10"
    silences = [result.failure for result in results if result.failure and result.failure.kind is FoundKind.SILENCE]
    assert {failure.cause for failure in silences} == {MUTE_CAUSE}
    assert len(silences) >= len(failed(results)) - 1, "it closes the connection once, after bytes that are no text"
    assert sum(result.outcome is Outcome.SKIP and "no game begins" in result.note for result in results) > 100


def test_a_join_may_be_refused_as_late_as_the_next_request_is_answered() -> None:
    def refuses_late() -> EffectChange:
        held: list[Effect[Any]] = []

        def on(event: Event[Any], effects: Effects) -> Effects:
            due = [*held]
            held.clear()
            if isinstance(event, Received) and isinstance(event.message, Join):
                held.extend(effects)
                return due
            return [*due, *effects]

        return on

    results = run(replace(HONEST, mutation=refuses_late), "oldmaid/3.7/control-characters")
    assert [result.outcome for result in results] == [Outcome.PASS]


def test_slow_start_is_retried() -> None:
    joins = 0

    def slow_start() -> EffectChange:
        def on(event: Event[Any], effects: Effects) -> Effects:
            nonlocal joins
            joins += isinstance(event, Received) and isinstance(event.message, Join)
            return effects if joins > MAX_PLAYERS else []

        return on

    reported: list[Result] = []
    results = run(replace(HONEST, mutation=slow_start), "oldmaid/3.1", on_result=reported.append)
    assert [result.outcome for result in reported] == [Outcome.PASS]
    assert [result.outcome for result in results] == [Outcome.PASS]


def test_run_stops_after_max_failures() -> None:
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == "capital-suits")
    results = run(faulty, "oldmaid/4", max_failures=2)
    assert len(failed(results)) == 2
    assert len(results) < len(select(server_cases(ROOM), "oldmaid/4"))


def test_unreachable_table_raises() -> None:
    async def run() -> None:
        port = closed_port()
        with pytest.raises(ConnectionError, match="no table answers"):
            await check_server(ROOM, "127.0.0.1", port, cases=server_cases(ROOM), timeout=1.0)

    asyncio.run(run())
