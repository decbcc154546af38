"""Tests a server of hold'em: every case is a visit of users who ask, and of what they are answered."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from random import Random
from time import monotonic
from typing import Any, Final

from croupier.conformance.case import Case, clause_id
from croupier.conformance.conversation import Line
from croupier.conformance.holdem.cases import ROOM, Deed, ServerCase, from_papers
from croupier.conformance.holdem.causes import cause
from croupier.conformance.holdem.context import NOBODY, Visit
from croupier.conformance.holdem.dialects import Habit, named
from croupier.conformance.holdem.endpoint import WINDOW, Server
from croupier.conformance.holdem.framing import DELIVERIES
from croupier.conformance.holdem.handwritten import DEEDS, SLOW, now_there
from croupier.conformance.holdem.multi_hand import HSPE_GO, STORIES
from croupier.conformance.holdem.requests import Question, Silent, Unreadable
from croupier.conformance.holdem.schema import seconds_left
from croupier.conformance.holdem.shrink import SHOWN, told
from croupier.conformance.holdem.tolerated import Broken, Departure, Unshown, gravest
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.holdem.walks import WALKED, Walks
from croupier.conformance.results import Failure, Outcome, Result
from croupier.rooms.holdem.wire import FOLD, Dialect

ANSWER: Final = 2.0
LAST: Final = 8.0
"""An answer that takes more seconds does not come; so many more when a case is tried for the last time."""

WAITING: Final = 60.0
"""After so many seconds of waiting in vain no case is tried once more for that."""

FIRST: Final = 0.6
SILENT: Final = 0.05
"""So long the first word of a server is waited for before the first case, and in it; and in all that follow, if it has
not come in `LAST` seconds either.
"""

LEARNING: Final = 2
"""So often it is tried to find out what a server plays for."""


def server_cases(room: Any = None) -> tuple[ServerCase, ...]:  # noqa: ARG001 -- every room is asked so
    """All cases for servers, in the order of their clauses."""
    deeds = [_deed(told) for told in (*DELIVERIES, *DEEDS)]
    deeds += [_deed(told, counted=True) for told in STORIES]
    deeds += [_deed(told, dialect="hspe-go") for told in HSPE_GO]
    slow = _deed(SLOW, patience=WINDOW)
    walked = [
        ServerCase(
            id=clause_id(ROOM, name, "played"), title=title, clause=name, play=_nothing, own=(name,), walked=True
        )
        for name, title in WALKED.items()
    ]
    return tuple(sorted((*from_papers(), *deeds, slow, *walked), key=_order))


def _order(case: Case) -> tuple[int, int, str]:
    section, number = case.section.split(".")
    return int(section), int(number), case.id


def _deed(
    told: Deed,
    *,
    patience: float = 0.0,
    dialect: Dialect | None = None,
    counted: bool = False,
) -> ServerCase:
    clause, slug, title, play, more = told
    return ServerCase(
        id=clause_id(ROOM, clause, slug),
        title=title,
        clause=clause,
        play=play,
        own=(clause, *more),
        patience=patience,
        dialect=dialect,
        counted=counted,
    )


async def _nothing(visit: Visit) -> None:
    """What is walked needs no visit of its own."""


def untestable(room: Any) -> Mapping[str, str]:  # noqa: ARG001 -- every room is asked so
    """The clauses that no server can be tested with, each with the reason."""
    return UNTESTABLE


def dialect(cause: str) -> Habit | None:
    """The habit that a cause names, if all that the server answers can be read by it."""
    return named(cause)


async def check_server(
    room: Any,  # noqa: ARG001 -- every room is checked so
    host: str,
    port: int,
    *,
    cases: Sequence[Case],
    options: Any = None,
    strict: bool = False,
    seed: int = 1,
    timeout: float = 30.0,
    max_failures: int | None = None,
    told: Callable[[Result], None] = lambda _: None,
    spelling: Habit | None = None,
) -> tuple[Result, ...]:
    """Play cases against a server, one after another; the one that lets time pass, beside them.

    `options.dialect` is what the server is said to speak. `timeout` is how many seconds a case may take. Results are in
    the order of the cases, and `told` hears of each when it is there; after `max_failures` the rest is left out. What
    the server answers is read by the `spelling`, if there is one. Raises ConnectionError where nobody listens.
    """
    dialect: Dialect = getattr(options, "dialect", "readme")
    if spelling is not None and spelling.dialect is not None:
        dialect = spelling.dialect
    server = Server(host, port, dialect, min(ANSWER, timeout / 2), spelling)
    await _reached(server)
    run = Run(server, Random(seed), strict=strict, timeout=timeout, told=told)  # noqa: S311 -- it has to be repeatable
    return await run.play([case for case in cases if isinstance(case, ServerCase)], max_failures)


async def _reached(server: Server) -> None:
    """Whether there is anybody to be tested. Raises ConnectionError."""
    caller = server.caller()
    try:
        await caller.say(b"")
    except OSError as error:
        raise ConnectionError(f"found nobody at {caller.host} ({error}); allowed: a server that listens") from None
    finally:
        await caller.hang_up()


class Run:
    """One run of the cases for servers."""

    def __init__(
        self, server: Server, luck: Random, *, strict: bool, timeout: float, told: Callable[[Result], None]
    ) -> None:
        self.server = server
        self.walks = Walks(server, luck, timeout)
        self._strict = strict
        self._timeout = timeout
        self._told = told
        self._learned = False
        self._waited = 0.0

    async def play(self, cases: Sequence[ServerCase], max_failures: int | None) -> tuple[Result, ...]:
        """The results of cases."""
        found: dict[str, Result] = {}
        beside: list[asyncio.Task[Result]] = []
        first_word = asyncio.create_task(self._first_word())
        await asyncio.wait({first_word}, timeout=FIRST)
        if not self.server.heard:
            self.server.patience = min(FIRST, self._timeout / 2)
        scripted = [case for case in cases if not case.patience and not case.walked]
        first = [case for case in scripted if case.empty]
        rest = [case for case in scripted if not case.empty] + [case for case in cases if case.walked]
        slow = [case for case in cases if case.patience]
        try:
            for number, case in enumerate((*first, *rest, *slow)):
                if number == len(first) and self.server.opens:  # who waits has a game, so that an empty one may go
                    beside += [asyncio.create_task(self._tell(case)) for case in slow]
                if case in slow and beside:
                    continue
                result = await self._tell(case)
                found[result.case] = result
                if max_failures is not None and _failures(found.values()) >= max_failures:
                    break
                if not (self.server.heard or result.good):
                    if await first_word:  # it is only slow to begin
                        found[result.case] = await self._tell(case)
                    else:
                        self.server.patience = min(SILENT, self._timeout / 2)
            else:
                found |= {result.case: result for result in await asyncio.gather(*beside)}
        finally:
            for task in (first_word, *beside):
                task.cancel()
            await asyncio.gather(first_word, *beside, return_exceptions=True)
        found |= {task.result().case: task.result() for task in beside if task.done() and not task.cancelled()}
        return tuple(found[case.id] for case in cases if case.id in found)

    async def _first_word(self) -> bool:
        """Wait until the server says its first word; whether it has."""
        caller = self.server.caller()
        try:
            await caller.ask(Question("GET", "/games/"), patience=min(LAST, self._timeout / 2))
        except Silent:
            return self.server.heard
        except (Unreadable, OSError):  # that is a word, too
            pass
        finally:
            caller.break_off()
        self.server.heard = True
        return True

    async def _learn(self) -> None:
        """Find out what is played for, and whether games can be made, so that some can be played beside others."""
        self._learned = True
        self.server.patience = min(ANSWER, self._timeout / 2)
        for _ in range(LEARNING):
            visit = Visit(self.server)
            self.server.opens = True
            try:
                game = await visit.seat("ann", "bob")
                with suppress(Broken):
                    await self._look_round(visit, game)
            except (Broken, Unshown, OSError):
                self.server.opens = False
            finally:
                await self._closed(visit)
            if not visit.silent:
                break

    async def _look_round(self, visit: Visit, game: str) -> None:
        """Look at the first hand of a game, and end it. Raises Broken and OSError."""
        server = self.server
        answer = await visit.ask(NOBODY, "GET", f"/games/{game}")
        visit.succeeded(answer, "holdem-5.2", 200)
        shown = visit.read(answer)
        bets = sorted(one.bet_so_far for one in shown.table)
        if len(bets) == 2 and 0 < bets[0] < bets[1]:
            server.blinds = (bets[0], bets[1])
            server.stack = max(one.wealth + one.bet_so_far for one in shown.table)
        left = seconds_left(shown.turn.expiry, now_there(answer))
        server.window = left if left is not None and left > 1 else WINDOW
        if role := visit.turn(shown):
            await visit.act(role, game, {"action": FOLD})
        await visit.games()

    async def _tell(self, case: ServerCase) -> Result:
        result = await self._result(case)
        self._told(result)
        return result

    async def _result(self, case: ServerCase) -> Result:
        began = monotonic()
        if case.dialect is not None and case.dialect != self.server.dialect:
            return _skipped(case, f"it is about dialect {case.dialect}")
        if case.counted and not self.server.usual:
            small, big = self.server.blinds
            return _skipped(
                case, f"it is about blinds of 10/20 and 10000 chips; here are {small}/{big} and {self.server.stack}"
            )
        if case.walked:
            return await self._walked(case)
        if self.server.heard and not self._learned:
            await self._learn()
        visit, own, reason = await self._visited(case)
        if visit.silent and self.server.heard and self._waited < WAITING:
            if not self._learned:
                await self._learn()
            since = monotonic()
            self.server.patience = min(LAST, self._timeout / 2)
            visit, own, reason = await self._visited(case)
            if visit.silent:  # else it is slow, and is waited for from now on
                self._waited += monotonic() - since
                self.server.patience = min(ANSWER, self._timeout / 2)
        elif visit.overtaken and own and not case.patience:
            visit, own, reason = await self._visited(case)
        if visit.overtaken and not visit.silent and not case.patience:
            own, reason = [], "its answers take so long that turns may have ended by themselves"
        worst = gravest(own, own=case.own[:1])
        lines = visit.lines[max(0, worst.lines - SHOWN) : worst.lines] if worst is not None else ()
        return self._judged(case, lines, worst, reason, began)

    async def _walked(self, case: ServerCase) -> Result:
        """What walks tell about a clause, in a dialogue that is as short as can be found."""
        began = monotonic()
        traces, reason = await self.walks.found(case.clause)
        worst = gravest([trace.departure for trace in traces], own=case.own)
        if worst is None:
            return self._judged(case, (), None, reason, began)
        trace = next(trace for trace in traces if trace.departure is worst)
        if worst.outcome is Outcome.FAIL:
            trace = await self.walks.shortened(trace)
        return self._judged(case, told(trace.lines), trace.departure, "", began)

    async def _visited(self, case: ServerCase) -> tuple[Visit, Sequence[Departure], str]:
        """A visit for a case: what departed that the case is about, or why it could not be shown."""
        visit = Visit(self.server, self._timeout)
        reason = ""
        broken = False
        found: list[Departure] = []
        try:
            async with asyncio.timeout(self._timeout):
                await case.play(visit)
        except Broken:
            broken = True
        except Unshown as unshown:
            reason = str(unshown)
        except TimeoutError:
            reason = f"it takes longer than the timeout of {self._timeout:g} s"
        except OSError as error:
            visit.departs("holdem-1.8", "a server that goes on", f"none: {error}", Outcome.FAIL)
            broken = True
        finally:
            found += visit.departures  # what goes wrong in leaving is not what the case is about
            await self._closed(visit)
        own = [departure for departure in found if departure.clause in case.own]
        if broken and not own:
            own = [departure for departure in found if departure.lines == found[-1].lines]
        return visit, [_opened(departure) for departure in own] if case.open else own, reason

    async def _closed(self, visit: Visit) -> None:
        try:
            async with asyncio.timeout(self.server.patience):
                await visit.close()
        except (TimeoutError, Broken, OSError):
            pass

    def _judged(
        self, case: ServerCase, lines: Sequence[Line], worst: Departure | None, reason: str, began: float
    ) -> Result:
        """What came of a case: what departed, if anything did, in these lines; or why nothing is known."""
        seconds = monotonic() - began
        if worst is None and reason:
            return _skipped(case, reason, seconds)
        if worst is None:
            return Result(case.id, case.title, case.clause, Outcome.PASS, seconds=seconds)
        outcome = worst.outcome
        if self.server.having.lacks(worst, lines):
            outcome = Outcome.UNIMPLEMENTED
        elif outcome is Outcome.NON_STRICT and self._strict:
            outcome = Outcome.FAIL
        failure = None
        if outcome is Outcome.FAIL or worst.outcome is Outcome.FAIL:
            failure = Failure(worst.clause, worst.expected, worst.actual, worst.wanted, worst.got, self._cause(worst))
        return Result(
            case.id,
            case.title,
            case.clause,
            outcome,
            "" if failure else f"expected {worst.expected}; found {worst.actual}",
            failure,
            tuple(lines),
            seconds,
            addition=worst.outcome is Outcome.CHOICE,
        )

    def _cause(self, departure: Departure) -> str:
        return cause(departure, go=self.server.having.go and self.server.dialect == "readme")


def _opened(departure: Departure) -> Departure:
    """A departure where the document is silent."""
    if departure.outcome is not Outcome.FAIL or departure.clause == "holdem-1.8":
        return departure
    lines = departure.lines
    return Departure(departure.clause, Outcome.CHOICE, departure.expected, departure.actual, lines=lines)


def _skipped(case: ServerCase, why: str, seconds: float = 0.0) -> Result:
    return Result(case.id, case.title, case.clause, Outcome.SKIP, why, seconds=seconds)


def _failures(results: Iterable[Result]) -> int:
    return sum(not result.good for result in results)
