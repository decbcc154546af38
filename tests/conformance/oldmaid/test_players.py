"""Players under test: ours does everything right, and every rogue is found under the clause that it breaks."""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from croupier.conformance.case import select
from croupier.conformance.oldmaid.cases.rings import DELIVERY_CASES, SEAT_CASES
from croupier.conformance.oldmaid.client import check_client, client_cases, dialect, run_cases
from croupier.conformance.program import ProgramError
from croupier.conformance.results import Outcome, Result
from croupier.core.referee import CLIENT
from croupier.rooms.oldmaid import ROOM
from tests.conformance.oldmaid.faulty_players import ROGUES, Rogue, played
from tests.conformance.oldmaid.players import Main, ours, started, stranger
from tests.sampling import sampled


def tried(main: Main, *selections: str, timeout: float = 0.5, **how: Any) -> Sequence[Result]:
    """What comes of the cases with a player."""
    cases = [case for selection in selections for case in select(client_cases(ROOM), selection)]
    return asyncio.run(run_cases(started(main), cases=cases, timeout=timeout, **how))


def failed(results: Sequence[Result]) -> list[tuple[str, str, str]]:
    """The cases that failed, with the clause and what was found."""
    return [
        (result.case, result.failure.clause, result.failure.actual) for result in results if result.failure is not None
    ]


@pytest.mark.parametrize("rogue", sampled(ROGUES, 3), ids=lambda rogue: rogue.name)
def test_a_rogue_is_found_under_the_clause_that_it_breaks(rogue: Rogue) -> None:
    results = tried(partial(played, rogue), *rogue.selections, strict=rogue.strict)
    found = failed(results)
    assert {clause for _, clause, _ in found} & rogue.clauses, found or [str(result) for result in results]


def test_nothing_is_said_of_our_own_player() -> None:
    results = tried(ours, "oldmaid", timeout=8.0)
    assert failed(results) == []
    assert len(results) >= 100
    assert {result.outcome for result in results} == {Outcome.PASS}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_nothing_is_said_of_our_own_player_whatever_luck_brings(seed: int) -> None:
    results = tried(partial(ours, seed=seed), "oldmaid", seed=seed, strict=bool(seed % 2), timeout=8.0)
    assert failed(results) == []


@pytest.mark.slow
def test_nothing_is_said_of_a_player_of_another_make_whose_neighbours_are_honest() -> None:
    selections = [
        *(f"oldmaid/{clause}/{slug}" for slug, _, _, _, clause in SEAT_CASES),
        *(f"oldmaid/1.4/{slug}" for slug, *_ in DELIVERY_CASES),
    ]
    results = tried(stranger, *selections, timeout=8.0)
    assert failed(results) == []
    assert {result.outcome for result in results} == {Outcome.PASS}


def test_that_a_player_names_its_port_is_tolerated_unless_the_run_is_strict() -> None:
    assert [result.outcome for result in tried(stranger, "oldmaid/3.5")] == [Outcome.NON_STRICT]
    assert [result.outcome for result in tried(stranger, "oldmaid/3.5", strict=True)] == [Outcome.FAIL]


def test_a_player_is_told_the_list_in_the_dialect() -> None:
    (result,) = tried(partial(ours, dialect="njaal"), "oldmaid/1.2/first-of-two", dialect="njaal", timeout=8.0)
    assert result.outcome is Outcome.PASS


def test_what_only_our_rulings_decide_is_a_choice() -> None:
    results = tried(stranger, "oldmaid/7.13", "oldmaid/2.11", "oldmaid/3.19")
    assert {result.outcome for result in results} <= {Outcome.CHOICE, Outcome.PASS}
    assert any(result.outcome is Outcome.CHOICE for result in results)


def test_a_failure_shows_what_was_said_and_by_whom() -> None:
    rogue = next(rogue for rogue in ROGUES if rogue.name == "python-dictionaries")
    (result,) = tried(partial(played, rogue), "oldmaid/4.7/first")
    assert result.failure is not None
    assert "Python" in result.failure.cause
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
def test_a_dialect_is_named_and_in_it_nothing_is_wrong(name: str, selection: str, words: str) -> None:
    rogue = partial(played, next(rogue for rogue in ROGUES if rogue.name == name))
    (result,) = tried(rogue, selection)
    assert result.failure is not None
    assert words in result.failure.cause
    spelling = dialect(result.failure.cause)
    assert spelling is not None
    (result,) = tried(rogue, selection, detected_dialect=spelling, timeout=8.0)
    assert result.outcome is Outcome.PASS


def test_a_program_is_started_for_every_case_and_ended() -> None:
    command = f"{sys.executable} -m croupier play oldmaid {{host}}:{{port}} --nick {{nick}} --bot random"
    cases = select(client_cases(ROOM), "oldmaid/4.7")
    results = asyncio.run(check_client(ROOM, command, cases=cases, timeout=20.0))
    assert [result.outcome for result in results] == [Outcome.PASS] * len(cases)


def test_a_program_that_crashes_is_told_of_with_its_errors() -> None:
    command = f"""{sys.executable} -c 'import sys; sys.exit("alas, {{nick}}")'"""
    heard: list[bytes] = []
    cases = select(client_cases(ROOM), "oldmaid/4.8/your-turn")
    (result,) = asyncio.run(check_client(ROOM, command, cases=cases, timeout=20.0, on_stderr=heard.append))
    assert result.failure is not None
    assert "exit status 1" in result.failure.actual
    assert heard == [b"alas, me\n"]


def test_a_command_that_makes_no_sense_is_refused() -> None:
    cases = client_cases(ROOM)[:1]
    with pytest.raises(ValueError, match=r"\{deck\}"):
        asyncio.run(check_client(ROOM, "player {deck}", cases=cases))
    with pytest.raises(ProgramError, match="no-such-player"):
        asyncio.run(check_client(ROOM, "no-such-player {host} {port}", cases=cases))
