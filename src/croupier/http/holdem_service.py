"""The desk of a house that is asked over HTTP: it passes on what is asked, keeps the time, and the pages up to date."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.core.session import Closing, Effect, Event, HandFinished, Observer, Received, Send, TableChanged, TimedOut
from croupier.http.views import ViewCache, wake
from croupier.logs import Logger
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut
from croupier.recording.holdem_journal import HoldemJournal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import RULES_LIMITED_GAMES, HouseInput
from croupier.rooms.holdem.wire import Dialect, HoldemRequest, HoldemResponse, RequestRefused
from croupier.store import records
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable

STORE_DOWN: Final = RequestRefused(
    503, "holdem-3.17", "found a store that cannot be written to; allowed: to come later, and see what was done"
)

MAX_GATHER_TURNS: Final = 8
"""After so many turns of the loop at most what was asked is heard."""


class HouseOpened(Struct, frozen=True):
    """The house is open again, with these settings if they are not as they were."""

    settings: Settings | None = None


class Transition(Struct, frozen=True):
    """Something that the house has heard, and what it does about it."""

    journal_entry: HouseInput
    event: Event[HoldemRequest]
    effects: Sequence[Effect[Any]]

    @property
    def changes_state(self) -> bool:
        """Whether the house is another one now: all but a refusal, or a ring at which nothing was due, changes it.

        That it closes, or is open with other settings, is seen only in what it does later.
        """
        match self.effects:
            case [] | [Send(message=RequestRefused())]:
                return self.journal_entry.opened or self.journal_entry.halted is not None
        return True

    @property
    def answer(self) -> HoldemResponse:
        """What whoever has asked is told."""
        for effect in self.effects:
            if type(effect) is Send:
                answer: HoldemResponse = effect.message
                return answer
        raise AssertionError(f"the house has no answer to {self.event}")


class HoldemService:
    """The house, with a clock that tells its `now` in seconds.

    Taps hear every event with its effects before anybody is answered, as those of a switchboard do. With a journal
    that is when all of it is durable: the house hears nothing while something is written, and nobody sees anything. So
    what is asked meanwhile is heard, and written, together. What many ask at the same time is, too: the house hears
    them when a turn of the loop has brought nothing more. With `promises` the dealer's are durable before a hand is.
    """

    def __init__(
        self,
        house: House,
        dialect: Dialect,
        clock: Callable[[], float],
        *,
        taps: Sequence[Observer],
        counts: RoomCounters,
        log: Logger,
        journal: HoldemJournal | None = None,
        promises: Promises | None = None,
    ) -> None:
        self.house = house
        self.views = ViewCache(house, dialect)
        self.clock = clock
        self.closing = False
        self._observers = ObserverFanOut(taps, log, counts)
        self._counts = counts
        self._log = log
        self._journal = journal
        self._promises = promises
        self._request_count = 0
        self._timer_deadline = inf
        self._timer: asyncio.TimerHandle | None = None
        self._queue: list[tuple[Event[HoldemRequest] | HouseOpened, Future[HoldemResponse] | None]] = []
        self._is_gathering = False
        self._is_writing = False
        self._is_down = False
        self._down_reason = ""
        self._durability_waiters: list[Future[None]] = []
        self._recovery_task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """The house is open, again if it has a journal: open turns have their full time, and the room is its own.

        Raises StoreDown.
        """
        if self._journal is None:
            self._schedule_deadline()
        else:
            settings = self._journal.settings
            self._queue.append((HouseOpened(None if settings == self.house.settings else settings), None))
            self._process_queue()
            await self.wait_durable()

    @property
    def unavailable_reason(self) -> str | None:
        """Why nothing can be played now; None if it can."""
        if self._is_down:
            return self._down_reason
        return None if self._journal is None else self._journal.store.outage

    # What is asked.

    @property
    def is_synchronous(self) -> bool:
        """Whether everything is answered at once."""
        return self._journal is None

    @property
    def is_durable(self) -> bool:
        """Whether all that can be seen is durable."""
        return not self._is_writing

    @property
    def has_pending(self) -> bool:
        """Whether something has been asked that cannot be seen yet."""
        return self._is_writing or bool(self._queue)

    def try_durability_waiter(self) -> Future[None] | None:
        """What is done when all is settled, for a turn of the loop; None where that may take long."""
        if self._is_down:
            return None
        watcher: Future[None] = asyncio.get_running_loop().create_future()
        self._durability_waiters.append(watcher)
        return watcher

    async def wait_durable(self) -> None:
        """Wait until all that can be seen is durable; it is as long as the caller waits for nothing else.

        Raises StoreDown where that may take long.
        """
        while not self.is_durable:
            if (watcher := self.try_durability_waiter()) is None:
                raise StoreUnavailable(STORE_DOWN.detail)
            await watcher

    def execute_now(self, request: HoldemRequest) -> HoldemResponse:
        """What the house answers to a request of a user whose credentials were verified: only where it is prompt."""
        self._request_count += 1
        course = self._handle(Received(self._request_count, request))
        self._publish(course)
        return course.answer

    def submit(self, request: HoldemRequest) -> Future[HoldemResponse]:
        """The same, when it is durable: only where the house is not prompt."""
        answer: Future[HoldemResponse] = asyncio.get_running_loop().create_future()
        if self.unavailable_reason is not None:
            answer.set_result(STORE_DOWN)
            return answer
        self._request_count += 1
        self._queue.append((Received(self._request_count, request), answer))
        if not self._is_writing:
            self._gather()
        return answer

    async def execute(self, request: HoldemRequest) -> HoldemResponse:
        """The same, prompt or not."""
        return self.execute_now(request) if self._journal is None else await self.submit(request)

    def process_deadlines(self) -> None:
        """Let the house hear of the alarms that are due."""
        self._timer_deadline = inf
        while (alarm := self.house.deadline) is not None and alarm <= self.clock():
            if self._journal is not None:
                if (reason := self.unavailable_reason) is not None:
                    self._suspend(reason)
                else:
                    self._queue.append((TimedOut(), None))
                    self._process_queue()
                return
            self._publish(self._handle(TimedOut()))
        self._schedule_deadline()

    def halt(self, *, final: bool) -> None:
        """Tell the house that it closes. When that is final, nobody waits for news any more.

        With a journal nothing is ever final: a hand that is running then goes on when the house is opened again.
        """
        if self._journal is None:
            self._publish(self._handle(Closing(final)))
        elif not final:
            self._queue.append((Closing(final), None))
            self._process_queue()
        if final:
            self.closing = True
            self.views.notify_all()
            if self._timer is not None:
                self._timer.cancel()
            if self._recovery_task is not None:
                self._recovery_task.cancel()

    # What comes of it.

    def _handle(self, event: Event[HoldemRequest] | HouseOpened) -> Transition:
        now = self.clock()
        match event:
            case Received(message=request):
                heard = HouseInput(now, said=request)
            case HouseOpened(settings):
                heard, event = HouseInput(now, opened=True, settings=settings, rules=RULES_LIMITED_GAMES), TimedOut()
                return Transition(heard, event, self.house.apply(heard))
            case Closing(final):
                heard = HouseInput(now, halted=final)
            case _:
                heard = HouseInput(now)
        return Transition(heard, event, self.house.on(event, now))

    def _publish(self, *transitions: Transition) -> None:
        """Call the observers, all who wait for news, and the clock."""
        changed = []
        for course in transitions:
            self._observers(course.event, course.effects, course.journal_entry.now)
            for effect in course.effects:
                if type(effect) is TableChanged:
                    changed.append(effect.table)
                elif type(effect) is HandFinished:
                    self._counts.games += 1
        if changed:
            self.views.notify_changed(changed)
        self._schedule_deadline()

    def _schedule_deadline(self) -> None:
        """See to it that the house hears of its alarm in time."""
        alarm = self.house.deadline
        if alarm is None or alarm >= self._timer_deadline or self.closing:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_deadline = alarm
        self._timer = asyncio.get_running_loop().call_later(alarm - self.clock(), self.process_deadlines)

    # The journal.

    def _gather(self) -> None:
        """Let the house go on as soon as a turn of the loop has brought nothing more."""
        if not self._is_gathering:
            self._is_gathering = True
            asyncio.get_running_loop().call_soon(self._on_gather_turn, len(self._queue), MAX_GATHER_TURNS)

    def _on_gather_turn(self, before: int, turns: int) -> None:
        asked = len(self._queue)
        if asked > before and turns:
            asyncio.get_running_loop().call_soon(self._on_gather_turn, asked, turns - 1)
        else:
            self._is_gathering = False
            self._process_queue()

    def _process_queue(self) -> None:
        """Let the house hear all that was asked, and write it down, unless it is writing."""
        if self._is_writing or not self._queue:
            return
        assert self._journal is not None, "nothing is put off without a journal"
        asked, self._queue = self._queue, []
        courses: list[Transition] = []
        answers: list[tuple[Future[HoldemResponse], HoldemResponse]] = []
        for event, answer in asked:
            try:
                course = self._handle(event)
            except Exception as error:  # the others are heard all the same
                if answer is None:
                    self._log.error("our own fault", exc_info=error)
                elif not answer.done():
                    answer.set_exception(error)
                continue
            courses.append(course)
            if answer is not None:
                answers.append((answer, course.answer))
        if not _entries_to_write(courses):
            self._publish(*courses)
            self._wake_waiters()
            _resolve_answers(answers)
            return
        self._is_writing = True
        effects = [effect for course in courses for effect in course.effects]
        promised = None if self._promises is None else self._promises.write(effects)
        if promised is None:
            self._write(courses, answers)
        else:  # a hand that goes on after a crash was promised before
            promised.add_done_callback(lambda _: self._write(courses, answers))

    def _write(
        self, transitions: list[Transition], answers: list[tuple[Future[HoldemResponse], HoldemResponse]]
    ) -> None:
        assert self._journal is not None, "nothing is written without a journal"
        writing = self._journal.write(_entries_to_write(transitions), _finished_hands(transitions))
        writing.add_done_callback(lambda done: self._on_written(done, transitions, answers))

    def _on_written(
        self,
        done: Future[None],
        transitions: list[Transition],
        answers: list[tuple[Future[HoldemResponse], HoldemResponse]],
    ) -> None:
        """It is durable: now everybody may know. Or it is not: then it is written as soon as that can be done."""
        if done.cancelled():
            return  # the loop ends
        if (error := done.exception()) is None:
            self._complete(transitions, answers)
            return
        self._is_down = True
        self._down_reason = str(error)
        _resolve_answers([(answer, STORE_DOWN) for answer, _ in answers])
        _resolve_answers([(answer, STORE_DOWN) for _, answer in self._queue if answer is not None])
        self._queue.clear()
        self._wake_waiters()
        if isinstance(error, records.WriteRefused):
            self._mark_superseded(error)
            return
        self._log.error("the store cannot be written to", reason=str(error))
        self._recovery_task = asyncio.get_running_loop().create_task(self._retry_write(transitions))

    def _complete(
        self, transitions: list[Transition], answers: list[tuple[Future[HoldemResponse], HoldemResponse]]
    ) -> None:
        assert self._journal is not None, "nothing is durable without a journal"
        self._journal.confirm_written(_entries_to_write(transitions))
        self._is_writing = False
        self._publish(*transitions)
        self._wake_waiters()
        _resolve_answers(answers)
        if self._queue:
            self._gather()  # whoever was released has his turn first, and sees what is durable

    def _suspend(self, reason: str) -> None:
        """No turn ends while the store is down, for nobody can act then (holdem-3.17)."""
        if not self._is_down:
            self._is_down, self._down_reason = True, reason
            self._recovery_task = asyncio.get_running_loop().create_task(self._resume_when_up())

    async def _resume_when_up(self) -> None:
        """When the store is there again, open turns have their full time."""
        assert self._journal is not None, "nothing is postponed without a journal"
        await self._journal.store.wait_until_up()
        self._is_down = False
        self._queue.insert(0, (HouseOpened(), None))
        self._process_queue()

    async def _retry_write(self, transitions: list[Transition]) -> None:
        """Write as soon as the store is there again; open turns then have their full time."""
        assert self._journal is not None, "nothing is revived without a journal"
        heard = _entries_to_write(transitions)
        while True:
            await self._journal.store.wait_until_up()
            try:
                if not await self._journal.was_written(heard):
                    await self._journal.write(heard, _finished_hands(transitions))
                break
            except StoreUnavailable:
                continue
            except records.WriteRefused as error:
                self._mark_superseded(error)
                return
        self._log.info("the store can be written to again")
        self._is_down = False
        self._queue.insert(0, (HouseOpened(), None))
        self._complete(transitions, [])

    def _mark_superseded(self, error: records.WriteRefused) -> None:
        self._down_reason = SUPERSEDED_MESSAGE
        self._log.error(SUPERSEDED_MESSAGE, reason=str(error))

    def _wake_waiters(self) -> None:
        """Whoever waits for what is being written may look again."""
        watchers, self._durability_waiters = self._durability_waiters, []
        for watcher in watchers:
            wake(watcher)


def _entries_to_write(transitions: Sequence[Transition]) -> list[HouseInput]:
    """What is to be written down of this."""
    return [course.journal_entry for course in transitions if course.changes_state]


def _finished_hands(transitions: Sequence[Transition]) -> list[HandFinished]:
    """The hands that are over by this."""
    return [effect for course in transitions for effect in course.effects if type(effect) is HandFinished]


def _resolve_answers(answers: Sequence[tuple[Future[HoldemResponse], HoldemResponse]]) -> None:
    """Tell those who still wait for it."""
    for waiter, answer in answers:
        if not waiter.done():
            waiter.set_result(answer)
