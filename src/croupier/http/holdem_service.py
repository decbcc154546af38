"""Runs a hold'em house for HTTP: queues its events, writes its journal, keeps its deadlines and its views."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.core.session import Closing, Effect, Event, HandFinished, Observer, Received, Send, TimedOut
from croupier.http.views import ViewCache
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
"""Requests are gathered for at most this many turns of the event loop before the house handles them together."""


class HouseOpened(Struct, frozen=True):
    """The house is open again, with new settings if they have changed."""

    settings: Settings | None = None


class Transition(Struct, frozen=True):
    """An event that the house has handled, with its journal entry and its effects."""

    journal_entry: HouseInput
    event: Event[HoldemRequest]
    effects: Sequence[Effect[Any]]

    @property
    def changes_state(self) -> bool:
        """Whether the event changed the house. Refusals and deadlines with nothing due do not.

        Opening and closing always do, even if they have no effects yet.
        """
        match self.effects:
            case [] | [Send(message=RequestRefused())]:
                return self.journal_entry.opened or self.journal_entry.halted is not None
        return True

    @property
    def answer(self) -> HoldemResponse:
        """The answer to the request."""
        for effect in self.effects:
            if type(effect) is Send:
                answer: HoldemResponse = effect.message
                return answer
        raise AssertionError(f"the house did not answer {self.event}")


class HoldemService:
    """A hold'em house with a clock, which returns the house's time in seconds.

    Observers are called with every event and its effects, and `views` show its changes, before the answer is given.
    With a journal, all of that waits until the event is durable: while a write is in progress, new requests are queued,
    and the views show the state before it. The queue is then handled and written as one batch. Requests that arrive in
    consecutive turns of the event loop are gathered, too. With `promises`, the dealer's promises are durable before a
    hand is.
    """

    def __init__(
        self,
        house: House,
        dialect: Dialect,
        clock: Callable[[], float],
        *,
        observers: Sequence[Observer],
        counts: RoomCounters,
        log: Logger,
        journal: HoldemJournal | None = None,
        promises: Promises | None = None,
    ) -> None:
        self.house = house
        self.views = ViewCache(dialect)
        self.clock = clock
        self.closing = False
        self.is_superseded = False
        self._observers = ObserverFanOut(observers, log, counts)
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
        self._settled = asyncio.Event()  # set while nothing is written, or the store is down
        self._is_down = False
        self._down_reason = ""
        self._recovery_task: asyncio.Task[None] | None = None
        self._publish_views()

    async def open(self) -> None:
        """Open the house; with a journal, continue where it ended. Turns that are open get their full time.

        Raises StoreUnavailable.
        """
        if self._journal is None:
            self._schedule_deadline()
        else:
            settings = self._journal.settings
            self._queue.append((HouseOpened(None if settings == self.house.settings else settings), None))
            self._process_queue()
            await self._settled.wait()
            if self._is_down:
                raise StoreUnavailable(self._down_reason)

    @property
    def unavailable_reason(self) -> str | None:
        """Why games cannot be played now; None if they can."""
        if self._is_down:
            return self._down_reason
        return None if self._journal is None else self._journal.store.outage

    # Requests.

    def submit(self, request: HoldemRequest) -> HoldemResponse | Future[HoldemResponse]:
        """Handle an authenticated user's request: return the answer or, with a journal, a future for it.

        The views show what the request has changed before the answer is given.
        """
        self._request_count += 1
        event = Received(self._request_count, request)
        if self._journal is None:
            transition = self._handle(event)
            self._publish(transition)
            return transition.answer
        if self.unavailable_reason is not None:
            return STORE_DOWN
        answer: Future[HoldemResponse] = asyncio.get_running_loop().create_future()
        self._queue.append((event, answer))
        if not self._is_writing:
            self._gather()
        return answer

    async def execute(self, request: HoldemRequest) -> HoldemResponse:
        """Like `submit`, for callers that can wait for the answer."""
        answer = self.submit(request)
        return await answer if isinstance(answer, Future) else answer

    def process_deadlines(self) -> None:
        """Deliver the deadlines that are due to the house."""
        self._timer_deadline = inf
        while (deadline := self.house.deadline) is not None and deadline <= self.clock():
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
        """Deliver Closing to the house. If `final`, long polls and streams end.

        With a journal, a final halt voids nothing: a running hand continues when the house is opened again.
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

    # Transitions.

    def _handle(self, event: Event[HoldemRequest] | HouseOpened) -> Transition:
        now = self.clock()
        match event:
            case Received(message=request):
                entry = HouseInput(now, said=request)
            case HouseOpened(settings):
                entry, event = HouseInput(now, opened=True, settings=settings, rules=RULES_LIMITED_GAMES), TimedOut()
                return Transition(entry, event, self.house.apply(entry))
            case Closing(final):
                entry = HouseInput(now, halted=final)
            case _:
                entry = HouseInput(now)
        return Transition(entry, event, self.house.on(event, now))

    def _publish(self, *transitions: Transition) -> None:
        """Call the observers, notify clients that wait for changes, and set the timer."""
        for transition in transitions:
            self._observers(transition.event, transition.effects, transition.journal_entry.now)
            for effect in transition.effects:
                if type(effect) is HandFinished:
                    self._counts.games += 1
        self._publish_views()
        self._schedule_deadline()

    def _publish_views(self) -> None:
        """Show the current state of the house, which is durable."""
        self.views.listed = self.house.settings.listed
        self.views.publish(self.house.take_changed_views())

    def _schedule_deadline(self) -> None:
        """Set the timer for the house's deadline, unless it is already set for an earlier time."""
        deadline = self.house.deadline
        if deadline is None or deadline >= self._timer_deadline or self.closing:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_deadline = deadline
        self._timer = asyncio.get_running_loop().call_later(deadline - self.clock(), self.process_deadlines)

    # The journal.

    def _gather(self) -> None:
        """Handle the queue as soon as a turn of the event loop adds nothing to it."""
        if not self._is_gathering:
            self._is_gathering = True
            asyncio.get_running_loop().call_soon(self._on_gather_turn, len(self._queue), MAX_GATHER_TURNS)

    def _on_gather_turn(self, previous_length: int, turns: int) -> None:
        length = len(self._queue)
        if length > previous_length and turns:
            asyncio.get_running_loop().call_soon(self._on_gather_turn, length, turns - 1)
        else:
            self._is_gathering = False
            self._process_queue()

    def _process_queue(self) -> None:
        """Let the house handle the queue, and write the result, unless a write is in progress."""
        if self._is_writing or not self._queue:
            return
        assert self._journal is not None, "only a house with a journal has a queue"
        queue, self._queue = self._queue, []
        transitions: list[Transition] = []
        answers: list[tuple[Future[HoldemResponse], HoldemResponse]] = []
        for event, answer in queue:
            try:
                transition = self._handle(event)
            except Exception as error:  # the other requests are handled all the same
                if answer is None:
                    self._log.error("internal error", exc_info=error)
                elif not answer.done():
                    answer.set_exception(error)
                continue
            transitions.append(transition)
            if answer is not None:
                answers.append((answer, transition.answer))
        if not _entries_to_write(transitions):
            self._publish(*transitions)
            _resolve_answers(answers)
            return
        self._is_writing = True
        self._settled.clear()
        effects = [effect for transition in transitions for effect in transition.effects]
        promised = None if self._promises is None else self._promises.write(effects)
        if promised is None:
            self._write(transitions, answers)
        else:  # a hand that continues after a crash must have been promised before
            promised.add_done_callback(lambda _: self._write(transitions, answers))

    def _write(
        self, transitions: list[Transition], answers: list[tuple[Future[HoldemResponse], HoldemResponse]]
    ) -> None:
        assert self._journal is not None, "only a journal is written"
        writing = self._journal.write(_entries_to_write(transitions), _finished_hands(transitions))
        writing.add_done_callback(lambda done: self._on_written(done, transitions, answers))

    def _on_written(
        self,
        done: Future[None],
        transitions: list[Transition],
        answers: list[tuple[Future[HoldemResponse], HoldemResponse]],
    ) -> None:
        """Publish transitions that are durable; if the write failed, retry it when the store is up."""
        if done.cancelled():
            return  # the event loop is closing
        if (error := done.exception()) is None:
            self._complete(transitions, answers)
            return
        self._is_down = True
        self._down_reason = str(error)
        _resolve_answers([(answer, STORE_DOWN) for answer, _ in answers])
        _resolve_answers([(answer, STORE_DOWN) for _, answer in self._queue if answer is not None])
        self._queue.clear()
        self._settled.set()
        if isinstance(error, records.WriteRefused):
            self._mark_superseded(error)
            return
        self._log.error("store unavailable", reason=str(error))
        self._recovery_task = asyncio.get_running_loop().create_task(self._retry_write(transitions))

    def _complete(
        self, transitions: list[Transition], answers: list[tuple[Future[HoldemResponse], HoldemResponse]]
    ) -> None:
        assert self._journal is not None, "only a journal makes entries durable"
        self._journal.confirm_written(_entries_to_write(transitions))
        self._is_writing = False
        self._settled.set()
        self._publish(*transitions)
        _resolve_answers(answers)
        if self._queue:
            self._gather()

    def _suspend(self, reason: str) -> None:
        """Postpone all deadlines until the store is up, because players cannot act until then (holdem-3.17)."""
        if not self._is_down:
            self._is_down, self._down_reason = True, reason
            self._recovery_task = asyncio.get_running_loop().create_task(self._resume_when_up())

    async def _resume_when_up(self) -> None:
        """Wait until the store is up; then open turns get their full time."""
        assert self._journal is not None, "only a house with a journal is suspended"
        await self._journal.store.wait_until_up()
        self._is_down = False
        self._queue.insert(0, (HouseOpened(), None))
        self._process_queue()

    async def _retry_write(self, transitions: list[Transition]) -> None:
        """Write transitions when the store is up again; then open turns get their full time."""
        assert self._journal is not None, "only a journal is written again"
        entries = _entries_to_write(transitions)
        while True:
            await self._journal.store.wait_until_up()
            try:
                if not await self._journal.was_written(entries):
                    await self._journal.write(entries, _finished_hands(transitions))
                break
            except StoreUnavailable:
                continue
            except records.WriteRefused as error:
                self._mark_superseded(error)
                return
        self._log.info("store available again")
        self._is_down = False
        self._queue.insert(0, (HouseOpened(), None))
        self._complete(transitions, [])

    def _mark_superseded(self, error: records.WriteRefused) -> None:
        self.is_superseded = True
        self._down_reason = SUPERSEDED_MESSAGE
        self.views.notify_all()
        self._log.error(SUPERSEDED_MESSAGE, reason=str(error))


def _entries_to_write(transitions: Sequence[Transition]) -> list[HouseInput]:
    """The journal entries of the transitions that change the house."""
    return [transition.journal_entry for transition in transitions if transition.changes_state]


def _finished_hands(transitions: Sequence[Transition]) -> list[HandFinished]:
    """The hands that end in these transitions."""
    return [effect for transition in transitions for effect in transition.effects if type(effect) is HandFinished]


def _resolve_answers(answers: Sequence[tuple[Future[HoldemResponse], HoldemResponse]]) -> None:
    """Set the results of the futures that are still waiting."""
    for waiter, answer in answers:
        if not waiter.done():
            waiter.set_result(answer)
