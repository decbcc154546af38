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
from croupier.core.session import Closing, Effect, Event, Received, Send, TableChanged, TimedOut
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import RULES_LIMITED_GAMES, HouseInput, HouseSnapshot, TableSnapshot
from croupier.rooms.holdem.table.register import Register
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACT_DONE,
    ACTION_FOLD,
    PLAYER_LEFT,
    Act,
    ActDone,
    Close,
    Created,
    Dialect,
    Guid,
    HoldemRequest,
    HoldemResponse,
    Join,
    Open,
    Queued,
    RequestRefused,
)

type Effects = list[Effect[HoldemResponse]]

CLOSING_REFUSAL: Final = RequestRefused(
    503, "holdem-3.15", "found a server that is about to stop; allowed: to finish what is running"
)

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
        self.deadline: float | None = None
        self.settings = settings
        self._dealers = dealers
        self._secret = secret
        self._epoch = epoch
        self._hand_count = 0
        self._is_closing = False
        self._rules_version = RULES_LIMITED_GAMES
        self._game_count = 0
        self._guids: dict[str, Guid] = {}
        self._register = Register()
        self._spare_table: Table | None = None  # nobody has joined it in time, but it has the only free seat
        self._next_checks: dict[Guid, float] = {}  # when a table will be looked at next
        self._check_heap: list[tuple[float, Guid]] = []
        first = self._open_table()
        if now is not None:
            self._set_expiry(first, now)

    def guid_of(self, user: str) -> Guid:
        """The GUID of a user, which is that of his players, too (holdem-2.3)."""
        guid = self._guids.get(user)
        if guid is None:
            guid = self._guids[user] = self._derive_guid(f"user/{user}")
        return guid

    def snapshot(self) -> bytes:
        """All that there is to know about the house, but for its secret and its dealers, as JSON."""
        tables = tuple(table.snapshot() for table in self.games())
        kept = HouseSnapshot(
            settings=self.settings,
            deals=self._hand_count,
            made=self._game_count,
            tables=tables,
            rules=self._rules_version,
        )
        return kept.to_json()

    def restore(self, data: bytes) -> None:
        """Go on where a house with the same secret and dealers was, which is kept so. Raises ValueError."""
        kept = HouseSnapshot.from_json(data)
        self.settings = kept.settings
        self._rules_version = kept.rules
        self._hand_count, self._game_count = kept.deals, kept.made
        self._register.clear()
        self._spare_table = None
        self._clear_checks()
        for place, written in enumerate(kept.tables, start=1):
            one = TableSnapshot.from_json(bytes(written))
            table = self._make_table(one.guid)
            table.restore(one, self._dealers)
            table.number = one.number or place
            self._register.add(table)
            self._schedule_check(table)

    def apply(self, house_input: HouseInput) -> Sequence[Effect[HoldemResponse]]:
        """What the house does about what was heard before it was interrupted, or about its opening."""
        if house_input.opened:
            self._rules_version = house_input.rules
            return self._resume(house_input.settings or self.settings, house_input.now)
        if house_input.said is not None:
            return self.on(Received(0, house_input.said), house_input.now)
        return self.on(TimedOut() if house_input.halted is None else Closing(house_input.halted), house_input.now)

    def _resume(self, settings: Settings, now: float) -> Effects:
        """The house is open again: open turns have their full time, and where no hand is running one may begin."""
        effects: Effects = []
        self.settings = settings
        self._is_closing = False
        self._spare_table = None
        self._clear_checks()
        for table in self.games():
            table.resume(settings, now)
            table.expires_at = None
            self._after_change(table, effects, now)
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

    def has_player(self, user: str) -> bool:
        """Whether a user is in any game."""
        return self._register.count_games(user) > 0

    def list_tables(self, user: str | None) -> Sequence[Table]:
        """The games that a user is shown who asks for all: as many as are listed at once (holdem-9.12).

        First come those that the user is in, then those with a free seat, then others.
        """
        return self._register.list_tables(user, self.settings.listed)

    def tables_after(self, number: int, limit: int | None = None) -> tuple[Sequence[Table], bool]:
        """At most `limit` games that were made after the one of this number, and whether there are more (holdem-9.12).

        There are never more than are listed at once.
        """
        most = self.settings.listed
        return self._register.tables_after(number, most if limit is None else min(limit, most))

    def on(self, event: Event[HoldemRequest], now: float) -> Sequence[Effect[HoldemResponse]]:
        """What the house does about a request, a ring, or the end. Whose time is over is removed before all else."""
        effects: Effects = []
        if self.deadline is not None and now >= self.deadline:
            self._run_due_checks(now, effects)
        if type(event) is Received:
            answer = self._handle_request(event.message, now, effects)
            effects.append(Send(event.peer, answer))
            return effects
        match event:
            case Closing(final):
                self._is_closing = True
                for table in self.games():
                    table.halt(now, final=final)
                    self._after_change(table, effects, now)
            case _:
                assert isinstance(event, TimedOut), f"{event} is not for a house that is asked over HTTP"
        return effects

    # Requests.

    def _handle_request(self, request: HoldemRequest, now: float, effects: Effects) -> HoldemResponse:
        """Do what a user asks, or refuse it for the first reason that applies (holdem-8.2)."""
        if isinstance(request, Open):
            return self._handle_open(request.user, now, effects)
        if isinstance(request, Close):
            return self._handle_close(request.user, now, effects)
        table = self._register.get(request.game)
        if table is None:
            return RequestRefused(
                404, "holdem-8.4", f"found the game {request.game[:100]!r}; allowed: one of GET /games/"
            )
        if isinstance(request, Join):
            return self._handle_join(table, request.user, now, effects)
        sitter = table.by_guid(request.player)
        if sitter is None:
            return RequestRefused(
                404, "holdem-8.5", f"found the player {request.player[:100]!r}; allowed: one of this game"
            )
        if sitter.user != request.user:
            return RequestRefused(403, "holdem-8.8", "found the player of somebody else; allowed: one's own")
        if isinstance(request, Act):
            return self._handle_act(table, sitter, request, now, effects)
        table.leave(sitter, now)
        self._after_change(table, effects, now, has_left=True)
        return PLAYER_LEFT

    def _handle_act(self, table: Table, sitter: Participant, act: Act, now: float, effects: Effects) -> HoldemResponse:
        if not table.waits_for(sitter):
            status, clause = OUT_OF_TURN[self.settings.dialect]
            return RequestRefused(status, clause, "found an act out of turn; allowed: one in one's turn")
        told = ""
        if act.action == ACTION_FOLD:
            table.fold(now)
        else:
            told = table.bet(act.amount, now)
        self._after_change(table, effects, now)
        return ActDone(told) if told else ACT_DONE

    def _handle_open(self, user: str, now: float, effects: Effects) -> HoldemResponse:
        if self._is_closing:
            return CLOSING_REFUSAL
        if (refused := self._refuse_more_games(user)) is not None:
            return refused
        if len(self._register) >= self.settings.games:
            told = f"found {len(self._register)} games; allowed: {self.settings.games}"
            return RequestRefused(503, "holdem-3.3", told)
        table = self._open_table()
        guid = self.guid_of(user)
        table.join(user, guid, now)
        self._after_change(table, effects, now)
        return Created(guid, table.guid, is_new_game=True)

    def _handle_join(self, table: Table, user: str, now: float, effects: Effects) -> HoldemResponse:
        if table.player_guid(user) is not None:
            return RequestRefused(409, "holdem-3.7", "found a player of this game; allowed: who is not in it")
        if self._is_closing:
            return CLOSING_REFUSAL
        if (refused := self._refuse_more_games(user)) is not None:
            return refused
        guid = self.guid_of(user)
        seated = table.join(user, guid, now)
        self._after_change(table, effects, now)
        return Created(guid, table.guid) if seated else Queued(guid, table.guid)

    def _refuse_more_games(self, user: str) -> RequestRefused | None:
        """The refusal of another game to a user who is in as many as are allowed (holdem-9.11)."""
        found, allowed = self._register.count_games(user), self.settings.games_per_user
        if self._rules_version < RULES_LIMITED_GAMES or not allowed or found < allowed:
            return None
        return RequestRefused(403, "holdem-9.11", f"found a user in {found} games; allowed: {allowed} at the same time")

    def _handle_close(self, user: str, now: float, effects: Effects) -> HoldemResponse:
        """The account of a user is closed: leave every game (holdem-9.13)."""
        for table in self._register.tables_of(user):
            sitter = table.by_guid(self.guid_of(user))
            assert sitter is not None, "the register knows who is in which game"
            table.leave(sitter, now)
            self._after_change(table, effects, now, has_left=True)
        self._guids.pop(user, None)
        return PLAYER_LEFT

    # Tables.

    def _open_table(self) -> Table:
        """Make a table."""
        self._game_count += 1
        table = self._make_table(self._derive_guid(f"game/{self._game_count}"))
        table.number = self._game_count
        self._register.add(table)
        return table

    def _make_table(self, guid: Guid) -> Table:
        return Table(guid, self.settings, self._next_dealer, self._register, self._epoch)

    def _next_dealer(self) -> tuple[int, Dealer]:
        """The next hand of the house, and its dealer."""
        self._hand_count += 1
        return self._hand_count, self._dealers(self._hand_count)

    def _derive_guid(self, what: str) -> Guid:
        """A UUID (RFC 9562, version 4) that looks random to who does not know the secret."""
        return str(UUID(bytes=hmac.digest(self._secret, what.encode(), "sha256")[:16], version=4))

    def _after_change(self, table: Table, effects: Effects, now: float, *, has_left: bool = False) -> None:
        """Pass on what has happened at a table; see to it that there is a free seat somewhere, and to its alarm.

        A table that the last one has `left` is not wanted any more if there is another one to sit down at (holdem-3.4).
        """
        if has_left and not len(table) and self._register.has_free_table_besides(table):
            self._remove_table(table, effects)
        else:
            self._register.update_free(table)
            self._set_expiry(table, now)
            effects += table.take_facts()
            self._schedule_check(table)
        if not self._register.has_free_table:
            new = self._open_table()
            self._set_expiry(new, now)
            effects.append(TableChanged(new.guid, new.version))
        spare = self._spare_table
        if spare is not None and self._register.has_free_table_besides(spare):
            self._remove_table(spare, effects)

    def _remove_table(self, table: Table, effects: Effects) -> None:
        """Nobody is at a table, and others have free seats."""
        self._register.remove(table)
        if self._spare_table is table:
            self._spare_table = None
        table.mark_changed()
        effects += table.take_facts()

    def _set_expiry(self, table: Table, now: float) -> None:
        """See to it that a table expires when nobody has joined it for long enough (holdem-3.4)."""
        seconds = self.settings.empty_seconds
        if len(table) or not seconds or self._rules_version < RULES_LIMITED_GAMES:
            table.expires_at = None
            if self._spare_table is table:
                self._spare_table = None
        elif table.expires_at is None:
            table.expires_at = now + seconds
            self._schedule_check(table)

    # Alarms: lazy, because every act puts off that of its table. See `core.hall`.

    def _clear_checks(self) -> None:
        """Look at no table any more."""
        self._next_checks.clear()
        self._check_heap.clear()
        self.deadline = None

    def _schedule_check(self, table: Table) -> None:
        """Look at a table no later than when its alarm rings, or when it expires."""
        alarm = table.expires_at if table.deadline is None else table.deadline
        if alarm is None or alarm >= self._next_checks.get(table.guid, inf) or table is self._spare_table:
            return
        self._next_checks[table.guid] = alarm
        heappush(self._check_heap, (alarm, table.guid))
        if len(self._check_heap) > 2 * len(self._next_checks) + 64:
            self._check_heap = sorted((due, guid) for guid, due in self._next_checks.items())
        self.deadline = self._check_heap[0][0]

    def _run_due_checks(self, now: float, effects: Effects) -> None:
        """Ring at all tables whose time has come, in the order in which they are due."""
        while self._check_heap and self._check_heap[0][0] <= now:
            due, guid = heappop(self._check_heap)
            if self._next_checks.get(guid) != due:
                continue  # it was moved forward
            del self._next_checks[guid]
            table = self._register.get(guid)
            if table is None:
                continue
            if table.deadline is not None and table.deadline <= due:
                table.handle_deadline(now)
                self._after_change(table, effects, now, has_left=True)
            elif table.deadline is None and table.expires_at is not None and table.expires_at <= due:
                self._expire_table(table, effects)
            else:
                self._schedule_check(table)
        self.deadline = self._check_heap[0][0] if self._check_heap else None

    def _expire_table(self, table: Table, effects: Effects) -> None:
        """Nobody has joined a table for long: remove it, now or as soon as another one has a free seat."""
        if self._register.has_free_table_besides(table):
            self._remove_table(table, effects)
        else:
            self._spare_table = table
