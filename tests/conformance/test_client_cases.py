"""The client cases: enough of them, with unique ids, and every clause is covered."""

from collections import Counter

import pytest

from croupier.conformance.case import select
from croupier.conformance.clauses import clauses
from croupier.conformance.clients.cases import CaseKind
from croupier.conformance.conversation import FIRST_SECTION, GOODBYE_SECTION, MESSAGE_SECTION, STREAM_SECTION
from croupier.conformance.suite import find_suite
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.suites import CLIENT_TEST_DATA, client_cases

rooms = pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)


@rooms
def test_there_are_at_least_fifty_cases_a_room(room: HouseRoom) -> None:
    assert len(client_cases(room)) >= 50


@rooms
def test_every_case_has_a_name_of_its_own(room: HouseRoom) -> None:
    assert [name for name, often in Counter(case.id for case in client_cases(room)).items() if often > 1] == []


@rooms
def test_a_name_is_the_room_the_section_and_a_slug(room: HouseRoom) -> None:
    for case in client_cases(room):
        assert case.id.startswith(f"{room.name}/{case.clause.removeprefix(f'{room.name}-')}/")
        assert not case.title[0].islower()
        assert not case.title.endswith(".")


@rooms
def test_names_do_not_change_from_call_to_call(room: HouseRoom) -> None:
    assert [case.id for case in client_cases(room)] == [case.id for case in client_cases(room)]


@rooms
def test_every_clause_of_the_page_has_a_case_or_a_reason_why_not(room: HouseRoom) -> None:
    shown = {case.clause for case in client_cases(room)}
    assert shown | {*find_suite(room, "client").reasons} == {*clauses(room.name)}
    assert shown & {*find_suite(room, "client").reasons} == set()


@rooms
def test_a_reason_is_a_sentence(room: HouseRoom) -> None:
    assert all(
        len(reason.split()) > 3 and not reason.endswith(".")
        for reason in find_suite(room, "client").untestable.values()
    )


@rooms
def test_cases_are_in_the_order_of_the_page(room: HouseRoom) -> None:
    order = [*clauses(room.name)]
    found = [order.index(case.clause) for case in client_cases(room)]
    assert found == sorted(found)


@rooms
def test_a_section_can_be_selected(room: HouseRoom) -> None:
    found = select(client_cases(room), f"{room.name}/1.3")
    assert {case.clause for case in found} == {f"{room.name}-1.3"}
    assert len(found) >= 15


@rooms
def test_settings_and_decks_of_every_case_are_those_of_the_room(room: HouseRoom) -> None:
    for case in client_cases(room):
        own = room.settings(**case.state.settings)
        text = case.state.decks.replace(" / ", "\n\n").replace(" ", "\n")
        assert (
            len(room.pack.parse_decks(text or room.pack.names[0], case.id, room.deck_count(own)))
            == case.state.decks.count("/") + 1
        )


@rooms
def test_what_is_only_tolerated_is_never_demanded(room: HouseRoom) -> None:
    page = clauses(room.name)
    for case in client_cases(room):
        if case.kind is CaseKind.VARIATION:
            assert not page[case.clause].is_tolerated, case.id


@rooms
def test_every_clause_that_is_named_is_one_of_the_page(room: HouseRoom) -> None:
    guests = CLIENT_TEST_DATA[room.name]
    named = {
        *map(guests.clause, (FIRST_SECTION, MESSAGE_SECTION, STREAM_SECTION, GOODBYE_SECTION)),
        guests.limit_clause,
        guests.seat_clause,
        guests.closing_clause,
    }
    assert named <= {*clauses(room.name)}
