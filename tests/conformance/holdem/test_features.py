"""What a server has not got is told apart from what it does wrongly."""

from croupier.conformance.case import select
from croupier.conformance.results import Outcome
from tests.conformance.holdem.faulty_programs import ACTS, Reply, Rogue
from tests.conformance.holdem.test_server import ALL, check

ADDED = {f"holdem-9.{number}" for number in (1, 2, 3, 5, 6, 7, 8, 9, 12)}
LEAVE = "DELETE games/:/players/:"


def test_a_server_of_the_document_alone_lacks_the_additions_and_is_well_without() -> None:
    cases = select(ALL, "holdem/9")
    results = check(cases, rogue=Rogue(frozenset(), documented=True))
    lacks = [result for result in results if result.outcome is Outcome.UNIMPLEMENTED]
    assert {result.clause for result in lacks} == ADDED
    assert [result for result in results if not result.is_good] == []
    assert all("found" in result.note for result in lacks)


def test_an_addition_that_is_there_and_differs_is_a_choice() -> None:
    def stale(reply: Reply) -> Reply:
        return reply._replace(status=200, body=b"{}") if reply.status == 304 else reply

    results = check(select(ALL, "holdem/9.2"), rogue=Rogue(frozenset(), stale))
    assert {result.outcome for result in results} == {Outcome.CHOICE}


def test_what_the_document_has_and_is_refused_wherever_it_is_asked_for_is_not_implemented() -> None:
    results = check(select(ALL, "holdem/3.10"), rogue=Rogue(frozenset(), hasnt=LEAVE))
    assert {result.outcome for result in results} == {Outcome.UNIMPLEMENTED}
    assert not any(result.is_good for result in results)
    assert {result.failure.actual for result in results if result.failure} == {"405"}


def test_what_is_refused_here_and_done_there_is_a_failure() -> None:
    acts = iter(range(1000))

    def only_once(reply: Reply) -> Reply:
        here = reply.route == ACTS and reply.status == 201
        return reply._replace(status=404) if here and next(acts) else reply

    (result,) = check(select(ALL, "holdem/4.6/folding-for-nothing"), rogue=Rogue(frozenset(), only_once))
    assert result.outcome is Outcome.FAIL
