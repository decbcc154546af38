"""Runs a hold'em house for HTTP: gathers its events, writes them ahead, keeps its deadlines and its views."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from croupier.core.histogram import Histogram
from croupier.core.logger import Logger
from croupier.core.session import Closing, Effect, Event, HandFinished, Observer, Received, Send, TimedOut
from croupier.http.holdem_answers import STORE_DOWN, Answered
from croupier.http.views import ViewCache
from croupier.net.event_loop import PromptFuture
from croupier.net.timer import DeadlineTimer
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut
from croupier.recording.holdem_journal import HoldemJournal, hand_record
from croupier.recording.journal import JournalBatch
from croupier.recording.promises import Promises
from croupier.recording.write_ahead import WriteAhead
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import RULES_LIMITED_GAMES, HouseInput
from croupier.rooms.holdem.table.presentation import ShownTable
from croupier.rooms.holdem.wire import Guid, HoldemRequest, HoldemResponse, RequestRefused
from croupier.store.records import StoreUnavailable

MAX_GATHERED_REQUESTS: Final = 16
"""The number of requests that are gathered at most while the store writes at once. In larger groups each would take
hardly less time, and the clients poll until they are answered."""


class HouseOpened(Struct, frozen=True):
    """The house is open again, with new settings if they have changed."""

    settings: Settings | None = None


class Transition(Struct):
    """An event, what the house has made of it, and the answer if it is a request. An `opening` comes as TimedOut.

    It arrived at the time `arrived` of the house and was handled at `now`; `journal_entry` is what has to be written,
    None if the event did not change the house. `response` is what the house has responded; `answer` is None until that
    may be known, and `waiter` is a future of it.
    """

    event: Event[HoldemRequest]
    arrived: float
    opening: HouseOpened | None = None
    now: float = 0.0
    effects: Sequence[Effect[Any]] = ()
    journal_entry: HouseInput | None = None
    response: HoldemResponse | None = None
    answer: HoldemResponse | None = None
    waiter: PromptFuture[HoldemResponse] | None = None

    def give(self, answer: HoldemResponse) -> None:
        """Give the answer, unless there is one already."""
        if self.answer is None:
            self.answer = answer
            if self.waiter is not None and not self.waiter.done():
                self.waiter.set_result(answer)

    def wait(self) -> PromptFuture[HoldemResponse]:
        """Return the future of the answer."""
        if self.waiter is None:
            self.waiter = PromptFuture(loop=asyncio.get_running_loop())
        return self.waiter


type HoldemBatch = JournalBatch[HouseInput, Sequence[Transition]]


class HoldemService:
    """A hold'em house with a clock, which returns the house's time in seconds.

    Observers are called with every event and its effects, and `views` show its changes, before the answer is given.
    With a journal, all of that waits until the event is durable: while a write is in progress, new requests are queued,
    and the views show the state before it. The queue is then handled and written as one batch. Requests that arrive in
    one turn of the event loop are gathered, too. If the store writes at once, at most MAX_GATHERED_REQUESTS are, and no
    request for the same game as the last one, because its players wait for each other. With `promises`, the dealer's
    promises are durable before a hand is. During an outage requests are refused (holdem-3.17).

    Several houses may share `views`. `on_shown` is called with each change of what they show of this house, and
    `on_superseded` when another server has taken over the house.
    """

    def __init__(
        self,
        house: House,
        clock: Callable[[], float],
        *,
        observers: Sequence[Observer],
        counts: RoomCounters,
        log: Logger,
        views: ViewCache,
        journal: HoldemJournal | None = None,
        promises: Promises | None = None,
        on_shown: Callable[[Mapping[Guid, ShownTable | None]], None] | None = None,
        on_superseded: Callable[[], None] | None = None,
    ) -> None:
        self.house = house
        self.views = views
        self.clock = clock
        self._observers = ObserverFanOut(observers, log, counts)
        self._counts = counts
        self._command_times = counts.command_times = counts.command_times or Histogram()  # of all houses of a room
        self._log = log
        self._journal = journal
        self._write_ahead = None if journal is None else WriteAhead(journal, self, log)
        self._promises = promises
        self._request_count = 0
        self._last_game: Guid | None = None
        self._timer = DeadlineTimer(clock, self.process_deadlines)
        self._queue: list[Transition] = []
        self._is_gathering = False
        self._is_released = False
        self._on_shown = on_shown
        self._on_superseded = on_superseded
        self.views.publish(house.take_changed_views())

    async def open(self) -> None:
        """Open the house; with a journal, continue where it ended. Turns that are open get their full time.

        Raises StoreUnavailable.
        """
        if self._journal is None or self._write_ahead is None:
            self._timer.set(self.house.deadline)
            return
        settings = self._journal.settings
        self._perform(TimedOut(), HouseOpened(None if settings == self.house.settings else settings))
        await self._write_ahead.settled()
        if self._write_ahead.trouble is not None:
            raise StoreUnavailable(self._write_ahead.trouble)

    @property
    def unavailable_reason(self) -> str | None:
        """Why games cannot be played now; None if they can."""
        if self._write_ahead is None or self._journal is None:
            return None
        return self._write_ahead.trouble or self._journal.store.outage

    @property
    def is_writing(self) -> bool:
        """Whether a write is in progress."""
        return self._write_ahead is not None and self._write_ahead.is_writing

    @property
    def is_outdated(self) -> bool:
        """Whether another server has taken over the games, so that the views are no longer those of the games."""
        return self._write_ahead is not None and self._write_ahead.is_superseded

    # Requests.

    def submit(self, request: HoldemRequest) -> Answered:
        """Handle an authenticated user's request: return the answer or, with a journal, a future for it.

        The views show what the request has changed before the answer is given.
        """
        self._request_count += 1
        transition = Transition(Received(self._request_count, request), self.clock())
        if self._write_ahead is None:
            self._handle(transition)
            self._publish([transition])
        elif self._is_released or self.unavailable_reason is not None:
            return STORE_DOWN
        else:
            self._queue.append(transition)
            is_next_of_game = self._last_game == (game := getattr(request, "game", None))
            self._last_game = game
            if self._write_ahead.is_prompt and (is_next_of_game or len(self._queue) == MAX_GATHERED_REQUESTS):
                self._flush()
            elif not self._write_ahead.is_writing:
                self._gather()
        return transition.wait() if transition.answer is None else transition.answer

    async def execute(self, request: HoldemRequest) -> HoldemResponse:
        """Like `submit`, for callers that can wait for the answer."""
        answer = self.submit(request)
        return await answer if isinstance(answer, Future) else answer

    def observe(self, observer: Observer) -> None:
        """Call an observer from now on."""
        self._observers.add(observer)

    def process_deadlines(self) -> None:
        """Deliver the deadlines that are due to the house."""
        self._timer.cancel()
        if self._is_released:
            return
        while (deadline := self.house.deadline) is not None and deadline <= self.clock():
            if self._write_ahead is not None:
                if (reason := self.unavailable_reason) is not None:
                    self._write_ahead.suspend(reason)  # players cannot act until the store is up (holdem-3.17)
                else:
                    self._perform(TimedOut())
                return
            self._perform(TimedOut())
        self._timer.set(self.house.deadline)

    def halt(self, *, final: bool) -> None:
        """Deliver Closing to the house.

        With a journal, a final halt voids nothing: a running hand continues when the house is opened again.
        """
        if self._write_ahead is None or not final:
            self._perform(Closing(final))
        if final:
            self._timer.stop()
            if self._write_ahead is not None:
                self._write_ahead.stop()

    async def finish(self) -> None:
        """Write what has been requested, and then nothing any more, so that another server can open the house."""
        assert self._write_ahead is not None, "only a house with a journal can be opened elsewhere"
        while self.unavailable_reason is None and (self._queue or self._write_ahead.is_writing):
            self._flush()
            await self._write_ahead.settled()
        self.abandon()

    def abandon(self) -> None:
        """Refuse all requests, and write and show nothing any more, because another server may have the house open.

        A request whose write has begun is answered as that ends.
        """
        self._is_released = True
        self._timer.stop()
        self._refuse_queue()
        if self._write_ahead is not None:
            self._write_ahead.stop()

    # Transitions.

    def _perform(self, event: Event[HoldemRequest], opening: HouseOpened | None = None) -> None:
        """Handle an event of our own now, or after the write in progress."""
        transition = Transition(event, self.clock(), opening)
        if self._write_ahead is None:
            self._handle(transition)
            self._publish([transition])
        else:
            self._queue.append(transition)
            self._flush()

    def _handle(self, transition: Transition) -> None:
        """Let the house handle an event."""
        now = transition.now = self.clock()
        event = transition.event
        match event:
            case Received(message=request):
                effects = self.house.on(event, now)
                sent = effects[-1]
                assert isinstance(sent, Send), "a request is answered after all other effects"
                transition.response = sent.message
                is_refused = len(effects) == 1 and isinstance(sent.message, RequestRefused)
                entry = None if is_refused else HouseInput(now, said=request)
            case _ if transition.opening is not None:
                settings = transition.opening.settings
                entry = HouseInput(now, opened=True, settings=settings, rules=RULES_LIMITED_GAMES)
                effects = self.house.apply(entry)
            case Closing(final):
                effects, entry = self.house.on(event, now), HouseInput(now, halted=final)
            case _:
                effects = self.house.on(event, now)
                entry = HouseInput(now) if effects else None
        transition.effects, transition.journal_entry = effects, entry

    def _publish(self, transitions: Sequence[Transition]) -> None:
        """Call the observers, show the current state of the house, which is durable, and give the answers."""
        for transition in transitions:
            if self._observers.observers:
                self._observers(transition.event, transition.effects, transition.now)
            for effect in transition.effects:
                if type(effect) is HandFinished:
                    self._counts.games += 1
        if not self._is_released:
            changes = self.house.take_changed_views()
            self.views.publish(changes)
            if self._on_shown is not None and changes:
                self._on_shown(changes)
            self._timer.set(self.house.deadline)
        now = self.clock()
        for transition in transitions:
            if transition.response is not None:
                self._command_times.observe(now - transition.arrived)
                transition.give(transition.response)

    # The queue. Only a house with a journal has one.

    def _gather(self) -> None:
        """Handle the queue in the next turn of the event loop, with the other requests of this turn."""
        if not self._is_gathering:
            self._is_gathering = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        assert self._write_ahead is not None, "only a house with a journal has a queue"
        self._is_gathering = False
        self._write_ahead.flush(at_once=True)

    # What the write-ahead asks of the room.

    def take_batch(self) -> HoldemBatch | None:
        """Let the house handle the queue; return what has to be written, None if that is nothing."""
        if self._is_gathering or not self._queue:
            return None
        queue, self._queue = self._queue, []
        transitions: list[Transition] = []
        for transition in queue:
            try:
                self._handle(transition)
            except Exception as error:  # the other requests are handled all the same
                if type(transition.event) is not Received:
                    self._log.error("internal error", exc_info=error)
                elif not transition.wait().done():
                    transition.wait().set_exception(error)
            else:
                transitions.append(transition)
        facts = [transition.journal_entry for transition in transitions if transition.journal_entry is not None]
        if not facts:
            self._publish(transitions)
            return None
        now = facts[-1].now
        effects = [effect for transition in transitions for effect in transition.effects]
        hands = [hand_record(effect, now) for effect in effects if type(effect) is HandFinished]
        promised = None if self._promises is None else self._promises.write(effects)
        return JournalBatch(facts, transitions, now, hands, promised)

    def release(self, batch: HoldemBatch) -> None:
        """Show what a batch has changed, and give its answers."""
        self._publish(batch.effects)

    def suspend(self, batch: HoldemBatch | None) -> None:
        """Refuse all requests that are not answered yet. What the batch has changed is shown later all the same."""
        self._refuse_queue()
        if batch is not None:
            _refuse(batch.effects)
        if self.is_outdated:
            self.views.notify_all()
            if self._on_superseded is not None:
                self._on_superseded()

    def _refuse_queue(self) -> None:
        queue, self._queue = self._queue, []
        _refuse(queue)

    def resume(self) -> None:
        """Open the house again: open turns get their full time."""
        self._queue.insert(0, Transition(TimedOut(), self.clock(), HouseOpened()))


def _refuse(transitions: Sequence[Transition]) -> None:
    """Refuse the requests that are not answered yet."""
    for transition in transitions:
        if type(transition.event) is Received:
            transition.give(STORE_DOWN)
