"""A tapped connection on which every request gets an answer, and what is certain where requests overlap."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Set
from typing import Any, ClassVar, Final, NamedTuple

from croupier.conformance.conversation import ConversationMonitor
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE, Referee, Verdict
from croupier.core.session import Peer

MAX_PENDING_REQUESTS: Final = 1000
"""A connection with more unanswered requests is no longer followed."""


class RequestTraffic:
    """Tracks overlapping requests. `pending` is the number of pending requests that may change something."""

    def __init__(self) -> None:
        self.pending = 0
        self._changes = 0

    def begin(self, *, is_change: bool) -> int | None:
        """Begin a request; return a ticket for `finish`, None if a pending request may change something."""
        was_quiet = not self.pending
        if is_change:
            self.pending += 1
            self._changes += 1
        return self._changes if was_quiet else None

    def finish(self, ticket: int | None, *, is_change: bool) -> bool:
        """Finish a request; return whether no other request that may change something overlapped."""
        is_certain = ticket == self._changes
        if is_change:
            self.pending -= 1
            self._changes += 1
        return is_certain


class FollowedGame[R: Referee[Any, Any]]:
    """A game that a referee follows while it is certain what was executed, and in which order; None otherwise.

    `games` counts the games that were followed.
    """

    def __init__(self, referee: R | None = None) -> None:
        self.referee = referee
        self.games = 0
        self.traffic = RequestTraffic()

    def stop_following(self) -> None:
        """Stop following after something unknown was executed."""
        self.referee = None


class PendingRequest[R, G: FollowedGame[Any]]:
    """A request without an answer, and the game that it is about, if any. `is_change`: it may change something.

    `is_certain`, once it is closed: its order is known in the game, or in other traffic if it is about no game.
    """

    def __init__(self, request: R, *, is_change: bool) -> None:
        self.request = request
        self.game: G | None = None
        self.is_change = is_change
        self.is_certain = True
        self._tickets: list[tuple[RequestTraffic, int | None]] = []

    def __str__(self) -> str:
        return f"{self.request}"

    def enter(self, traffic: RequestTraffic) -> None:
        """Begin the request in some traffic."""
        self._tickets.append((traffic, traffic.begin(is_change=self.is_change)))

    def enter_game(self, game: G) -> None:
        """Begin the request in a game."""
        self.game = game
        self.enter(game.traffic)

    def close(self) -> None:
        """Finish the request."""
        for traffic, ticket in self._tickets:
            self.is_certain = traffic.finish(ticket, is_change=self.is_change)
        self._tickets.clear()

    def abandon(self) -> None:
        """Finish a request that will not be answered: whether it was executed is unknown."""
        self.close()
        if self.game is not None and self.is_change:
            self.game.stop_following()


class Departure(NamedTuple):
    """A violation by one side. If it is tolerated, it counts only in strict conversations."""

    side: Peer
    violation: Violation
    is_tolerated: bool = False


class Exchange[P: PendingRequest[Any, Any]](ConversationMonitor):
    """A connection on which requests are answered in order; an answer may take `answer_timeout` seconds.

    `SILENCE_CLAUSE` is the clause that an answer comes, `END_CLAUSE` the one that it comes before the end. A room reads
    messages, and reports requests by `_ask` and answers by `_take_answered`.
    """

    is_text = True
    SILENCE_CLAUSE: ClassVar[str]
    END_CLAUSE: ClassVar[str]

    def __init__(self, answer_timeout: float, *, strict: bool) -> None:
        super().__init__()
        self._strict = strict
        self._answer_timeout = answer_timeout
        self._tolerated: dict[Peer, set[str]] = {CLIENT: set(), HOUSE: set()}
        self._pending: deque[P] = deque()
        self._deadline: float | None = None
        self._is_over = False

    @property
    def deadline(self) -> float | None:
        """When a missing answer becomes a fault."""
        return None if self._is_over or self._client_input_ended else self._deadline

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._tolerated[side]

    @abstractmethod
    def _extra_seconds(self, pending: P) -> float | None:
        """How long the answer to the first request may be delayed on purpose; None if it need not come at all."""

    @abstractmethod
    def _may_end(self) -> bool:
        """Whether the house may close the connection although it has not answered all requests."""

    def _ask(self, pending: P, now: float) -> None:
        """Add a request."""
        self._pending.append(pending)
        if len(self._pending) == 1:
            self._start_clock(now)
        elif len(self._pending) > MAX_PENDING_REQUESTS:
            self._end()

    def _take_answered(self, now: float) -> P | None:
        """Return the request to which an answer has arrived, None if there is none."""
        pending = self._pending.popleft() if self._pending else None
        self._start_clock(now)
        return pending

    def _start_clock(self, now: float) -> None:
        """Set the deadline of the next answer."""
        seconds = self._extra_seconds(self._pending[0]) if self._pending else None
        self._deadline = None if seconds is None else now + self._answer_timeout + seconds

    def _add_departures(self, game: FollowedGame[Any] | None, departures: Iterable[Departure]) -> None:
        """Add violations that the last line shows, and count the games that end or begin with it."""
        before = 0 if game is None else game.games
        for departure in departures:
            self._add_departure(departure)
        self.games += 0 if game is None else game.games - before

    def _add_departure(self, departure: Departure) -> None:
        """Add a violation that the last line shows."""
        if departure.is_tolerated and not self._strict:
            self._tolerated[departure.side].add(departure.violation.clause)
        else:
            self._add_fault(Verdict(departure.side, departure.violation))

    def _accuse_house(self, clause: str, kind: FoundKind, found: str) -> None:
        """Add a fault of the house, which has not answered the first request."""
        allowed = f"the answer to {self._pending[0]}"
        self._add_fault(Verdict(HOUSE, Violation(clause, found, allowed, kind=kind)))

    def _on_timeout(self, now: float) -> None:
        if self._deadline is not None and self._deadline <= now:
            self._deadline = None
            self._accuse_house(self.SILENCE_CLAUSE, FoundKind.SILENCE, "silence")

    def _on_disconnect(self, side: Peer, now: float) -> None:  # noqa: ARG002 -- needed by others
        is_excused = self._is_over or self._client_input_ended or self.is_house_cut
        if side == HOUSE and self._pending and not (is_excused or self._may_end()):
            self._accuse_house(self.END_CLAUSE, FoundKind.CLOSED, "the end of the connection")
        self._end()

    def _end(self) -> None:
        """Stop following this connection."""
        self._is_over = True
        self._close_pending()

    def _close_pending(self) -> None:
        while self._pending:
            self._pending.popleft().abandon()
