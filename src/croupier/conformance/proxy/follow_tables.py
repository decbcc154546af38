"""Follows tables of hold'em from what passes a relay: as far as it is certain what a house was asked, and when.

A table is followed from when it was seen empty, as long as all who play there come through the relay. Where requests
overlap, or a turn may have ended by itself, or a stream shows what was so a moment ago, nobody knows what the house has
done first: what fits is believed as soon as it does, and what does not is nobody's fault.
"""

from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Final, NamedTuple

from msgspec.structs import replace

from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.referee import Referee, invalid_bet_clause
from croupier.rooms.holdem.wire import ACTION_FOLD, Act, Game, Guid

MIN_TURN_SECONDS: Final = 1.0
"""So many seconds a turn lasts for certain, and as much before its end it may be over."""

MAX_TABLES: Final = 10_000
"""So many tables, and as many users, are known at most."""


MAX_DEFERRED: Final = 16
"""So many things at most wait for others by which they fit."""

NOT_YET_KNOWN: Final = (Violation("holdem-6.1", "something that is about what nobody knows yet", "what is known"),)
"""Why something waits: in its hand nobody has looked, or somebody plays who has not come yet."""

type RefereeUpdate = Callable[[Referee], tuple[Referee, Sequence[Violation]]]
"""Something that a referee is told: who follows the table from then on, and what is wrong with it."""


class TurnClock:
    """What is known of the time at a table, in s: `since` when it is somebody's turn, for how long at least."""

    def __init__(self) -> None:
        self._since = 0.0
        self._min_seconds = MIN_TURN_SECONDS
        self._turn_seconds = MIN_TURN_SECONDS

    def may_be_over(self, now: float) -> bool:
        """Whether the turn may have ended by itself."""
        return now - self._since >= self._min_seconds

    def start(self, now: float) -> None:
        """Something was done by which a turn begins."""
        self._since, self._min_seconds = now, self._turn_seconds

    def update(self, now: float, left: float | None) -> None:
        """So many seconds are left of the turn; None: it does not say so."""
        self._since, self._min_seconds = now, MIN_TURN_SECONDS if left is None else max(0.0, left - MIN_TURN_SECONDS)
        self._turn_seconds = max(self._turn_seconds, self._min_seconds)


class DeferredUpdate(NamedTuple):
    """Something that does not fit yet: whether it was certainly `done`, and how many hands there were when it came."""

    update: RefereeUpdate
    is_executed: bool
    hands: int


class RequestTraffic:
    """What is asked at the same time. `pending` is how much of it may change something."""

    def __init__(self) -> None:
        self.pending = 0
        self._changes = 0

    def begin(self, *, is_change: bool) -> int | None:
        """Something is asked: what `certain` wants to know; None if something is pending that may change something."""
        quiet = not self.pending
        if is_change:
            self.pending += 1
            self._changes += 1
        return self._changes if quiet else None

    def finish(self, ticket: int | None, *, is_change: bool) -> bool:
        """It is answered: whether nothing else was asked meanwhile that may have changed something."""
        certain = ticket == self._changes
        if is_change:
            self.pending -= 1
            self._changes += 1
        return certain


class FollowedTable:
    """One game. `referee` is None while it is not followed; `hands` counts those that were."""

    def __init__(self) -> None:
        self.referee: Referee | None = None
        self.hands = 0
        self._counted = 0
        self._players: list[Guid] = []  # who has joined through the relay, in the order in which they did
        self.traffic = RequestTraffic()
        self._turn_clock = TurnClock()
        self._is_doubtful = False  # whether somebody has come while nobody knows whether a hand was over
        self.has_no_acts = False  # whether nobody has asked to act yet
        self._deferred: deque[DeferredUpdate] = deque()

    # What is done.

    def on_join(self, player: Guid, now: float, *, sure: bool) -> None:
        """Somebody has sat down."""
        if self.referee is not None:
            if player not in self._players:
                self._players.append(player)
            self.referee.player_joined(player)
            self._turn_clock.start(now)
            self._is_doubtful = self._is_doubtful or not sure
            self._retry_deferred()  # a stream may have shown him before he was answered

    def on_leave(self, player: Guid, now: float, *, sure: bool) -> None:
        """Somebody has left."""
        if self.referee is None:
            return
        if not sure or player not in self._players:
            self.referee = None
            return
        self.referee.player_left(player)
        self._turn_clock.start(now)
        if not self.referee.hand_count:
            self._players.remove(player)

    def invalid_bet_clause(self, act: Act) -> str:
        """The clause by which an act is an invalid bet, "" where it is none, or is not certain to be one."""
        running = None if self.referee is None else self.referee.observed
        if (
            self.referee is None
            or running is None
            or self.referee.player_to_act() != act.player
            or act.action == ACTION_FOLD
        ):
            return ""
        seat = running.seat_of(act.player)
        assert seat is not None, "the turn of somebody who does not play"
        return invalid_bet_clause(running.hand.legal, act.amount, running.hand.stacks[seat])

    def on_act(self, act: Act, status: int, asked_at: float, now: float, *, sure: bool) -> Sequence[Violation]:
        """What was `asked` at this time is answered now: what is wrong with that."""
        done = 200 <= status < 300
        unseen = self.referee is not None and not self.referee.player_to_act()
        if unseen and not done:
            return ()

        def deed(referee: Referee) -> tuple[Referee, Sequence[Violation]]:
            if done and not referee.player_to_act():
                return referee, NOT_YET_KNOWN
            return referee, referee.player_acted(act.player, act.action, act.amount, status)

        sure = sure and not unseen and not self._turn_clock.may_be_over(now)
        found = self._apply(deed, sure=sure, needed=done)
        if done:
            self._turn_clock.start(asked_at)
        return found or ()

    def stop_following(self) -> None:
        """Something was done here of which nobody knows what."""
        self.referee = None

    # What is seen.

    def on_view(
        self, game: Game, viewer: Guid | None, asked_at: float, now: float, left: float | None, *, sure: bool
    ) -> Sequence[Violation]:
        """What was `asked` at this time is shown now: what is wrong with it.

        The `viewer` is "" for the public, and None for somebody unknown. `left` is how many seconds the turn lasts
        from then on, as it is told.
        """
        if viewer is None or not sure:
            game, viewer = replace(game, cards=replace(game.cards, hole=())), ""
        if self.referee is None:
            if sure and not game.table and not game.turn.player_id:
                self.start_following()
            return ()
        early = self.has_no_acts

        def deed(referee: Referee) -> tuple[Referee, Sequence[Violation]]:
            start = self._referee_from(referee, game, early=early)
            return (referee, NOT_YET_KNOWN) if start is None else (start, start.observe(game, viewer))

        if sure and self._referee_from(self.referee, game, early=early) is None:
            self.referee = None  # somebody plays whom nobody has heard, or for what nobody knows
            return ()
        sure = (
            sure
            and not self._turn_clock.may_be_over(now)
            and not (self._is_doubtful and not self.referee.player_to_act())
        )
        found = self._apply(deed, sure=sure)
        if found is None and not self.traffic.pending and self._turn_clock.may_be_over(now):
            self._assume_timeouts(game, viewer)
        elif found is not None and game.turn.player_id:
            self._turn_clock.update(asked_at, left)
            self._is_doubtful = False
        return found or ()

    def start_following(self) -> None:
        """Nobody sits at this table: it is followed from now on."""
        self.referee, self._players, self._is_doubtful, self.has_no_acts = Referee(), [], False, True
        self._deferred.clear()
        self._counted = 0

    def _referee_from(self, referee: Referee, game: Game, *, early: bool) -> Referee | None:
        """Who follows the table from a look on, None where nobody can.

        From the first hand, if nobody has acted in it, is taken what is played for.
        """
        if not {one.player_id for one in game.table} <= {*self._players}:
            return None
        if referee.hand_count or not game.turn.player_id:
            return referee
        bets = sorted(one.bet_so_far for one in game.table if one.bet_so_far)
        stacks = {one.wealth + one.bet_so_far for one in game.table}
        paid = sum(pot.size for pot in game.pots)
        if not early or len(bets) != 2 or bets[0] == bets[1] or len(stacks) != 1 or paid != sum(bets):
            return None
        start = Referee((bets[0], bets[1]), stacks.pop())
        for player in self._players:
            start.player_joined(player)
        return start

    def _assume_timeouts(self, game: Game, viewer: Guid) -> None:
        """Whether what is seen is right if some have left, one after another, because their time was over."""
        if self.referee is None:
            return
        for _ in self._players:
            if not (player := self.referee.player_to_act()):
                break
            self.referee.player_left(player)
            if self._apply_if_valid(lambda referee: (referee, referee.observe(game, viewer))):
                return
        self.referee = None

    def _apply(self, deed: RefereeUpdate, *, sure: bool, needed: bool = False) -> Sequence[Violation] | None:
        """Tell the referee something: what is wrong with it, if that is `sure`.

        If not, it waits until it fits, and None is told. What is `needed` has been done: the game cannot be followed
        without it for long.
        """
        if self.referee is None:
            return None
        if sure and not any(one.is_executed for one in self._deferred):
            try:
                referee, found = deed(self.referee)
            except IllegalMove:  # nothing that was shown can have led there
                self.referee = None
                return None
            self._set_referee(None if referee.is_lost else referee)
            self._retry_deferred()
            return found
        if self._apply_if_valid(deed):
            self._retry_deferred()
            return ()
        self._deferred.append(DeferredUpdate(deed, needed, self.hands))
        if len(self._deferred) > MAX_DEFERRED:
            looks = [one for one in self._deferred if not one.is_executed]
            if looks:
                self._deferred.remove(looks[0])
            else:
                self.referee = None
        return None

    def _set_referee(self, referee: Referee | None) -> None:
        """This is how the table stands now."""
        self.referee = referee
        if referee is not None:
            self.hands += referee.hand_count - self._counted
            self._counted = referee.hand_count

    def _apply_if_valid(self, deed: RefereeUpdate) -> bool:
        """Let something happen if it fits."""
        if self.referee is None:
            return False
        try:
            referee, found = deed(deepcopy(self.referee))
        except IllegalMove:
            return False
        if found or referee.is_lost:
            return False
        self._set_referee(referee)
        return True

    def _retry_deferred(self) -> None:
        """Something has happened: whatever fits now does, too. What was shown two hands ago is not so any more."""
        at = 0
        while at < len(self._deferred):
            if not self._apply_if_valid(self._deferred[at].update):
                at += 1
                continue
            del self._deferred[at]
            self._deferred = deque(one for one in self._deferred if one.is_executed or one.hands + 1 >= self.hands)
            at = 0


class FollowedTables:
    """All tables of a house, and who its users are."""

    def __init__(self) -> None:
        self.traffic = RequestTraffic()
        self._tables: dict[Guid, FollowedTable] = {}
        self._users: dict[str, Guid] = {}

    def table(self, game: Guid) -> FollowedTable:
        """A game, heard of for the first time or not."""
        return _remember(self._tables, game, FollowedTable())

    def add_open_table(self, game: Guid) -> FollowedTable:
        """A game that somebody has made, and in which nobody sits yet."""
        self._tables[game] = table = FollowedTable()
        table.start_following()
        return table

    def guid_of(self, user: str) -> Guid | None:
        """The GUID of a user, None where nobody has heard it."""
        return self._users.get(user)

    def set_guid(self, user: str, guid: Guid) -> None:
        """A user has this GUID."""
        _remember(self._users, user, guid)
        self._users[user] = guid


def _remember[K, V](known: dict[K, V], key: K, value: V) -> V:
    """What is known by a key; of too many the oldest is forgotten."""
    if key not in known and len(known) >= MAX_TABLES:
        del known[next(iter(known))]
    return known.setdefault(key, value)
