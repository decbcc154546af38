"""Tests of servers: our server passes, and other servers get the expected outcomes."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from croupier.conformance.case import Case, select
from croupier.conformance.holdem import learning, replay
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.results import Outcome, Result
from croupier.rooms.holdem import ROOM
from tests.conformance.holdem.faulty_programs import (
    FAULTY_SERVERS,
    EitherFirstButton,
    FaultyServer,
    HighestFreeSeat,
    Reply,
    in_games,
    of_players,
    of_turn,
    open_faulty_server,
    with_seats,
)
from tests.conformance.suites import check_server, not_passed, server_cases
from tests.ports import closed_port
from tests.sampling import extended

ALL = server_cases(ROOM)
FAST_CASES = [case for case in ALL if not case.beside]
OUR_SERVER = FaultyServer(frozenset())


def check(
    cases: Sequence[Case], *, faulty: FaultyServer = OUR_SERVER, dialect: str = "readme", seed: int = 1, **kwargs: Any
) -> tuple[Result, ...]:
    settings = {name: kwargs.pop(name) for name in ("turn_seconds", "pause_seconds") if name in kwargs}

    async def main() -> tuple[Result, ...]:
        async with open_faulty_server(faulty, seed, dialect, **settings) as parsed:
            options = SimpleNamespace(dialect=dialect)
            return await check_server(ROOM, *parsed.address, cases=cases, options=options, seed=seed, **kwargs)

    return asyncio.run(main())


@pytest.mark.parametrize(("dialect", "part"), extended([("readme", 4), ("readme", 1), ("hspe-go", 1)], 3))
def test_our_own_server_passes(dialect: str, part: int) -> None:
    reported: list[Result] = []
    cases = FAST_CASES[::part]
    results = check(cases, dialect=dialect, on_result=reported.append)
    assert not_passed(results) == []
    assert [result.case for result in results] == [case.id for case in cases]
    assert {result.case for result in reported} == {result.case for result in results}
    skipped = [result for result in results if result.outcome is Outcome.SKIP and "dialect" not in result.note]
    by_luck_or_time = {"holdem/6.15/played", "holdem/6.1/fair-deal"}
    assert {result.case for result in skipped} <= {case.id for case in ALL if case.needs_luck} | by_luck_or_time


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
@pytest.mark.parametrize("seed", range(2, 40))
def test_our_own_server_passes_with_any_seed(seed: int, dialect: str) -> None:
    assert not_passed(check(FAST_CASES, dialect=dialect, seed=seed)) == []


@pytest.mark.extended
def test_our_own_server_passes_when_it_pauses_between_hands() -> None:
    cases = [case for case in FAST_CASES if case.play is None]
    results = not_passed(check(cases, pause_seconds=0.02))
    assert results == []


def test_a_pause_that_was_not_seen_while_settings_were_learned_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async def see_no_pause(_context: object, _game: str) -> None:
        """Find the next hand at once, as by chance."""

    monkeypatch.setattr(learning, "_measure_pause", see_no_pause)
    cases = [*select(ALL, "holdem/4.6/folding-for-nothing"), *select(ALL, "holdem/6.2/the-button-moves")]
    assert not_passed(check(cases, pause_seconds=0.05)) == []


def test_no_hand_is_awaited_at_a_table_of_one_whose_players_are_shown_without_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_missed: list[bool] = []
    await_next_hand = HoldemContext._await_next_hand

    async def recorded(context: HoldemContext, game: str) -> None:
        await await_next_hand(context, game)
        has_missed.append(context.has_missed_hand)

    monkeypatch.setattr(HoldemContext, "_await_next_hand", recorded)
    nameless = FaultyServer(frozenset(), of_players(lambda player: {**player, "handle": ""}))
    check(select(ALL, "holdem/3.10/leaving-one-alone"), faulty=nameless, pause_seconds=0.05)
    assert has_missed
    assert not any(has_missed)


def test_player_who_times_out_is_removed() -> None:
    (result,) = check(select(ALL, "holdem/4.16/out-of-time"), turn_seconds=2.0)
    assert result.outcome is Outcome.PASS


@pytest.mark.extended
def test_a_bet_that_is_still_shown_when_the_hand_is_over_is_not_counted_twice() -> None:
    def stale(game: Any) -> Any:
        is_over = len(game["table"]) == 1
        return {**game, "table": [{**one, "bet_so_far": 20} for one in game["table"]]} if is_over else game

    (result,) = check(
        select(ALL, "holdem/4.16/out-of-time"), faulty=FaultyServer(frozenset(), in_games(stale)), turn_seconds=2.0
    )
    assert result.outcome is Outcome.PASS


@pytest.mark.extended
def test_a_server_that_goes_on_to_the_flop_after_a_call_has_no_check_to_wait_for() -> None:
    def on_the_flop(game: Any) -> Any:
        has_called = len(game["table"]) == 2 and all(one["bet_so_far"] == 20 for one in game["table"])
        return {**game, "cards": {**game["cards"], "flop": ["2C", "7D", "9S"]}} if has_called else game

    (result,) = check(
        select(ALL, "holdem/4.16/where-a-check-is-possible"),
        faulty=FaultyServer(frozenset(), in_games(on_the_flop)),
        turn_seconds=2.0,
    )
    assert (result.outcome, result.reason) == (Outcome.SKIP, "the big blind has no check")


def test_cases_that_need_an_empty_game_come_up_beside_a_game() -> None:
    """The server keeps no empty game while another one has a free seat."""
    names = ("4.16/out-of-time", "2.4/names-of-all-kinds", "3.3/making-a-game", "1.7/unknown-parameters", "1.3/paths")
    cases = [case for name in names for case in ALL if case.id.startswith(f"holdem/{name}")]
    assert len(cases) > len(names)
    assert [result for result in check(cases, turn_seconds=2.0) if result.outcome is not Outcome.PASS] == []


@pytest.mark.extended
def test_a_server_that_never_ends_a_turn_is_found() -> None:
    def expires(turn: Any) -> Any:
        return {**turn, "expiry": "1970-01-01T00:00:00.000Z"}

    faulty = FaultyServer(frozenset({"holdem-4.16"}), of_turn(expires))
    (result,) = check(select(ALL, "holdem/4.16/out-of-time"), faulty=faulty)
    assert result.failure is not None
    assert result.failure.clause == "holdem-4.16"


def test_a_turn_that_takes_longer_than_a_case_may_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.conformance.holdem.server_bench.CASE_TIMEOUT_SECONDS", 0.0)
    (result,) = check(select(ALL, "holdem/4.16/out-of-time"), timeout=2.0)
    assert result.outcome is Outcome.SKIP
    assert "a case may take 2 s" in result.note


def test_a_turn_of_another_length_is_a_choice() -> None:
    begin = time.monotonic()
    (result,) = check(select(ALL, "holdem/4.15/the-limit-of-a-turn"), turn_seconds=60.0)
    assert result.outcome is Outcome.CHOICE
    found = re.search(r"found one of (\d+) s", result.note)
    assert found, result.note
    elapsed = time.monotonic() - begin
    assert 59 - elapsed <= int(found[1]) <= 61, "the tester sees the turn later, and a Date header has whole seconds"


def test_unreachable_server_raises() -> None:
    async def main() -> None:
        await check_server(ROOM, "127.0.0.1", closed_port(), cases=FAST_CASES)

    with pytest.raises(ConnectionError, match="no server at"):
        asyncio.run(main())


def test_run_stops_after_max_failures() -> None:
    results = check(FAST_CASES, faulty=FAULTY_SERVERS["no-json"], max_failures=2)
    assert sum(result.outcome is Outcome.FAIL for result in results) == 2
    assert len(results) < len(FAST_CASES)


def test_a_server_that_never_answers_is_found_soon() -> None:
    async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def main() -> tuple[Result, ...]:
        async with await asyncio.start_server(never_answers, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()[:2]
            return await check_server(ROOM, host, port, cases=select(ALL, "holdem/1"), timeout=0.2)

    results = asyncio.run(main())
    assert Counter(result.outcome for result in results)[Outcome.FAIL] >= 10
    assert {result.failure.clause for result in results if result.failure} == {"holdem-1.8"}


def test_tolerated_deviation_fails_when_strict() -> None:

    faulty_server = FaultyServer(
        frozenset(),
        of_players(lambda one: {key.replace("small_blind", "small blind"): value for key, value in one.items()}),
    )
    cases = select(ALL, "holdem/5.7/the-small-blind-has-left")
    (result,) = check(cases, faulty=faulty_server)
    assert result.outcome is Outcome.NON_STRICT
    (result,) = check(cases, faulty=faulty_server, strict=True)
    assert result.failure is not None
    assert str(result.failure.cause) == "it copies the slip of the document's example"


def change_open_points(reply: Reply) -> Reply:
    """Change everything that the document leaves open."""
    kept = {"date", "content-length", "x-fold-reason", "www-authenticate"}
    headers = {name: value for name, value in reply.headers.items() if name in kept}
    status = {405: 404, 413: 400}.get(reply.status, reply.status)
    if status >= 400:
        return reply._replace(status=status, headers=headers, body=b"no\n")
    parsed = reply.json
    games = parsed if isinstance(parsed, list) else [parsed]
    for game in games:
        if isinstance(game, dict) and "turn" in game:
            game["round"] = 1
            if not game["turn"]["playerID"]:
                game["turn"] = {0: {}, 1: dict.fromkeys(game["turn"])}.get(len(game["table"]))
            else:
                when = datetime.fromisoformat(game["turn"]["expiry"])
                game["turn"]["expiry"] = f"{when:%Y-%m-%d %H:%M:%S.%f} +0000 UTC"
            game["cards"]["hole"] = game["cards"]["hole"] or None
            for pot in game["pots"]:
                pot["players"].reverse()
            game["table"] = game["table"][1:] + game["table"][:1]
    return (reply if parsed is None else reply.with_json(parsed))._replace(status=status, headers=headers)


@pytest.mark.extended
def test_a_server_that_differs_in_what_the_document_leaves_open_does_not_fail() -> None:
    results = check(FAST_CASES, faulty=FaultyServer(frozenset(), change_open_points))
    assert [result for result in results if not result.is_good] == []
    counts = Counter(result.outcome for result in results)
    assert counts[Outcome.CHOICE] >= 10
    assert counts[Outcome.PASS] >= 100


@pytest.mark.extended
@pytest.mark.parametrize(
    ("dialect", "section", "seatings", "part"),
    [
        ("readme", "4", 8, 3),
        ("readme", "4", 8, 1),
        ("readme", "4", 1, 1),
        ("hspe-go", "4", 1, 1),
        ("hspe-go", "7", 8, 1),
    ],
)
def test_a_first_button_at_any_player_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, dialect: str, section: str, seatings: int, part: int
) -> None:
    monkeypatch.setattr(replay, "MAX_SEATINGS", seatings)
    faulty = FaultyServer(frozenset(), table=with_seats(EitherFirstButton))
    cases = select(FAST_CASES, f"holdem/{section}")[::part]
    results = check(cases, faulty=faulty, dialect=dialect)
    assert not_passed(results) == []
    assert Counter(result.outcome for result in results)[Outcome.PASS] >= len(cases) / 2


@pytest.mark.extended
@pytest.mark.parametrize("part", [4, 1])
def test_newcomers_may_sit_anywhere(part: int) -> None:
    seats = "holdem/3.5/the-lowest-free-seat"
    cases = select(FAST_CASES, "holdem/5")[::part] + select(FAST_CASES, seats)
    results = check(cases, faulty=FaultyServer(frozenset(), table=with_seats(HighestFreeSeat)))
    assert [result.case for result in results if not result.is_good] == []
    outcomes = {result.case: result.outcome for result in results}
    assert outcomes[seats] is Outcome.CHOICE
    assert Counter(outcomes.values())[Outcome.PASS] >= 20 / part


def test_a_ruling_makes_games_open_to_requests() -> None:
    cases = [case for case in FAST_CASES if case.id in {"holdem/3.3/making-a-game", "holdem/3.7/joining-ones-own-game"}]
    results = check(cases, faulty=FaultyServer(frozenset(), missing_route="POST games", missing_status=404))
    assert {(result.outcome, result.is_optional) for result in results} == {(Outcome.UNIMPLEMENTED, False)}
    assert [result.failure and result.failure.clause for result in results] == ["holdem-3.3", "holdem-3.3"]


def test_users_of_an_earlier_run_are_no_names_that_are_taken_from_the_start() -> None:
    cases = select(FAST_CASES, "holdem/2.2/names-of-every-object")

    async def main() -> list[Outcome]:
        async with open_faulty_server(OUR_SERVER) as server:
            runs = [await check_server(ROOM, *server.address, cases=cases) for _ in range(2)]
        return [result.outcome for results in runs for result in results]

    assert asyncio.run(main()) == [Outcome.PASS] * 2


def test_a_redirect_is_followed_and_reported_once() -> None:
    def redirect(reply: Reply) -> Reply:
        if reply.method == "GET" and reply.path == "/games":
            return reply._replace(status=308, headers={"location": "/games/"}, body=b"")
        return reply

    cases = [case for case in select(FAST_CASES, "holdem/1.3") if case.dialect != "hspe-go"]
    outcomes = {result.case: result.outcome for result in check(cases, faulty=FaultyServer(frozenset(), redirect))}
    assert outcomes.pop("holdem/1.3/no-redirects") is Outcome.NON_STRICT
    assert {*outcomes.values()} == {Outcome.PASS}


def test_a_list_that_cannot_be_read_lacks_no_game() -> None:
    flop_as_text = in_games(lambda game: {**game, "cards": {**game["cards"], "flop": "nil"}} if game["table"] else game)

    def change(reply: Reply) -> Reply:
        return flop_as_text(reply) if (reply.method, reply.path) == ("GET", "/games/") else reply

    cases = select(FAST_CASES, "holdem/5.1/an-array-and-an-object")
    (result,) = check(cases, faulty=FaultyServer(frozenset(), change))
    assert result.failure is not None
    assert result.failure.clause == "holdem-5.5"


@pytest.mark.extended
def test_server_that_opens_no_games_is_tested() -> None:

    results = check(select(FAST_CASES, "holdem/4"), faulty=FaultyServer(frozenset(), missing_route="POST games"))
    assert not_passed(results) == []
    assert Counter(result.outcome for result in results)[Outcome.PASS] >= 20
