"""Overhears a connection between a client and a house of hold'em, and judges both."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.connection_log import Account
from croupier.conformance.proxy.follow_exchange import Exchanges, Found, Pending, shown
from croupier.conformance.proxy.follow_tables import Table
from croupier.conformance.proxy.http_reader import Answered, Answers, Part, Requests, Unread
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

DELIVERY: Final = "holdem-1.8"
"""What is asked is answered, one after another."""

MOST: Final = 1000
"""With so many requests that are not answered yet nothing is followed any more."""


class Exchange(Account):
    """One connection; `exchanges` knows what all of them have told. `patience` is how long an answer may take, in s."""

    def __init__(self, exchanges: Exchanges, patience: float = 5.0, *, strict: bool = False) -> None:
        super().__init__(strict=strict)
        self._exchanges = exchanges
        self._patience = patience
        self._requests = Requests()
        self._answers = Answers()
        self._pending: deque[Pending] = deque()
        self._due: float | None = None
        self._answered = 0
        self._over = False
        self._quiet = False

    @property
    def alarm(self) -> float | None:
        """When a silence of the house becomes a fault."""
        return None if self._over or self._quiet else self._due

    def heard(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes."""
        before = len(self.faults)
        try:
            if side == CLIENT:
                self._asks(data, now)
            else:
                self._answer(data, now)
        except Unread as error:
            violation = Violation("holdem-1.1", f"what is no HTTP/1.1 ({error})", "HTTP/1.1")
            self.say(side, violation, now)
            self.blame(side, violation)
            self._end()
        if self._requests.deaf or len(self._pending) > MOST:
            self._answers.deaf = True
            self._end()
        return self.since(before)

    def _asks(self, data: bytes, now: float) -> None:
        if self._over:
            return
        for asked in self._requests.feed(data, now):
            self.say(CLIENT, asked, now)
            self._answers.asked.append(asked)
            self._pending.append(self._exchanges.asked(asked))
            if len(self._pending) == 1:
                self._wait(now)

    def _answer(self, data: bytes, now: float) -> None:
        if self._over:
            return
        for answer in self._answers.feed(data, now):
            self._take(answer, now)
        if self._due is not None:
            self._wait(now)

    def _take(self, answer: Answered | Part, now: float) -> None:
        told = replace(answer, told=shown(answer, self._exchanges.dialect))
        self.say(HOUSE, told, now)
        if isinstance(answer, Part):
            if self._pending:
                first = self._pending[0]
                self._blame(first.table, self._exchanges.went_on(first, answer, self.depart))
            return
        if not self._pending:
            if answer.status != 408:  # whoever has asked for nothing may be told that he was too slow
                self.blame(HOUSE, Violation(DELIVERY, f"{answer.status} to nothing", "answers to what is asked"))
            return
        self._answered += 1
        pending = self._pending.popleft()
        self._blame(pending.table, self._exchanges.answered(pending, answer, self.depart))
        self._due = None
        if self._pending:
            self._wait(now)

    def _wait(self, now: float) -> None:
        """The house has so long from now on for the answer that is due."""
        asked = self._pending[0].asked if self._pending else None
        if asked is None:
            self._due = None
        elif asked.wait is None:
            self._due = None if self._answers.headed else now + self._patience
        else:
            self._due = now + self._patience + asked.wait

    def _blame(self, table: Table | None, found: Iterable[Found]) -> None:
        """Take in what is wrong, and count the hands that are seen to have begun."""
        hands = 0 if table is None else table.hands
        for side, violation in found:
            self.blame(side, violation)
        self.games += 0 if table is None else table.hands - hands

    def ceased(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end says no more."""
        if side == HOUSE:
            return self.left(HOUSE, now)
        self._quiet = True
        return ()

    def left(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end is gone."""
        before = len(self.faults)
        if side == HOUSE and not self._over:
            for answer in self._answers.end(now):
                self._take(answer, now)
            # A server may end a connection on which nothing is going on, whatever has just been asked.
            endless = bool(self._pending) and self._pending[0].asked.wait is None
            if self._pending and not self._quiet and not endless and (self._answers.begun or not self._answered):
                self.blame(HOUSE, Violation(DELIVERY, "the end of the connection", f"the answer to {self._first}"))
        self._end()
        return self.since(before)

    def rang(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        before = len(self.faults)
        if self._due is not None and self._due <= now:
            self._due = None
            self.blame(HOUSE, Violation(DELIVERY, "silence", f"the answer to {self._first}"))
        return self.since(before)

    @property
    def _first(self) -> str:
        asked = self._pending[0].asked
        return f"{asked.method} {asked.path}"

    def _end(self) -> None:
        """Nothing more is followed on this connection."""
        self._over = True
        for pending in self._pending:
            pending.break_off()
        self._pending.clear()
        self._answers.asked.clear()

    def rest(self, side: Peer) -> bytes:
        """The beginning of what is no whole request, if there is one."""
        return self._requests.rest if side == CLIENT else b""
