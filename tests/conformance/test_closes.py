"""A close provoked by a readable message is found; a goodbye with a reason of its own is no fault."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import pytest

from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE, SPELLING_MATTERS
from croupier.conformance.results import Outcome, Result
from croupier.conformance.servers.experiments import ENDS_AFTER_GAMES, ENDS_AT_REFUSALS, ENDS_IN_MESSAGE
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.suite import TargetGone
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Joined, Left, Received, Send, TimedOut
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, Table, opened, run_cases
from tests.conformance.suites import server_cases
from tests.conformance.test_server import bad, over_a_socket
from tests.rooms.conversation_fixture import HANG_UP, Habit, honest, instead
from tests.rooms.sevenhalf.frames import DRAW, STRT, ante, erro, stbt
from tests.sampling import extended

ROOM = HOUSE_ROOMS["sevenhalf"]
CASES = server_cases(ROOM)
NO = [erro("no"), HANG_UP]

type Hates = Callable[["ClosingTable", bytes], bool]


class ClosingTable(Table):
    """A house that answers some bytes with a refusal and a close, before they are decoded."""

    hates: Hates
    played = False

    def hears(self, data: bytes) -> Sequence[bytes]:
        if not self._closed and self.hates(self, data):
            return self._sent(NO)
        answers = super().hears(data)
        self.played = self.played or any(answer.startswith(b"GAIN") for answer in answers)
        return answers


def rude(hates: Hates) -> HouseFixture:
    def table() -> ClosingTable:
        made = ClosingTable(ROOM, {}, honest, next(parlour._numbers), strict=False)
        made.hates = hates
        return made

    parlour = HouseFixture(ROOM)
    parlour.table = table
    return parlour


def closing_behind_refusals(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return [*answers, HANG_UP] if answers and answers[0].startswith(b"ERRO") else answers


def polite_after_the_game(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return [*answers, *NO] if answers and answers[-1].startswith(b"GAIN") else answers


def closing_behind_the_game(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return [*answers, HANG_UP] if answers and answers[-1].startswith(b"GAIN") else answers


def lower_case(_: ClosingTable, data: bytes) -> bool:
    return data[:4].isalpha() and not data[:4].isupper()


def words_of_the_house(_: ClosingTable, data: bytes) -> bool:
    return data[:4] in {b"STBT", b"CARD", b"BSTG", b"BKSC", b"GAIN"}


def results(parlour: Any, *slugs: str, **more: Any) -> tuple[Result, ...]:
    cases = [case for case in CASES if not slugs or any(slug in case.id for slug in slugs)]
    return asyncio.run(run_cases(parlour, ROOM, cases, effort=0.0, **more))


ROGUES: dict[str, tuple[HouseFixture, str]] = {
    "a command in lower case": (rude(lower_case), "draw-in-small-letters-at-bet"),
    "STRT in lower case": (rude(lower_case), "strt-in-small-letters-at-start"),
    "PASS in mixed letters": (rude(lower_case), "pass-in-mixed-letters-at-card"),
    "a word of the house": (rude(words_of_the_house), "bksc-from-the-client-at-card"),
    "a word of the house between games": (rude(words_of_the_house), "gain-from-the-client-at-between"),
    "a word of the house before the first game": (rude(words_of_the_house), "stbt-from-the-client-at-start"),
    "a card that is none": (rude(words_of_the_house), "no-such-card-at-raised"),
    "messages in pieces": (rude(lambda _, data: len(data) < 4), "1-bytes-at-a-time"),
    "a cut message": (rude(lambda _, data: len(data) < 4), "cut-everywhere"),
    "an error": (rude(lambda _, data: data.startswith(b"ERRO")), "erro-from-the-client-at-bet"),
    "an ANTE": (HouseFixture(ROOM, habit=instead(ante(10), *NO)), "sevenhalf/4.3/ante-at-card"),
    "a DRAW": (HouseFixture(ROOM, habit=instead(DRAW, *NO)), "/draw-at-bet"),
    "what it refuses": (HouseFixture(ROOM, habit=closing_behind_refusals), "strt-at-card"),
}
"""Houses that answer something readable with ERRO and a close, and a case that shows it."""

CLAUSES = {
    "1-bytes-at-a-time": "sevenhalf-1.3",
    "cut-everywhere": "sevenhalf-1.3",
    "letters": "sevenhalf-2.7",
    "erro-from-the-client": "sevenhalf-6.6",
}
"""The clauses of cases that show more than that the house closes: how a message came, or that it has no answer."""


CAUSES = {
    "1-bytes-at-a-time": ONE_READ_CAUSE,
    "draw-in-small-letters-at-bet": SPELLING_MATTERS,
    "pass-in-mixed-letters-at-card": SPELLING_MATTERS,
}
"""The causes that other conversations show, by case."""


@pytest.mark.parametrize(("parlour", "slug"), ROGUES.values(), ids=ROGUES)
def test_a_house_that_refuses_and_closes_at_what_it_could_read_is_found(parlour: HouseFixture, slug: str) -> None:
    for result in results(parlour, slug):
        assert result.outcome is Outcome.FAIL, result
        assert result.failure
        assert result.failure.clause == next((CLAUSES[part] for part in CLAUSES if part in slug), "sevenhalf-6.8")
        assert result.failure.actual == "a goodbye and the close"
        assert result.dialogue
        owes_refusal = slug == "strt-at-card" or ("from-the-client" in slug and "erro" not in slug) or "no-such" in slug
        assert (result.failure.cause is ENDS_AT_REFUSALS) is owes_refusal, result.failure.cause
        if slug in CAUSES:
            assert str(result.failure.cause) == CAUSES[slug].text


def closing_at_errors_of_clients(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return NO if heard.startswith(b"ERRO") else answers


def test_a_house_that_closes_at_an_error_of_a_client_after_a_game_does_not_close_because_the_game_is_over() -> None:
    (result,) = results(HouseFixture(ROOM, habit=closing_at_errors_of_clients), "6.6/erro-from-the-client-at-between")
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.cause == ENDS_AFTER_GAMES) == ("sevenhalf-6.6", False)


def closing_after_showdowns(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
    is_over = heard.startswith(b"ACTN") and answers and answers[-1].startswith((b"CARD", b"ACTN FLD"))
    return [*answers, HANG_UP] if is_over else answers


def test_a_house_that_closes_after_a_game_has_that_as_its_cause() -> None:
    kuhn = HOUSE_ROOMS["kuhn"]
    cases = [case for case in server_cases(kuhn) if case.id in {"kuhn/4.1/strt-p1-at-start", "kuhn/5.2/bet-cal-p_1"}]
    found = asyncio.run(run_cases(HouseFixture(kuhn, habit=closing_after_showdowns), kuhn, cases, effort=0.0))
    failures = [(result.failure.clause, result.failure.cause) for result in found if result.failure is not None]
    assert failures == [("kuhn-8.2", ENDS_AFTER_GAMES)] * 2


def goodbye_after(sent: bytes, answer: bytes, goodbye: bytes) -> Habit:
    """Answer a message with a goodbye and a close; after `answer`, if it is given."""

    def habit(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
        return [*([answer] * bool(answer)), goodbye, HANG_UP] if heard == sent and answers else answers

    return habit


@pytest.mark.parametrize(
    ("room", "habit", "slug", "clause"),
    [
        ("kuhn", goodbye_after(b"ACTN BET", b"", b"DISC"), "kuhn/4.4/bet-at-card", "kuhn-4.4"),
        ("kuhn", goodbye_after(b"CARD C_K", b"FAIL W_A", b"DISC"), "kuhn/6.4/card-from-the-client-at-card", "kuhn-8.2"),
        ("kuhn", goodbye_after(b"CARD C_K", b"", b"DISC"), "kuhn/6.4/card-from-the-client-at-start", "kuhn-6.4"),
        ("blackjack", goodbye_after(b"PLY", b"", b"ERR\0\0\1\x2cSTP"), "blackjack/4.8/games-in-a-row", "blackjack-4.1"),
    ],
)
def test_a_goodbye_in_answer_to_a_readable_message_is_found_in_every_room(
    room: str, habit: Habit, slug: str, clause: str
) -> None:
    cases = [case for case in server_cases(HOUSE_ROOMS[room]) if case.id == slug]
    (result,) = asyncio.run(run_cases(HouseFixture(HOUSE_ROOMS[room], habit=habit), HOUSE_ROOMS[room], cases))
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.actual) == (clause, "a goodbye and the close")


class ImpatientTable(Table):
    """A house that refuses CARD and says goodbye as soon as the code has come."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        return self._sent([b"FAIL W_A", b"DISC", HANG_UP]) if data.startswith(b"CARD") else super().hears(data)


def test_a_house_that_says_goodbye_at_a_code_is_not_blamed_for_what_it_reads_of_the_message() -> None:
    room = HOUSE_ROOMS["kuhn"]
    house = HouseFixture(room)
    house.table = lambda: ImpatientTable(room, {}, honest, 1, strict=False)
    cases = [case for case in server_cases(room) if case.id == "kuhn/2.6/unknown-card-at-start"]
    (result,) = asyncio.run(run_cases(house, room, cases))
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.cause) == ("kuhn-8.2", ENDS_AT_REFUSALS)


def test_a_close_after_what_luck_allows_is_not_blamed_on_its_letters() -> None:
    def habit(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
        return answers if answers or heard != b"ACTN FLD" else [b"DISC", HANG_UP]

    room = HOUSE_ROOMS["kuhn"]
    cases = [case for case in server_cases(room) if case.id == "kuhn/2.2/every-message"]
    for seed in (6, 7):
        (result,) = asyncio.run(run_cases(HouseFixture(room, habit=habit, seed=seed), room, cases, seed=seed))
        assert result.failure is None or result.failure.clause == "kuhn-8.2", result


def test_a_house_that_closes_where_a_client_cannot_pay_is_found() -> None:
    def habit(_: bytes, answers: list[bytes]) -> Sequence[bytes]:
        return [*answers, b"DISC", HANG_UP] if answers[-1:] == [b"FAIL N_C"] else answers

    kuhn = HOUSE_ROOMS["kuhn"]
    cases = [case for case in server_cases(kuhn) if case.id == "kuhn/7.4/every-payment"]
    (result,) = asyncio.run(run_cases(HouseFixture(kuhn, habit=habit), kuhn, cases))
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.actual) == ("kuhn-6.7", "FAIL N_C and the close")


def test_a_house_where_nobody_can_pay_for_a_game_is_described_in_one_note() -> None:
    for room, head in ((HOUSE_ROOMS["kuhn"], {"coins": "0"}), (HOUSE_ROOMS["blackjack"], {"money": "0"})):
        cases = [case for case in server_cases(room) if case.rank == 1]
        found = asyncio.run(run_cases(HouseFixture(room, head), room, cases))
        assert {result.outcome for result in found[1:]} <= {Outcome.SKIP, Outcome.PASS}
        notes = [result.note for result in found[1:] if result.outcome is Outcome.SKIP and "dialect" not in result.note]
        assert len(notes) > len(found) // 2
        assert set(notes) == {"no game can begin: no client can pay for one"}


class OneAnteTable(Table):
    """A house that accepts one ANTE before a DRAW, and no further one."""

    has_raised = False

    def hears(self, data: bytes) -> Sequence[bytes]:
        was_raised, self.has_raised = self.has_raised, data.startswith(b"ANTE")
        return [erro("one is enough")] if was_raised and self.has_raised else super().hears(data)


def test_a_house_that_refuses_the_second_of_two_antes_is_found() -> None:
    parlour = HouseFixture(ROOM)
    parlour.table = lambda: OneAnteTable(ROOM, {}, honest, next(parlour._numbers), strict=False)
    (result,) = results(parlour, "4.4/two-antes")
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.actual) == ("sevenhalf-4.4", "ERRO for two ANTEs of 10")


class SignedByteTable(Table):
    """A house that adds up an ANTE of signed bytes, and so takes an ANTE of 200 for one of -56."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        is_below_zero = data.startswith(b"ANTE ") and any(byte >= 128 for byte in data[6:9])
        return super().hears(data[:5] + b"\xff\xff\xff\xff" if is_below_zero else data)


def test_a_house_that_refuses_an_ante_with_a_high_byte_is_found() -> None:
    parlour = HouseFixture(ROOM)
    parlour.table = lambda: SignedByteTable(ROOM, {}, honest, next(parlour._numbers), strict=False)
    (result,) = results(parlour, "2.3/ante-with-a-high-byte")
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.actual) == ("sevenhalf-2.3", "ERRO for an ANTE of 200")


def test_a_house_that_has_started_a_game_has_no_reason_to_leave() -> None:
    rude_at_once = HouseFixture(ROOM, habit=goodbye_after(STRT, stbt(100), erro("bye")))
    (result,) = results(rude_at_once, "4.1/strt-at-start")
    assert result.failure is not None, result
    assert (result.outcome, result.failure.clause) == (Outcome.FAIL, "sevenhalf-6.8")


def test_a_house_that_closes_because_messages_came_in_other_pieces_breaks_the_clause_of_the_stream() -> None:
    hasty = rude(lambda _, data: data == b"AWAN")
    (result,) = results(hasty, "1.3/cut-anywhere")
    assert result.failure is not None, result
    assert result.failure.clause == "sevenhalf-1.3"


class CapitalTable(Table):
    """A house that closes at a STRT whose first letter alone is a capital."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        return self._sent(NO) if data == STRT.capitalize() else super().hears(data)


def test_every_spelling_of_a_start_is_tried_at_a_house_that_plays_once() -> None:
    house = HouseFixture(ROOM)
    house.table = lambda: CapitalTable(ROOM, {"once": "yes"}, honest, next(house._numbers), strict=False)
    failed = [result.failure for result in results(house, "/2.7/") if result.failure]
    assert {(failure.clause, str(failure.cause)) for failure in failed} == {("sevenhalf-2.7", SPELLING_MATTERS.text)}


class ShortReadTable(Table):
    """A house that hangs up when a read brings less than a code."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        return self._sent([HANG_UP]) if len(data) < 4 else super().hears(data)


@pytest.mark.parametrize("case", ["1.3/1-bytes-at-a-time", "1.3/slow", "2.1/cut-everywhere"])
def test_a_house_that_hangs_up_in_a_message_breaks_the_clause_of_the_stream(case: str) -> None:
    room = HOUSE_ROOMS["kuhn"]
    house = HouseFixture(room)
    house.table = lambda: ShortReadTable(room, {}, honest, 1, strict=False)
    (result,) = asyncio.run(run_cases(house, room, [each for each in server_cases(room) if each.id == f"kuhn/{case}"]))
    assert result.failure is not None, result
    assert result.failure.clause == "kuhn-1.3"
    assert result.failure.cause in {ONE_READ_CAUSE, ENDS_IN_MESSAGE}


def test_it_is_found_over_a_socket() -> None:
    async def check() -> tuple[Result, ...]:
        async with opened(rude(lower_case)) as port:
            cases = [case for case in CASES if "small-letters" in case.id or "mixed-letters" in case.id]
            return await over_a_socket(ROOM, port, cases=cases)

    found = asyncio.run(check())
    assert [result.outcome for result in found if "at-best" not in result.case] == [Outcome.FAIL] * 5
    assert {result.failure.clause for result in found if result.failure} == {"sevenhalf-2.7"}


HONEST: dict[str, Habit] = {
    "is full": instead(b"", *NO),
    "closes behind every game": closing_behind_the_game,
}
"""Houses whose closing message may have a reason that a client cannot know."""


@pytest.mark.parametrize("habit", HONEST.values(), ids=HONEST)
def test_a_farewell_with_a_reason_is_no_fault(habit: Habit) -> None:
    assert bad(results(HouseFixture(ROOM, habit=habit), "at-start", "at-between", "at-card", "games-in-a-row")) == []


def test_a_house_that_says_goodbye_behind_every_game_closes_without_a_reason() -> None:
    for result in results(HouseFixture(ROOM, habit=polite_after_the_game), "games-in-a-row"):
        assert result.failure is not None, result
        assert (result.outcome, result.failure.clause) == (Outcome.FAIL, "sevenhalf-6.8")


def test_a_house_that_starts_no_game_at_all_may_have_a_reason_but_does_not_have_all_of_the_protocol() -> None:
    found = results(HouseFixture(ROOM, habit=instead(STRT, *NO)), "at-start", "at-between", "at-card")
    assert {result.outcome for result in found} >= {Outcome.UNIMPLEMENTED}
    assert Outcome.FAIL not in {result.outcome for result in found}


@pytest.mark.extended
def test_a_house_that_plays_once_and_says_so_when_it_is_asked_for_more_is_not_accused() -> None:
    lazy = rude(lambda table, _: table.played)
    assert bad(results(lazy, "at-between", "at-over", "at-card", "at-raised", "games-in-a-row", "stroll")) == []


class Limited:
    """A house with an idle limit, whose goodbye takes a while to arrive. See `HouseUnderTest`; time is simulated."""

    def __init__(self, limit: float, way: float, room: HouseRoom = ROOM, farewell: bytes = erro("out of time")) -> None:
        self._parlour = HouseFixture(room)
        self._farewell = farewell
        self._limit = limit
        self._way = way

    async def open(self, address: Address) -> None:
        pass

    async def close(self) -> None:
        pass

    async def converse(self, probe: ScriptedClient) -> None:
        table, now, heard = self._parlour.table(), 0.0, 0.0
        effects = deque(probe.on(Joined(HOUSE), now))
        while not probe.is_over:
            for effect in [effects.popleft() for _ in range(len(effects))]:
                if isinstance(effect, Send) and now < heard + self._limit:
                    heard = now
                    for answer in table.hears(effect.message):
                        self._parlour._send(probe, answer, now, effects)
            if probe.is_over or effects:
                continue
            farewell = heard + self._limit + self._way
            if probe.deadline is not None and probe.deadline < farewell:
                now = max(now, probe.deadline)
                effects += probe.on(TimedOut(), now)
            else:
                now = farewell
                effects += probe.on(Received(HOUSE, self._farewell), now)
                effects += probe.on(Left(HOUSE), now)


@pytest.mark.parametrize("limit", extended([0.001, 0.02, 0.05, 0.1, 0.25], 2))
@pytest.mark.parametrize("way", extended([0.03, 0.0, 0.5], 3))
@pytest.mark.parametrize("part", [pytest.param(1, marks=pytest.mark.slow), 50])
def test_a_farewell_of_a_limit_that_crosses_a_message_is_no_fault(limit: float, way: float, part: int) -> None:
    assert bad(asyncio.run(run_cases(Limited(limit, way), ROOM, CASES[::part], effort=0.0))) == []


BLACKJACK = HOUSE_ROOMS["blackjack"]
BLACKJACK_FAREWELL = b"ERR\0\0\1\x2cSTP"
UNREADABLE = tuple(case for case in server_cases(BLACKJACK) if case.clause in {"blackjack-2.10", "blackjack-6.7"})


def answering_garbage_with_a_farewell(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return answers[1:] if answers and answers[0] == b"ERR\0\0\1\xf6" else answers


@pytest.mark.parametrize("state", ["start", "between", "bet", "turn"])
def test_a_farewell_in_place_of_the_error_to_unreadable_bytes_is_found(state: str) -> None:
    cases = [case for case in UNREADABLE if case.id.endswith(f"line-end-at-{state}")]
    house = HouseFixture(BLACKJACK, habit=answering_garbage_with_a_farewell)
    (result,) = asyncio.run(run_cases(house, BLACKJACK, cases))
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.expected) == ("blackjack-6.7", "ERR 502 before that")


def test_a_close_in_place_of_the_error_to_unreadable_bytes_is_found_if_the_house_plays_on() -> None:
    def habit(_: bytes, answers: list[bytes]) -> Sequence[bytes]:
        return [HANG_UP] if b"unreadable" in b"".join(answers) else answers

    for state, seed in (("start", 0), ("between", 0), ("card", 0), *(("over", seed) for seed in (0, 1, 2, 4, 6))):
        (result,) = results(HouseFixture(ROOM, habit=habit, seed=seed), f"unknown-code-at-{state}")
        assert result.failure is not None, result
        assert (result.outcome, result.failure.clause) == (Outcome.FAIL, "sevenhalf-2.9")


@pytest.mark.parametrize("limit", extended([0.001, 0.02, 0.05, 0.1, 0.25], 2))
@pytest.mark.parametrize("way", extended([0.03, 0.0, 0.5], 3))
def test_a_farewell_of_a_limit_that_crosses_unreadable_bytes_is_no_fault(limit: float, way: float) -> None:
    house = Limited(limit, way, BLACKJACK, BLACKJACK_FAREWELL)
    assert bad(asyncio.run(run_cases(house, BLACKJACK, UNREADABLE, effort=0.0))) == []


def test_a_full_house_may_answer_unreadable_bytes_with_a_farewell() -> None:
    house = HouseFixture(BLACKJACK, habit=lambda heard, answers: [BLACKJACK_FAREWELL, HANG_UP])
    found = asyncio.run(run_cases(house, BLACKJACK, UNREADABLE, effort=0.0))
    assert Outcome.FAIL not in {result.outcome for result in found}


class LateClosingTable(Table):
    """A house that answers a PASS after BSTG, which it may discard or refuse, with a close alone."""

    is_over = False

    def hears(self, data: bytes) -> Sequence[bytes]:
        if self.is_over and data == b"PASS":
            return self._sent([HANG_UP])
        answers = super().hears(data)
        self.is_over = any(answer.startswith(b"BSTG") for answer in answers)
        return answers


class DiscTable(Table):
    """A Kuhn house that answers line ends and quotes, which it may refuse, with DISC and a close alone."""

    farewell: Sequence[bytes] = (b"DISC", HANG_UP)

    def hears(self, data: bytes) -> Sequence[bytes]:
        is_tolerated = data != data.strip(b"\r\n ") or b'"' in data
        return self._sent(self.farewell) if is_tolerated and not self._closed else super().hears(data)


class ResettingTable(DiscTable):
    """The same house if the DISC is lost: unread input resets the connection."""

    farewell = (HANG_UP,)


@pytest.mark.parametrize(
    ("table", "case_id", "clause"),
    [
        (LateClosingTable, "sevenhalf/4.8/pass-at-over", "sevenhalf-8.2"),
        (DiscTable, "kuhn/2.4/line-ends-between-messages", "kuhn-2.7"),
        (ResettingTable, "kuhn/2.4/line-ends-between-messages", "kuhn-2.7"),
        (DiscTable, "kuhn/2.5/quoted-seat", "kuhn-2.6"),
        (DiscTable, "kuhn/2.7/unclosed-quote", "kuhn-2.7"),
    ],
)
def test_a_close_alone_is_no_refusal_of_what_need_not_be_tolerated(
    table: type[Table], case_id: str, clause: str
) -> None:
    room = HOUSE_ROOMS[case_id.partition("/")[0]]
    house = HouseFixture(room)
    house.table = lambda: table(room, {}, honest, next(house._numbers), strict=False)
    (case,) = (each for each in server_cases(room) if each.id == case_id)
    (result,) = asyncio.run(run_cases(house, room, [case]))
    assert (result.outcome, result.failure and result.failure.clause) == (Outcome.FAIL, clause)


class FullTable(Table):
    """A house that has no room for the client, which has already spoken."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        return self._sent([b"DISC", HANG_UP])


@pytest.mark.extended
def test_a_house_that_has_no_room_for_a_moment_is_not_accused() -> None:
    room = HOUSE_ROOMS["kuhn"]
    parlour = HouseFixture(room)
    is_full, free_table = cycle([True, False]), parlour.table
    parlour.table = lambda: FullTable(room, {}, honest, 0, strict=False) if next(is_full) else free_table()
    cases = [case for case in server_cases(room) if case.slug in {"unknown-code-at-start", "goodbye-at-once"}]
    found = asyncio.run(run_cases(parlour, room, cases, effort=0.0))
    assert bad(found) == []


class EndingHouse(HouseFixture):
    """A house of Kuhn poker that sends a client away that says HELO, and is gone."""

    def __init__(self) -> None:
        super().__init__(HOUSE_ROOMS["kuhn"])
        self.is_gone = False
        free_table = self.table

        def table() -> Table:
            made = free_table()
            hears = made.hears

            def end(data: bytes) -> Sequence[bytes]:
                self.is_gone = data.startswith(b"HELO")
                return [b"DISC", HANG_UP] if self.is_gone else hears(data)

            made.hears = end  # type: ignore[method-assign]
            return made

        self.table = table

    async def converse(self, probe: ScriptedClient) -> None:
        if self.is_gone:
            raise TargetGone("nothing listens")
        await super().converse(probe)


def test_a_house_that_is_gone_is_not_asked_for_room() -> None:
    room = HOUSE_ROOMS["kuhn"]
    cases = [case for case in server_cases(room) if case.slug in {"strt-p1-at-start", "unknown-code-at-start"}]
    *_, found = asyncio.run(run_cases(EndingHouse(), room, cases[::-1], effort=0.0))
    assert found.failure is not None
    assert [line.data for line in found.dialogue] == [b"HELO", b"DISC"]


class EarlyHouse(HouseFixture):
    """A house that takes one connection, and then none."""

    has_served = False

    async def converse(self, probe: ScriptedClient) -> None:
        if self.has_served:
            probe.connect_error = "nothing listens"
            return
        await super().converse(probe)
        self.has_served = True


def test_the_conversation_is_shown_at_which_a_house_has_ended() -> None:
    cases = [case for case in server_cases(ROOM) if case.slug == "hang-up-in-a-game"]
    (result,) = asyncio.run(run_cases(EarlyHouse(ROOM), ROOM, cases))
    assert result.failure is not None
    assert result.failure.actual == "nothing listens"
    assert b"STRT" in [line.data for line in result.dialogue]
