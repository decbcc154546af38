"""The hold'em house: all tables, permissions, and deadlines (docs/protocols/holdem.md, 3, 4, 8 and 9).

The HTTP layer has authenticated the client: every request has a user.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from croupier.core.alarms import Alarms
from croupier.core.dealer import Dealer
from croupier.core.session import Closing, Effect, Event, Received, Send, TableChanged, TimedOut
from croupier.rooms.holdem.engine.legal import FOLD
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import RULES_LIMITED_GAMES, HouseInput, HouseSnapshot, TableSnapshot
from croupier.rooms.holdem.table.places import Place, user_guid
from croupier.rooms.holdem.table.presentation import ShownTable
from croupier.rooms.holdem.table.register import Register
from croupier.rooms.holdem.table.table import Table
from croupier.rooms.holdem.wire import (
    ACT_DONE,
    ACTION_FOLD,
    PLAYER_LEFT,
    Act,
    ActDone,
    Close,
    ComeBack,
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

OUT_OF_TURN_DETAIL: Final = "found an act out of turn; allowed: one in one's turn"
OUT_OF_TURN: Final[Mapping[Dialect, RequestRefused]] = {
    "readme": RequestRefused(403, "holdem-4.13", OUT_OF_TURN_DETAIL),
    "hspe-go": RequestRefused(409, "holdem-7.4", OUT_OF_TURN_DETAIL),
}
"""The refusals of an act out of turn."""


class House:
    """A session whose peers are HTTP requests: each Received is answered with one Send, after all other effects.

    `dealers` returns the dealer of a hand by its number. All GUIDs are derived from `secret`: they cannot be guessed,
    and a restarted house has the same ones. `epoch` is the Unix time in seconds at which `now` was 0. `now` is the
    current time; without it the first game does not expire before a player has joined it. `deadline` may be earlier
    than necessary, as that of a hall. `place` is that of a house among several with the same secret and dealers;
    `count_games_elsewhere` is set to what returns the number of games in which a user is in the others, which count
    towards the limit, too. With `resets_stacks` every hand begins with the chips of a new player for each, as in the
    arena. Raises ValueError on invalid settings.
    """

    def __init__(
        self,
        settings: Settings,
        dealers: Callable[[int], Dealer],
        secret: bytes,
        epoch: float = 0.0,
        now: float | None = None,
        *,
        place: Place = Place(),
        resets_stacks: bool = False,
    ) -> None:
        settings.check()
        self.place = place
        self.count_games_elsewhere: Callable[[str], int] = lambda _: 0
        self.settings = settings
        self._dealers = dealers
        self._secret = secret
        self._epoch = epoch
        self._resets_stacks = resets_stacks
        self._hand_count = 0
        self._is_closing = False
        self._rules_version = RULES_LIMITED_GAMES
        self._game_count = 0
        self._guids: dict[str, Guid] = {}
        self._register = Register[Table]()
        self._touched: dict[Guid, None] = {}  # the games of the tables that may show something else now, in order
        self._spare_table: Table | None = None  # expired, but kept because it has the only free seat
        self._alarms = Alarms[Guid]()  # of the tables, at their deadlines or expiries
        first = self._open_table()
        if now is not None:
            self._set_expiry(first, now)

    @property
    def deadline(self) -> float | None:
        """The time at which a table has to be checked, None if there is none."""
        return self._alarms.next_at

    def guid_of(self, user: str) -> Guid:
        """Return the GUID of a user, which is also the GUID of their players (holdem-2.3)."""
        guid = self._guids.get(user)
        if guid is None:
            guid = self._guids[user] = user_guid(self._secret, user)
        return guid

    def snapshot(self) -> bytes:
        """Return the complete state of the house as JSON, except its secret and its dealers."""
        tables = tuple(table.snapshot() for table in self.games())
        snapshot = HouseSnapshot(
            settings=self.settings,
            deals=self._hand_count,
            made=self._game_count,
            tables=tables,
            rules=self._rules_version,
        )
        return snapshot.to_json()

    def restore(self, data: bytes) -> None:
        """Restore the state of a house with the same secret and dealers. Raises ValueError if the data is malformed."""
        snapshot = HouseSnapshot.from_json(data)
        self.settings = snapshot.settings
        self._rules_version = snapshot.rules
        self._hand_count, self._game_count = snapshot.deals, snapshot.made
        self._register.clear()
        self._spare_table = None
        self._alarms.clear()
        for position, data_of_table in enumerate(snapshot.tables, start=1):
            saved = TableSnapshot.from_json(bytes(data_of_table))
            table = self._make_table(saved.guid)
            table.restore(saved, self._dealers)
            table.number = saved.number or position
            self._register.add(table)
            self._touched[table.guid] = None
            self._set_alarm(table)

    def apply(self, house_input: HouseInput) -> Sequence[Effect[HoldemResponse]]:
        """Apply a journal entry: an input received before an interruption, or the opening of the house."""
        if house_input.opened:
            self._rules_version = house_input.rules
            return self._resume(house_input.settings or self.settings, house_input.now)
        if house_input.said is not None:
            return self.on(Received(0, house_input.said), house_input.now)
        return self.on(TimedOut() if house_input.halted is None else Closing(house_input.halted), house_input.now)

    def _resume(self, settings: Settings, now: float) -> Effects:
        """Reopen the house: running turns get their full time, and tables without a hand may begin one."""
        effects: Effects = []
        self.settings = settings
        self._is_closing = False
        self._spare_table = None
        self._alarms.clear()
        for table in self.games():
            table.resume(settings, now)
            table.expires_at = None
            self._after_change(table, effects, now)
        return effects

    @property
    def playing(self) -> bool:
        """Whether a hand is running at any table."""
        return any(table.playing for table in self.games())

    def games(self) -> Sequence[Table]:
        """Return all tables in the order of their creation."""
        return self._register.tables

    @property
    def game_count(self) -> int:
        """The number of tables."""
        return len(self._register)

    @property
    def is_full(self) -> bool:
        """Whether no other game can be opened (holdem-3.3)."""
        return self.game_count >= self.settings.games

    def game(self, guid: Guid) -> Table | None:
        """Return the table of a game, or None if there is none."""
        return self._register.get(guid)

    @property
    def users(self) -> Sequence[str]:
        """All users who are in a game."""
        return self._register.users

    def take_changed_views(self) -> Mapping[Guid, ShownTable | None]:
        """Return what the tables show that may have changed since the last call; None for a table that was removed.

        The first call returns all tables.
        """
        touched, self._touched = self._touched, {}
        tables = {guid: self._register.get(guid) for guid in touched}
        return {guid: None if table is None else table.shown for guid, table in tables.items()}

    def on(self, event: Event[HoldemRequest], now: float) -> Sequence[Effect[HoldemResponse]]:
        """Handle a request, a deadline or the closing of the house. Overdue tables are always handled first."""
        effects: Effects = []
        next_check = self._alarms.next_at
        if next_check is not None and now >= next_check:
            self._check_due_tables(now, effects)
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
                assert isinstance(event, TimedOut), f"{event} is not an event of a house served over HTTP"
        return effects

    # Requests

    def _handle_request(self, request: HoldemRequest, now: float, effects: Effects) -> HoldemResponse:
        """Execute a request, or refuse it for the first reason that applies (holdem-8.2)."""
        if isinstance(request, Open):
            return self._handle_open(request, now, effects)
        if isinstance(request, Close):
            return self._handle_close(request.user, now, effects)
        table = self._register.get(request.game)
        if table is None:
            return no_such_game(request.game)
        if isinstance(request, Join):
            return self._handle_join(table, request, now, effects)
        participant = table.seats.by_guid(request.player)
        if participant is None:
            return RequestRefused(
                404, "holdem-8.5", f"found the player {request.player[:100]!r}; allowed: one of this game"
            )
        if participant.user != request.user:
            return RequestRefused(403, "holdem-8.8", "found the player of somebody else; allowed: one's own")
        answer: HoldemResponse = ACT_DONE
        if isinstance(request, Act):
            if not table.waits_for(participant):
                return OUT_OF_TURN[self.settings.dialect]
            if fold_reason := table.act(FOLD if request.action == ACTION_FOLD else request.amount, now):
                answer = ActDone(fold_reason)
        elif isinstance(request, ComeBack):
            table.come_back(participant)
        else:
            table.leave(participant, now)
            answer = PLAYER_LEFT
        self._after_change(table, effects, now, has_left=answer is PLAYER_LEFT)
        return answer

    def _handle_open(self, request: Open, now: float, effects: Effects) -> HoldemResponse:
        user = request.user
        if self._is_closing:
            return CLOSING_REFUSAL
        if (refused := self._refuse_more_games(user)) is not None:
            return refused
        if self.is_full:
            detail = f"found {self.game_count} games; allowed: {self.settings.games}"
            return RequestRefused(503, "holdem-3.3", detail)
        table = self._open_table()
        guid = self.guid_of(user)
        table.join(user, guid, now, is_person=request.is_person)
        self._after_change(table, effects, now)
        return Created(guid, table.guid, is_new_game=True)

    def _handle_join(self, table: Table, request: Join, now: float, effects: Effects) -> HoldemResponse:
        user = request.user
        if table.player_guid(user) is not None:
            return RequestRefused(409, "holdem-3.7", "found a player of this game; allowed: who is not in it")
        if self._is_closing:
            return CLOSING_REFUSAL
        if (refused := self._refuse_more_games(user)) is not None:
            return refused
        guid = self.guid_of(user)
        is_seated = table.join(user, guid, now, is_person=request.is_person)
        self._after_change(table, effects, now)
        return Created(guid, table.guid) if is_seated else Queued(guid, table.guid)

    def _refuse_more_games(self, user: str) -> RequestRefused | None:
        """Return a refusal if a user is already in the maximum number of games (holdem-9.11)."""
        count = self._register.count_games(user) + self.count_games_elsewhere(user)
        allowed = self.settings.games_per_user
        if self._rules_version < RULES_LIMITED_GAMES or not allowed or count < allowed:
            return None
        return RequestRefused(403, "holdem-9.11", f"found a user in {count} games; allowed: {allowed} at the same time")

    def _handle_close(self, user: str, now: float, effects: Effects) -> HoldemResponse:
        """Remove a user whose account is closed from every game (holdem-9.13)."""
        for table in self._register.tables_of(user):
            participant = table.seats.by_guid(self.guid_of(user))
            assert participant is not None, "a user registered in a game is at its table"
            table.leave(participant, now)
            self._after_change(table, effects, now, has_left=True)
        self._guids.pop(user, None)
        return PLAYER_LEFT

    # Tables

    def _open_table(self) -> Table:
        """Create and register a table."""
        self._game_count += 1
        number = self.place.nth(self._game_count)
        table = self._make_table(self.place.game_guid(self._secret, number))
        table.number = number
        self._register.add(table)
        self._touched[table.guid] = None
        return table

    def _make_table(self, guid: Guid) -> Table:
        return Table(
            guid,
            self.settings,
            self._next_dealer,
            self._register,
            self._epoch,
            resets_stacks=self._resets_stacks,
        )

    def _next_dealer(self) -> tuple[int, Dealer]:
        self._hand_count += 1
        number = self.place.nth(self._hand_count)
        return number, self._dealers(number)

    def _after_change(self, table: Table, effects: Effects, now: float, *, has_left: bool = False) -> None:
        """Publish the effects of a change at a table, update its deadline, and keep a free seat available.

        A table that its last player has left (`has_left`) is removed if another table has a free seat (holdem-3.4).
        """
        self._touched[table.guid] = None
        if has_left and not table.seats.guids_by_user and self._register.has_free_table_besides(table):
            self._remove_table(table, effects)
        else:
            self._set_expiry(table, now)
            effects += table.take_facts()
            self._set_alarm(table)
        if not self._register.free_tables:
            new = self._open_table()
            self._set_expiry(new, now)
            effects.append(TableChanged(new.guid, new.version))
        spare = self._spare_table
        if spare is not None and self._register.has_free_table_besides(spare):
            self._remove_table(spare, effects)

    def _remove_table(self, table: Table, effects: Effects) -> None:
        self._register.remove(table)
        self._alarms.remove(table.guid)
        self._touched[table.guid] = None
        if self._spare_table is table:
            self._spare_table = None
        table.has_changed = True
        effects += table.take_facts()

    def _set_expiry(self, table: Table, now: float) -> None:
        """Start or stop the expiry of a table: a table without players expires after a time (holdem-3.4)."""
        seconds = self.settings.empty_seconds
        if table.seats.guids_by_user or not seconds or self._rules_version < RULES_LIMITED_GAMES:
            table.expires_at = None
            if self._spare_table is table:
                self._spare_table = None
        elif table.expires_at is None:
            table.expires_at = now + seconds
            self._set_alarm(table)

    def _set_alarm(self, table: Table) -> None:
        """Set the alarm of a table at its deadline, or at its expiry if it has none."""
        due = table.expires_at if table.deadline is None else table.deadline
        if due is not None and table is not self._spare_table:
            self._alarms.set(table.guid, due)

    def _check_due_tables(self, now: float, effects: Effects) -> None:
        """Check all tables that are due, in the order of their times."""
        for due, guid in self._alarms.ring(now):
            table = self._register.get(guid)
            assert table is not None, "the alarm of a table is removed with it"
            if table.deadline is not None and table.deadline <= due:
                table.handle_deadline(now)
                self._after_change(table, effects, now, has_left=True)
            elif table.deadline is None and table.expires_at is not None and table.expires_at <= due:
                if self._register.has_free_table_besides(table):
                    self._remove_table(table, effects)
                else:
                    self._spare_table = table  # removed as soon as another one has a free seat
            else:
                self._set_alarm(table)


def no_such_game(game: Guid) -> RequestRefused:
    """Return the refusal of a request for a game that does not exist."""
    return RequestRefused(404, "holdem-8.4", f"found the game {game[:100]!r}; allowed: one of GET /games/")
