"""What the context of a case learns from responses: which player a user has in a game."""

import asyncio

import pytest
from msgspec.json import encode

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import JoinedSeat, ServerUnderTest
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Config
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.net.event_loop import cancel_all
from tests.rooms.holdem.house_fixture import duel


def opened(body: bytes) -> tuple[HoldemContext, ReceivedResponse]:
    """The context of a case, and the answer to POST /games/ with a body."""
    context = HoldemContext(ServerUnderTest(("127.0.0.1", 1), Config(timeout=1.0)))
    context.user("ann").name = "ann"
    return context, ReceivedResponse(201, {"location": "/games/g"}, body)


def test_the_player_in_a_game_is_found_and_the_game_is_a_choice() -> None:
    house = duel()

    async def main() -> None:
        context, response = opened(encode(house.view(None, house.table().guid)))
        seat = JoinedSeat("ann", "g", house.house.guid_of("ann"))
        assert context.require_guid("ann", response, "holdem-3.3", seat) == seat.player_id
        assert [deviation.outcome for deviation in context.deviations] == [Outcome.CHOICE]

    asyncio.run(main())


def test_an_answer_without_a_player_fails() -> None:
    async def main() -> None:
        context, response = opened(b"{}")
        with pytest.raises(CaseAborted):
            context.require_guid("ann", response, "holdem-3.3")
        assert [deviation.outcome for deviation in context.deviations] == [Outcome.FAIL]

    asyncio.run(main())


def test_a_player_who_was_broke_and_leaves_has_no_seat() -> None:
    async def main() -> None:
        context, _ = opened(b"")
        context._track_seats("ann", SentRequest("POST", "/games/g/players/"), ReceivedResponse(201, {}, b'"a"'))
        leaving = SentRequest("DELETE", "/games/g/players/a")
        context._track_seats("ann", leaving, ReceivedResponse(403, {}, b""))
        assert context.has_seat("ann", "g")
        context._track_seats("ann", leaving, ReceivedResponse(404, {}, b""))
        assert not context.has_seat("ann", "g")

    asyncio.run(main())


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_case_that_is_cancelled_has_not_seen_the_server_end(is_cancelled: bool) -> None:
    async def main() -> bool:
        context, response = opened(b"")
        context.lines = [DialogueLine(HOUSE, b"", response, 0.0)]
        context.joined_seats = [JoinedSeat("ann", "g", "a")]

        async def case() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await context.close()

        if is_cancelled:
            running = asyncio.create_task(case())
            await asyncio.sleep(0)
            await cancel_all(running)
        else:
            await context.close()
        return bool(context.server.lines_before_end)

    assert asyncio.run(main()) is not is_cancelled


def test_players_who_have_left_are_reported_by_name() -> None:
    async def main() -> None:
        context, _ = opened(b"")
        joining, leaving = (
            SentRequest("POST", "/games/g/players/"),
            SentRequest("DELETE", "/games/g/players/guid-of-ann"),
        )
        context._track_seats("ann", joining, ReceivedResponse(201, {}, b'"guid-of-ann"'))
        context._track_seats("ann", leaving, ReceivedResponse(200, {}, b""))
        found = context.add_violation(Violation("holdem-5.14", "a pot of nobody", "a pot of guid-of-ann"))
        assert (context.joined_seats, found.expected) == ([], "a pot of ann")

    asyncio.run(main())
