"""The house of hold'em: all its tables, who may do what at them, and when somebody's time is over.

See docs/protocols/holdem.md, 3, 4, 8 and 9. Whoever asks has been let in by the shell: a request names its user.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Final
from uuid import UUID

from croupier.core.dealer import Dealer
from croupier.core.session import Changed, Effect, Event, Halted, Rang, Said, Say
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import BOUNDED, Heard, KeptHouse, KeptTable
from croupier.rooms.holdem.table.register import Register
from croupier.rooms.holdem.table.seats import Sitter
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACTED,
    FOLD,
    GONE,
    Act,
    Acted,
    Answer,
    Close,
    Dialect,
    Guid,
    Join,
    Made,
    Open,
    Queued,
    Refused,
    Request,
)

type Effects = list[Effect[Answer]]

CLOSING: Final = Refused(503, "holdem-3.15", "found a server that is about to stop; allowed: to finish what is running")

OUT_OF_TURN: Final[Mapping[Dialect, tuple[int, str]]] = {"readme": (403, "holdem-4.13"), "hspe-go": (409, "holdem-7.4")}
"""How an act is refused that is not in its player's turn."""


class House:
    """A session whose peers are requests: what is Said by one is answered with one Say to it, after the facts.

    `dealers` gives the dealer of the n-th hand of the house. All GUIDs follow from the `secret`, so that nobody can
    guess them and a house that is opened again has the same. `epoch` is the time on the wall, in seconds since 1970,
    at which `now` was 0, and `now` the time at which the house is made; without it the first game does not expire
    before somebody has joined it. `alarm` may ring too early, as that of a hall. Raises ValueError on settings that
    make no sense.
    """

    def __init__(
        self,
        settings: Settings,
        dealers: Callable[[int], Dealer],
        secret: bytes,
        epoch: float = 0.0,
        now: float | None = None,
    ) -> None:
        settings.check()
        self.alarm: float | None = None
        self.settings = settings
        self._dealers = dealers
        self._secret = secret
        self._epoch = epoch
        self._deals = 0
        self._closing = False
        self._rules = BOUNDED
        self._made = 0
        self._guids: dict[str, Guid] = {}
        self._register = Register()
        self._spare: Table | None = None  # nobody has joined it in time, but it has the only free seat
        self._due: dict[Guid, float] = {}  # when a table will be looked at next
        self._alarms: list[tuple[float, Guid]] = []
        first = self._open()
        if now is not None:
            self._let_expire(first, now)

    def guid(self, user: str) -> Guid:
        """The GUID of a user, which is that of his players, too (holdem-2.3)."""
        guid = self._guids.get(user)
        if guid is None:
            guid = self._guids[user] = self._derive(f"user/{user}")
        return guid

    def kept(self) -> bytes:
        """All that there is to know about the house, but for its secret and its dealers, as JSON."""
        tables = tuple(table.kept() for table in self.games())
        kept = KeptHouse(settings=self.settings, deals=self._deals, made=self._made, tables=tables, rules=self._rules)
        return kept.to_json()

    def restore(self, data: bytes) -> None:
        """Go on where a house with the same secret and dealers was, which is kept so. Raises ValueError."""
        kept = KeptHouse.from_json(data)
        self.settings = kept.settings
        self._rules = kept.rules
        self._deals, self._made = kept.deals, kept.made
        self._register.clear()
        self._spare = None
        self._silence()
        for place, written in enumerate(kept.tables, start=1):
            one = KeptTable.from_json(bytes(written))
            table = self._table(one.guid)
            table.restore(one, self._dealers)
            table.number = one.number or place
            self._register.add(table)
            self._watch(table)

    def hear(self, heard: Heard) -> Sequence[Effect[Answer]]:
        """What the house does about what was heard before it was interrupted, or about its opening."""
        if heard.opened:
            self._rules = heard.rules
            return self._resume(heard.settings or self.settings, heard.now)
        if heard.said is not None:
            return self.on(Said(0, heard.said), heard.now)
        return self.on(Rang() if heard.halted is None else Halted(heard.halted), heard.now)

    def _resume(self, settings: Settings, now: float) -> Effects:
        """The house is open again: open turns have their full time, and where no hand is running one may begin."""
        effects: Effects = []
        self.settings = settings
        self._closing = False
        self._spare = None
        self._silence()
        for table in self.games():
            table.resume(settings, now)
            table.expires = None
            self._hear(table, effects, now)
        return effects

    @property
    def playing(self) -> bool:
        """Whether a hand is running anywhere."""
        return any(table.playing for table in self.games())

    def games(self) -> Sequence[Table]:
        """All tables, in the order in which they were made."""
        return self._register.tables

    def game(self, guid: Guid) -> Table | None:
        """The table of a game, None if there is none."""
        return self._register.get(guid)

    @property
    def users(self) -> Sequence[str]:
        """All users who are in a game."""
        return self._register.users

    def plays(self, user: str) -> bool:
        """Whether a user is in any game."""
        return self._register.count(user) > 0

    def chosen(self, user: str | None) -> Sequence[Table]:
        """The games that a user is shown who asks for all: as many as are listed at once (holdem-9.12).

        First come those that the user is in, then those with a free seat, then others.
        """
        return self._register.chosen(user, self.settings.listed)

    def after(self, number: int, limit: int | None = None) -> tuple[Sequence[Table], bool]:
        """At most `limit` games that were made after the one of this number, and whether there are more (holdem-9.12).

        There are never more than are listed at once.
        """
        most = self.settings.listed
        return self._register.after(number, most if limit is None else min(limit, most))

    def on(self, event: Event[Request], now: float) -> Sequence[Effect[Answer]]:
        """What the house does about a request, a ring, or the end. Whose time is over is removed before all else."""
        effects: Effects = []
        if self.alarm is not None and now >= self.alarm:
            self._ring(now, effects)
        if type(event) is Said:
            answer = self._answer(event.message, now, effects)
            effects.append(Say(event.peer, answer))
            return effects
        match event:
            case Halted(final):
                self._closing = True
                for table in self.games():
                    table.halt(now, final=final)
                    self._hear(table, effects, now)
            case _:
                assert isinstance(event, Rang), f"{event} is not for a house that is asked over HTTP"
        return effects

    # Requests.

    def _answer(self, request: Request, now: float, effects: Effects) -> Answer:
        """Do what a user asks, or refuse it for the first reason that applies (holdem-8.2)."""
        if isinstance(request, Open):
            return self._opened(request.user, now, effects)
        if isinstance(request, Close):
            return self._closed(request.user, now, effects)
        table = self._register.get(request.game)
        if table is None:
            return Refused(404, "holdem-8.4", f"found the game {request.game[:100]!r}; allowed: one of GET /games/")
        if isinstance(request, Join):
            return self._joined(table, request.user, now, effects)
        sitter = table.called(request.player)
        if sitter is None:
            return Refused(404, "holdem-8.5", f"found the player {request.player[:100]!r}; allowed: one of this game")
        if sitter.user != request.user:
            return Refused(403, "holdem-8.8", "found the player of somebody else; allowed: one's own")
        if isinstance(request, Act):
            return self._acted(table, sitter, request, now, effects)
        table.leave(sitter, now)
        self._hear(table, effects, now, left=True)
        return GONE

    def _acted(self, table: Table, sitter: Sitter, act: Act, now: float, effects: Effects) -> Answer:
        if not table.waits_for(sitter):
            status, clause = OUT_OF_TURN[self.settings.dialect]
            return Refused(status, clause, "found an act out of turn; allowed: one in one's turn")
        told = ""
        if act.action == FOLD:
            table.fold(now)
        else:
            told = table.bet(act.amount, now)
        self._hear(table, effects, now)
        return Acted(told) if told else ACTED

    def _opened(self, user: str, now: float, effects: Effects) -> Answer:
        if self._closing:
            return CLOSING
        if (refused := self._crowded(user)) is not None:
            return refused
        if len(self._register) >= self.settings.games:
            told = f"found {len(self._register)} games; allowed: {self.settings.games}"
            return Refused(503, "holdem-3.3", told)
        table = self._open()
        guid = self.guid(user)
        table.join(user, guid, now)
        self._hear(table, effects, now)
        return Made(guid, table.guid, opened=True)

    def _joined(self, table: Table, user: str, now: float, effects: Effects) -> Answer:
        if table.seat_of(user) is not None:
            return Refused(409, "holdem-3.7", "found a player of this game; allowed: who is not in it")
        if self._closing:
            return CLOSING
        if (refused := self._crowded(user)) is not None:
            return refused
        guid = self.guid(user)
        seated = table.join(user, guid, now)
        self._hear(table, effects, now)
        return Made(guid, table.guid) if seated else Queued(guid, table.guid)

    def _crowded(self, user: str) -> Refused | None:
        """The refusal of another game to a user who is in as many as are allowed (holdem-9.11)."""
        found, allowed = self._register.count(user), self.settings.games_per_user
        if self._rules < BOUNDED or not allowed or found < allowed:
            return None
        return Refused(403, "holdem-9.11", f"found a user in {found} games; allowed: {allowed} at the same time")

    def _closed(self, user: str, now: float, effects: Effects) -> Answer:
        """The account of a user is closed: leave every game (holdem-9.13)."""
        for table in self._register.tables_of(user):
            sitter = table.called(self.guid(user))
            assert sitter is not None, "the register knows who is in which game"
            table.leave(sitter, now)
            self._hear(table, effects, now, left=True)
        self._guids.pop(user, None)
        return GONE

    # Tables.

    def _open(self) -> Table:
        """Make a table."""
        self._made += 1
        table = self._table(self._derive(f"game/{self._made}"))
        table.number = self._made
        self._register.add(table)
        return table

    def _table(self, guid: Guid) -> Table:
        return Table(guid, self.settings, self._next, self._register, self._epoch)

    def _next(self) -> tuple[int, Dealer]:
        """The next hand of the house, and its dealer."""
        self._deals += 1
        return self._deals, self._dealers(self._deals)

    def _derive(self, what: str) -> Guid:
        """A UUID (RFC 9562, version 4) that looks random to who does not know the secret."""
        return str(UUID(bytes=hmac.digest(self._secret, what.encode(), "sha256")[:16], version=4))

    def _hear(self, table: Table, effects: Effects, now: float, *, left: bool = False) -> None:
        """Pass on what has happened at a table; see to it that there is a free seat somewhere, and to its alarm.

        A table that the last one has `left` is not wanted any more if there is another one to sit down at (holdem-3.4).
        """
        if left and not len(table) and self._register.has_free_besides(table):
            self._remove(table, effects)
        else:
            self._register.seats_changed(table)
            self._let_expire(table, now)
            effects += table.facts()
            self._watch(table)
        if not self._register.has_free:
            new = self._open()
            self._let_expire(new, now)
            effects.append(Changed(new.guid, new.version))
        spare = self._spare
        if spare is not None and self._register.has_free_besides(spare):
            self._remove(spare, effects)

    def _remove(self, table: Table, effects: Effects) -> None:
        """Nobody is at a table, and others have free seats."""
        self._register.remove(table)
        if self._spare is table:
            self._spare = None
        table.touch()
        effects += table.facts()

    def _let_expire(self, table: Table, now: float) -> None:
        """See to it that a table expires when nobody has joined it for long enough (holdem-3.4)."""
        seconds = self.settings.empty_seconds
        if len(table) or not seconds or self._rules < BOUNDED:
            table.expires = None
            if self._spare is table:
                self._spare = None
        elif table.expires is None:
            table.expires = now + seconds
            self._watch(table)

    # Alarms: lazy, because every act puts off that of its table. See `core.hall`.

    def _silence(self) -> None:
        """Look at no table any more."""
        self._due.clear()
        self._alarms.clear()
        self.alarm = None

    def _watch(self, table: Table) -> None:
        """Look at a table no later than when its alarm rings, or when it expires."""
        alarm = table.expires if table.alarm is None else table.alarm
        if alarm is None or alarm >= self._due.get(table.guid, inf) or table is self._spare:
            return
        self._due[table.guid] = alarm
        heappush(self._alarms, (alarm, table.guid))
        if len(self._alarms) > 2 * len(self._due) + 64:
            self._alarms = sorted((due, guid) for guid, due in self._due.items())
        self.alarm = self._alarms[0][0]

    def _ring(self, now: float, effects: Effects) -> None:
        """Ring at all tables whose time has come, in the order in which they are due."""
        while self._alarms and self._alarms[0][0] <= now:
            due, guid = heappop(self._alarms)
            if self._due.get(guid) != due:
                continue  # it was moved forward
            del self._due[guid]
            table = self._register.get(guid)
            if table is None:
                continue
            if table.alarm is not None and table.alarm <= due:
                table.ring(now)
                self._hear(table, effects, now, left=True)
            elif table.alarm is None and table.expires is not None and table.expires <= due:
                self._expire(table, effects)
            else:
                self._watch(table)
        self.alarm = self._alarms[0][0] if self._alarms else None

    def _expire(self, table: Table, effects: Effects) -> None:
        """Nobody has joined a table for long: remove it, now or as soon as another one has a free seat."""
        if self._register.has_free_besides(table):
            self._remove(table, effects)
        else:
            self._spare = table
