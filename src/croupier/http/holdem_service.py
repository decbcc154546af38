"""The desk of a house that is asked over HTTP: it passes on what is asked, keeps the time, and the pages up to date."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.core.session import Changed, Effect, Event, Finished, Halted, Rang, Said, Say, Tap
from croupier.http.views import Pages, release
from croupier.logs import Log
from croupier.observers.counters import Counts
from croupier.observers.fan_out import Observers
from croupier.recording.holdem_journal import Journal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import BOUNDED, Heard
from croupier.rooms.holdem.wire import Answer, Dialect, Refused, Request
from croupier.store import records
from croupier.store.records import SUPERSEDED, StoreDown

DOWN: Final = Refused(
    503, "holdem-3.17", "found a store that cannot be written to; allowed: to come later, and see what was done"
)

TURNS: Final = 8
"""After so many turns of the loop at most what was asked is heard."""


class Opened(Struct, frozen=True):
    """The house is open again, with these settings if they are not as they were."""

    settings: Settings | None = None


class Course(Struct, frozen=True):
    """Something that the house has heard, and what it does about it."""

    heard: Heard
    event: Event[Request]
    effects: Sequence[Effect[Any]]

    @property
    def matters(self) -> bool:
        """Whether the house is another one now: all but a refusal, or a ring at which nothing was due, changes it.

        That it closes, or is open with other settings, is seen only in what it does later.
        """
        match self.effects:
            case [] | [Say(message=Refused())]:
                return self.heard.opened or self.heard.halted is not None
        return True

    @property
    def answer(self) -> Answer:
        """What whoever has asked is told."""
        for effect in self.effects:
            if type(effect) is Say:
                answer: Answer = effect.message
                return answer
        raise AssertionError(f"the house has no answer to {self.event}")


class Desk:
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
        taps: Sequence[Tap],
        counts: Counts,
        log: Log,
        journal: Journal | None = None,
        promises: Promises | None = None,
    ) -> None:
        self.house = house
        self.pages = Pages(house, dialect)
        self.clock = clock
        self.closing = False
        self._observers = Observers(taps, log, counts)
        self._counts = counts
        self._log = log
        self._journal = journal
        self._promises = promises
        self._questions = 0
        self._armed = inf
        self._timer: asyncio.TimerHandle | None = None
        self._asked: list[tuple[Event[Request] | Opened, Future[Answer] | None]] = []
        self._gathering = False
        self._writing = False
        self._down = False
        self._reason = ""
        self._watchers: list[Future[None]] = []
        self._revival: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """The house is open, again if it has a journal: open turns have their full time, and the room is its own.

        Raises StoreDown.
        """
        if self._journal is None:
            self._attend()
        else:
            settings = self._journal.settings
            self._asked.append((Opened(None if settings == self.house.settings else settings), None))
            self._go_on()
            await self.settle()

    @property
    def trouble(self) -> str | None:
        """Why nothing can be played now; None if it can."""
        if self._down:
            return self._reason
        return None if self._journal is None else self._journal.store.down

    # What is asked.

    @property
    def prompt(self) -> bool:
        """Whether everything is answered at once."""
        return self._journal is None

    @property
    def settled(self) -> bool:
        """Whether all that can be seen is durable."""
        return not self._writing

    @property
    def busy(self) -> bool:
        """Whether something has been asked that cannot be seen yet."""
        return self._writing or bool(self._asked)

    def watch(self) -> Future[None] | None:
        """What is done when all is settled, for a turn of the loop; None where that may take long."""
        if self._down:
            return None
        watcher: Future[None] = asyncio.get_running_loop().create_future()
        self._watchers.append(watcher)
        return watcher

    async def settle(self) -> None:
        """Wait until all that can be seen is durable; it is as long as the caller waits for nothing else.

        Raises StoreDown where that may take long.
        """
        while not self.settled:
            if (watcher := self.watch()) is None:
                raise StoreDown(DOWN.detail)
            await watcher

    def ask(self, request: Request) -> Answer:
        """What the house answers to a request of a user whose credentials were verified: only where it is prompt."""
        self._questions += 1
        course = self._hear(Said(self._questions, request))
        self._perform(course)
        return course.answer

    def put(self, request: Request) -> Future[Answer]:
        """The same, when it is durable: only where the house is not prompt."""
        answer: Future[Answer] = asyncio.get_running_loop().create_future()
        if self.trouble is not None:
            answer.set_result(DOWN)
            return answer
        self._questions += 1
        self._asked.append((Said(self._questions, request), answer))
        if not self._writing:
            self._gather()
        return answer

    async def answer(self, request: Request) -> Answer:
        """The same, prompt or not."""
        return self.ask(request) if self._journal is None else await self.put(request)

    def ring(self) -> None:
        """Let the house hear of the alarms that are due."""
        self._armed = inf
        while (alarm := self.house.alarm) is not None and alarm <= self.clock():
            if self._journal is not None:
                if (reason := self.trouble) is not None:
                    self._postpone(reason)
                else:
                    self._asked.append((Rang(), None))
                    self._go_on()
                return
            self._perform(self._hear(Rang()))
        self._attend()

    def halt(self, *, final: bool) -> None:
        """Tell the house that it closes. When that is final, nobody waits for news any more.

        With a journal nothing is ever final: a hand that is running then goes on when the house is opened again.
        """
        if self._journal is None:
            self._perform(self._hear(Halted(final)))
        elif not final:
            self._asked.append((Halted(final), None))
            self._go_on()
        if final:
            self.closing = True
            self.pages.tell()
            if self._timer is not None:
                self._timer.cancel()
            if self._revival is not None:
                self._revival.cancel()

    # What comes of it.

    def _hear(self, event: Event[Request] | Opened) -> Course:
        now = self.clock()
        match event:
            case Said(message=request):
                heard = Heard(now, said=request)
            case Opened(settings):
                heard, event = Heard(now, opened=True, settings=settings, rules=BOUNDED), Rang()
                return Course(heard, event, self.house.hear(heard))
            case Halted(final):
                heard = Heard(now, halted=final)
            case _:
                heard = Heard(now)
        return Course(heard, event, self.house.on(event, now))

    def _perform(self, *courses: Course) -> None:
        """Call the observers, all who wait for news, and the clock."""
        changed = []
        for course in courses:
            self._observers(course.event, course.effects, course.heard.now)
            for effect in course.effects:
                if type(effect) is Changed:
                    changed.append(effect.table)
                elif type(effect) is Finished:
                    self._counts.games += 1
        if changed:
            self.pages.moved(changed)
        self._attend()

    def _attend(self) -> None:
        """See to it that the house hears of its alarm in time."""
        alarm = self.house.alarm
        if alarm is None or alarm >= self._armed or self.closing:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._armed = alarm
        self._timer = asyncio.get_running_loop().call_later(alarm - self.clock(), self.ring)

    # The journal.

    def _gather(self) -> None:
        """Let the house go on as soon as a turn of the loop has brought nothing more."""
        if not self._gathering:
            self._gathering = True
            asyncio.get_running_loop().call_soon(self._gathered, len(self._asked), TURNS)

    def _gathered(self, before: int, turns: int) -> None:
        asked = len(self._asked)
        if asked > before and turns:
            asyncio.get_running_loop().call_soon(self._gathered, asked, turns - 1)
        else:
            self._gathering = False
            self._go_on()

    def _go_on(self) -> None:
        """Let the house hear all that was asked, and write it down, unless it is writing."""
        if self._writing or not self._asked:
            return
        assert self._journal is not None, "nothing is put off without a journal"
        asked, self._asked = self._asked, []
        courses: list[Course] = []
        answers: list[tuple[Future[Answer], Answer]] = []
        for event, answer in asked:
            try:
                course = self._hear(event)
            except Exception as error:  # the others are heard all the same
                if answer is None:
                    self._log.error("our own fault", exc_info=error)
                elif not answer.done():
                    answer.set_exception(error)
                continue
            courses.append(course)
            if answer is not None:
                answers.append((answer, course.answer))
        if not _facts(courses):
            self._perform(*courses)
            self._release()
            _tell(answers)
            return
        self._writing = True
        effects = [effect for course in courses for effect in course.effects]
        promised = None if self._promises is None else self._promises.keep(effects)
        if promised is None:
            self._write(courses, answers)
        else:  # a hand that goes on after a crash was promised before
            promised.add_done_callback(lambda _: self._write(courses, answers))

    def _write(self, courses: list[Course], answers: list[tuple[Future[Answer], Answer]]) -> None:
        assert self._journal is not None, "nothing is written without a journal"
        writing = self._journal.write(_facts(courses), _finished(courses))
        writing.add_done_callback(lambda done: self._written(done, courses, answers))

    def _written(self, done: Future[None], courses: list[Course], answers: list[tuple[Future[Answer], Answer]]) -> None:
        """It is durable: now everybody may know. Or it is not: then it is written as soon as that can be done."""
        if done.cancelled():
            return  # the loop ends
        if (error := done.exception()) is None:
            self._stand(courses, answers)
            return
        self._down = True
        self._reason = str(error)
        _tell([(answer, DOWN) for answer, _ in answers])
        _tell([(answer, DOWN) for _, answer in self._asked if answer is not None])
        self._asked.clear()
        self._release()
        if isinstance(error, records.Refused):
            self._supersede(error)
            return
        self._log.error("the store cannot be written to", reason=str(error))
        self._revival = asyncio.get_running_loop().create_task(self._revive(courses))

    def _stand(self, courses: list[Course], answers: list[tuple[Future[Answer], Answer]]) -> None:
        assert self._journal is not None, "nothing is durable without a journal"
        self._journal.settled(_facts(courses))
        self._writing = False
        self._perform(*courses)
        self._release()
        _tell(answers)
        if self._asked:
            self._gather()  # whoever was released has his turn first, and sees what is durable

    def _postpone(self, reason: str) -> None:
        """No turn ends while the store is down, for nobody can act then (holdem-3.17)."""
        if not self._down:
            self._down, self._reason = True, reason
            self._revival = asyncio.get_running_loop().create_task(self._reopen())

    async def _reopen(self) -> None:
        """When the store is there again, open turns have their full time."""
        assert self._journal is not None, "nothing is postponed without a journal"
        await self._journal.store.up()
        self._down = False
        self._asked.insert(0, (Opened(), None))
        self._go_on()

    async def _revive(self, courses: list[Course]) -> None:
        """Write as soon as the store is there again; open turns then have their full time."""
        assert self._journal is not None, "nothing is revived without a journal"
        heard = _facts(courses)
        while True:
            await self._journal.store.up()
            try:
                if not await self._journal.written(heard):
                    await self._journal.write(heard, _finished(courses))
                break
            except StoreDown:
                continue
            except records.Refused as error:
                self._supersede(error)
                return
        self._log.info("the store can be written to again")
        self._down = False
        self._asked.insert(0, (Opened(), None))
        self._stand(courses, [])

    def _supersede(self, error: records.Refused) -> None:
        self._reason = SUPERSEDED
        self._log.error(SUPERSEDED, reason=str(error))

    def _release(self) -> None:
        """Whoever waits for what is being written may look again."""
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            release(watcher)


def _facts(courses: Sequence[Course]) -> list[Heard]:
    """What is to be written down of this."""
    return [course.heard for course in courses if course.matters]


def _finished(courses: Sequence[Course]) -> list[Finished]:
    """The hands that are over by this."""
    return [effect for course in courses for effect in course.effects if type(effect) is Finished]


def _tell(answers: Sequence[tuple[Future[Answer], Answer]]) -> None:
    """Tell those who still wait for it."""
    for waiter, answer in answers:
        if not waiter.done():
            waiter.set_result(answer)
