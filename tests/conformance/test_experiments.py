"""Experiments find out why a house fails: one read for one message, refusals that change the state, spelling."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from croupier.conformance.diagnosis.pairs import MAX_CHANCE, one_sided_chance
from croupier.conformance.fair_deal import DealCounter
from croupier.conformance.results import Failure, Outcome, Result
from croupier.conformance.servers.bench import RUNS_OUT_OF_CARDS
from croupier.conformance.servers.experiments import HOLDS_ANSWERS_BACK, LOSES_SLOW_MESSAGES, MIXES_UP_MESSAGES
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Joined, Send, TimedOut
from croupier.core.spans import SpanReader
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, Table, run_cases
from tests.conformance.mutants import blackjack, kuhn, sevenhalf
from tests.conformance.mutants.catalogue import mutations
from tests.conformance.mutants.mutant_house import MutantHouse
from tests.conformance.mutants.rewriting import little_endian
from tests.conformance.suites import server_cases
from tests.rooms.conversation_fixture import HANG_UP, honest, instead

STATES = {"kuhn": kuhn.state_of, "sevenhalf": sevenhalf.state_of, "blackjack": blackjack.state_of}


def run_mutant(room: str, name: str, case: str) -> Result:
    """The result of one case at a mutant, by the beginning of its name."""
    mutation = next(each for each in mutations(room, "server") if each.name.startswith(f"{room}-server: {name}"))
    house = MutantHouse(HOUSE_ROOMS[room], mutation, STATES[room], {})
    cases = [each for each in server_cases(HOUSE_ROOMS[room]) if each.id == case]
    (result,) = asyncio.run(run_cases(house, HOUSE_ROOMS[room], cases))
    return result


@pytest.mark.parametrize(
    ("room", "name", "case", "clause", "cause"),
    [
        ("kuhn", "misreads: one read is one message", "kuhn/1.3/pipelined", "1.3", "one read brings for one message"),
        ("kuhn", "misreads: a message ends with its line", "kuhn/4.1/strt-p1-at-start", "2.1", "a line end after each"),
        ("sevenhalf", "misreads: a message ends with its line", "sevenhalf/4.2/draw-at-bet", "2.1", "a line end"),
        ("blackjack", "misreads: the rest of a read is lost", "blackjack/1.3/glued", "1.3", "one read brings"),
        (
            "kuhn",
            "moved by an error: ACTN CAL (FAIL W_A)",
            "kuhn/6.1/cal-at-card",
            "6.7",
            "a message that it refuses changes its state",
        ),
        (
            "kuhn",
            "moved by an error: STRT P_1 (FAIL W_A): the game is lost, after the house has bet",
            "kuhn/6.3/strt-p1-at-bet",
            "6.7",
            "a message that it refuses changes its state",
        ),
    ],
)
def test_the_cause_is_found_by_sending_the_same_messages_in_another_way(
    room: str, name: str, case: str, clause: str, cause: str
) -> None:
    result = run_mutant(room, name, case)
    assert result.outcome is Outcome.FAIL, result
    assert result.failure is not None
    assert result.failure.clause == f"{room}-{clause}", result
    assert result.failure.cause is not None
    assert cause in result.failure.cause.text
    assert not result.failure.cause.is_guess


class LineTable(Table):
    """A table that waits for a line end after each message, and answers a start as the second to act in part."""

    rest = b""

    def hears(self, data: bytes) -> Sequence[bytes]:
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [answer for line in lines for answer in super(LineTable, self).hears(line)[:1]]


def test_a_server_that_waits_for_lines_still_serves_clients_where_its_answers_are_wrong() -> None:
    room = HOUSE_ROOMS["kuhn"]
    house = HouseFixture(room)
    house.table = lambda: LineTable(room, {}, honest, 1, strict=False)
    results = asyncio.run(run_cases(house, room, [case for case in server_cases(room) if case.rank == 0]))
    causes = {result.failure.cause.text for result in results if result.failure and result.failure.cause}
    assert causes == {"it waits for a line end: the same messages pass with a line end after each"}


class DoubleTable(Table):
    """A table that handles every read after the first one twice, as after adding a second listener to a connection."""

    has_begun = False

    def hears(self, data: bytes) -> Sequence[bytes]:
        answers = [*super().hears(data), *(super().hears(data) if self.has_begun else ())]
        self.has_begun = True
        return answers if HANG_UP in answers else [b"".join(answers)]


def test_a_server_that_handles_every_read_twice_reads_the_whole_of_a_message() -> None:
    room = HOUSE_ROOMS["kuhn"]
    house = HouseFixture(room)
    house.table = lambda: DoubleTable(room, {}, honest, 1, strict=False)
    cases = [case for case in server_cases(room) if case.id == "kuhn/4.4/bet-at-card"]
    (result,) = asyncio.run(run_cases(house, room, cases))
    assert result.failure is not None, result
    assert (result.failure.clause, result.failure.cause) == ("kuhn-4.9", None)


@pytest.mark.parametrize("case_id", ["blackjack/6.4/house-words-from-the-client", "blackjack/2.2/every-frame"])
def test_a_refusal_of_the_first_of_several_messages_is_none_of_the_last(case_id: str) -> None:
    assert run_mutant("blackjack", "misreads: the rest of a read is lost", case_id).outcome is Outcome.FAIL


class HastyTable(Table):
    """A table that handles the last message of a read first, as it may if each has a task of its own."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        items = self._inward.feed(data)[::-1]
        return [answer for item in items for answer in super(HastyTable, self).hears(self._inward.encode(item))]


def failure_at(table: type[Table], case: str) -> Failure:
    """How a house with this table fails a case."""
    room = HOUSE_ROOMS[case.partition("/")[0]]
    house = HouseFixture(room)
    house.table = lambda: table(room, {}, honest, 1, strict=False)
    cases = [each for each in server_cases(room) if each.id == case]
    (result,) = asyncio.run(run_cases(house, room, cases))
    assert result.failure is not None
    return result.failure


def test_a_house_that_reads_all_messages_may_only_handle_them_in_the_wrong_order() -> None:
    failure = failure_at(HastyTable, "kuhn/1.3/pipelined")
    assert (failure.clause, failure.cause) == ("kuhn-1.3", MIXES_UP_MESSAGES)


class HoldingTable(Table):
    """A table that holds its answers back as long as the last read has brought the beginning of a message, too."""

    def __init__(self, room: HouseRoom, *args: Any, **more: Any) -> None:
        super().__init__(room, *args, **more)
        self._reader = SpanReader[Any](room.codec(False, None))
        self._held: list[bytes] = []

    def hears(self, data: bytes) -> Sequence[bytes]:
        self._held += super().hears(data)
        list(self._reader.feed(data))
        if self._reader.incomplete:
            return []
        answers, self._held = self._held, []
        return answers


@pytest.mark.parametrize("case", ["blackjack/1.3/cut-anywhere", "sevenhalf/1.3/cut-anywhere"])
def test_a_house_that_waits_for_all_of_the_next_message_holds_its_answers_back(case: str) -> None:
    failure = failure_at(HoldingTable, case)
    assert (failure.clause, failure.cause) == (f"{case.partition('/')[0]}-1.3", HOLDS_ANSWERS_BACK)


class PollingHouse(HouseFixture):
    """A house that forgets the beginning of a message whose end does not come within a second."""

    async def converse(self, probe: ScriptedClient) -> None:
        table, now, read_at = self.table(), 0.0, 0.0
        effects = deque(probe.on(Joined(HOUSE), now))
        while not probe.is_over:
            for effect in [effects.popleft() for _ in range(len(effects))]:
                if isinstance(effect, Send):
                    if now > read_at + 1.0:
                        table._inward = HOUSE_ROOMS["kuhn"].codec(False, None)
                    read_at = now
                    for answer in table.hears(effect.message):
                        self._send(probe, answer, now, effects)
            if not (probe.is_over or effects):
                assert probe.deadline is not None, "nobody has anything to say"
                now = max(now, probe.deadline)
                effects += probe.on(TimedOut(), now)


def test_a_house_that_forgets_the_beginning_of_a_message_does_not_read_slow_ones() -> None:
    room = HOUSE_ROOMS["kuhn"]
    cases = [each for each in server_cases(room) if each.id == "kuhn/1.3/slow"]
    (result,) = asyncio.run(run_cases(PollingHouse(room), room, cases))
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("kuhn-1.3", LOSES_SLOW_MESSAGES)


def test_a_house_that_shows_two_kings_and_never_a_jack_writes_the_slip_of_the_document() -> None:
    room = HOUSE_ROOMS["kuhn"]
    habit = lambda _, answers: [each.replace(b"C_J", b"C_K") for each in answers]  # noqa: E731
    cases = [each for each in server_cases(room) if each.id == "kuhn/4.6/cal-at-bet"]
    (result,) = asyncio.run(run_cases(HouseFixture(room, habit=habit), room, cases))
    assert result.failure is not None, result
    cause = "it writes C_K for the jack, which is a slip of the document's"
    assert (result.failure.clause, str(result.failure.cause)) == ("kuhn-2.2", cause)


def test_a_refusal_that_cannot_be_read_may_be_one_of_what_need_not_be_accepted() -> None:
    room = HOUSE_ROOMS["sevenhalf"]
    habit = lambda _, answers: [b"ERRO !!no" if each[:4] == b"ERRO" else each for each in answers]  # noqa: E731
    cases = [each for each in server_cases(room) if each.id == "sevenhalf/2.8/line-ends-between-messages"]
    (result,) = asyncio.run(run_cases(HouseFixture(room, habit=habit, strict=True), room, cases))
    assert result.failure is not None, result
    assert (result.failure.actual[:8], result.failure.cause) == ("'ERRO !!", None)


def test_a_house_that_is_silent_after_its_last_card_takes_no_fresh_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DealCounter, "has_run_out", True)
    room = HOUSE_ROOMS["sevenhalf"]
    cases = [each for each in server_cases(room) if each.id == "sevenhalf/4.2/draw-at-bet"]
    (result,) = asyncio.run(run_cases(HouseFixture(room, habit=instead(b"DRAW")), room, cases))
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("sevenhalf-3.3", RUNS_OUT_OF_CARDS)


class RememberingHouse(HouseFixture):
    """A house that goes on with the bytes of a message that an earlier client has begun."""

    def __init__(self, room: HouseRoom) -> None:
        super().__init__(room)
        inward = room.codec(False, None)
        new_table = self.table

        def table() -> Table:
            made = new_table()
            made._inward = inward
            return made

        self.table = table


def test_a_house_that_mixes_up_the_messages_of_two_clients_fails_where_one_has_left_in_a_message() -> None:
    room = HOUSE_ROOMS["kuhn"]
    ids = ["kuhn/4.1/strt-p1-at-start", "kuhn/4.2/strt-p2-at-start", "kuhn/8.1/hang-up-in-a-message"]
    cases = [each for each in server_cases(room) if each.id in ids]
    *passed, failed = asyncio.run(run_cases(RememberingHouse(room), room, cases))
    assert all(result.outcome is Outcome.PASS for result in passed)
    assert failed.failure is not None
    assert failed.failure.clause == "kuhn-8.1"


def test_failures_that_luck_decides_need_more_proof_than_those_that_always_come_up() -> None:
    assert one_sided_chance(1, 1) == 0.5
    assert one_sided_chance(8, 8) < MAX_CHANCE < one_sided_chance(40, 8)
    assert one_sided_chance(7, 7) > MAX_CHANCE
    assert one_sided_chance(40, 13) < MAX_CHANCE


def test_a_failure_that_comes_up_in_any_way_keeps_its_clause() -> None:
    result = run_mutant("kuhn", "silent: ACTN CAL (CARD)", "kuhn/4.6/cal-at-bet")
    assert result.failure is not None
    assert result.failure.clause == "kuhn-4.6"


@pytest.mark.parametrize(
    ("name", "case", "clause"),
    [
        ("silent: PLY (MON), between rounds", "blackjack/4.8/games-in-a-row", "blackjack-4.1"),
        ("silent: SRD (RES)", "blackjack/4.5/surrender-at-turn", "blackjack-4.5"),
    ],
)
def test_a_silence_that_ends_with_an_unreadable_line_end_keeps_its_clause(name: str, case: str, clause: str) -> None:
    result = run_mutant("blackjack", name, case)
    assert result.failure is not None
    assert result.failure.clause == clause


def test_a_conversation_that_ends_before_integers_matter_is_no_proof_of_their_order() -> None:
    for _ in range(4):
        result = run_mutant("sevenhalf", "pays wrongly: the player is over: nothing", "sevenhalf/4.4/draw-at-raised")
        assert result.failure is None or result.failure.clause == "sevenhalf-5.4"


class BackwardsTable(Table):
    """A table that reads the amount of a bet with the least significant byte first."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        return super().hears(little_endian(data, 3) if data.startswith(b"BET") else data)


@pytest.mark.parametrize("case_id", ["blackjack/4.1/ply-at-start", "blackjack/4.2/bet-at-bet"])
def test_the_first_message_of_an_answer_shows_that_integers_are_read_backwards(case_id: str) -> None:
    failure = failure_at(BackwardsTable, case_id)
    assert failure.clause == "blackjack-2.3"
    assert str(failure.cause) == "it reads integers with the least significant byte first"


class BackwardCharactersTable(Table):
    """A table that decodes a character with the less significant byte first."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        return super().hears(data[:3] + data[:2:-1] if data.startswith(b"MOV") else data)


@pytest.mark.parametrize("case_id", ["blackjack/4.3/hit-at-turn", "blackjack/4.8/rounds-and-balance"])
def test_a_house_that_refuses_every_move_may_read_characters_backwards(case_id: str) -> None:
    failure = failure_at(BackwardCharactersTable, case_id)
    assert failure.clause == "blackjack-2.4"
    assert str(failure.cause) == "it reads characters with the less significant byte first"


class CarelessTable(Table):
    """A table that takes every bet for one of 10 coins, and pays nothing back for a surrender."""

    def hears(self, data: bytes) -> Sequence[bytes]:
        answers = super().hears(b"BET\0\0\0\x0a" if data.startswith(b"BET") else data)
        return [b"RES\0L\0\0\0\0" if answer.startswith(b"RES\0L") else answer for answer in answers]


def test_a_house_that_takes_every_bet_does_not_read_integers_backwards() -> None:
    assert failure_at(CarelessTable, "blackjack/4.5/surrender-at-turn").clause == "blackjack-5.3"


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("pays wrongly: a surrender pays back a half, rounded up", "5.3"),
        ("pays wrongly: a tie: the wrong winner", "3.10"),
        ("pays wrongly: a hit makes 21: the gain instead", "5.1"),
    ],
)
def test_a_fault_that_luck_decides_is_not_blamed_on_clients_that_play_at_once(name: str, clause: str) -> None:
    result = run_mutant("blackjack", name, "blackjack/1.2/many-at-once")
    assert result.failure is None or result.failure.clause == f"blackjack-{clause}"


def test_no_order_of_bytes_explains_a_close() -> None:
    name = "closes: PLY (MON): without a goodbye, before the first round"
    result = run_mutant("blackjack", name, "blackjack/2.2/every-frame")
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("blackjack-8.2", None)


def test_bytes_that_remain_of_a_refusal_are_not_its_consequence() -> None:
    name = "misspelt: STBT (ERRO): 1. ERRO with a text longer than its length, after STBT"
    result = run_mutant("sevenhalf", name, "sevenhalf/6.5/the-houses-words-in-a-game")
    assert result.failure is not None
    assert result.failure.clause == "sevenhalf-2.9"


@pytest.mark.parametrize(("answered", "clause"), [(1, "kuhn-1.2"), (0, "kuhn-4.1")])
def test_a_house_that_answers_no_client_after_its_first_ones_mixes_up_its_tables(answered: int, clause: str) -> None:
    room = HOUSE_ROOMS["kuhn"]
    house = HouseFixture(room, {}, lambda said, answers: answers if house.met <= answered else [])
    cases = [each for each in server_cases(room) if each.id == "kuhn/4.1/strt-p1-at-start"]
    (result,) = asyncio.run(run_cases(house, room, cases))
    assert result.failure is not None
    assert result.failure.clause == clause
