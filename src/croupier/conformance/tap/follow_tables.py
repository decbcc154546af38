"""Follows hold'em tables through the traffic of a tap, as far as the order of requests is certain.

A table is followed from the time it is seen empty, as long as all its players use the tap. Where requests overlap, a
turn may have timed out, or a stream shows an earlier state, the order of execution is unknown: what fits the referee's
state is applied as soon as it does, and what does not is not held against anyone.
"""

from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Final, NamedTuple

from msgspec.structs import replace

from croupier.conformance.holdem.deviations import default_outcome
from croupier.conformance.holdem.expiries import ShownExpiries
from croupier.conformance.holdem.schema import GUID_PATTERN
from croupier.conformance.results import Outcome
from croupier.conformance.tap.exchange import FollowedGame, RequestTraffic
from croupier.conformance.tap.shown_turns import ShownTurns
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.observed.bet_clauses import invalid_bet_clause
from croupier.rooms.holdem.referee import Referee
from croupier.rooms.holdem.table.wording import allowed_bets
from croupier.rooms.holdem.wire import ACTION_FOLD, Act, Game, Guid, Join, Leave

MIN_TURN_SECONDS: Final = 1.0
"""The shortest turn, and the uncertainty about its end."""

MAX_TABLES: Final = 10_000
"""The maximum number of tables, and of users, that are remembered."""


MAX_DEFERRED: Final = 16
"""The maximum number of deferred updates per table."""

NOT_YET_KNOWN: Final = (Violation("holdem-6.1", "something about a hand that is not known yet", "what is known"),)
"""The reason to defer an update: the hand has not been read yet, or a player has not joined yet."""

type RefereeUpdate = Callable[[Referee], tuple[Referee, Sequence[Violation]]]
"""An update of a referee: returns the referee that follows the table afterwards, and the violations."""


class TurnClock:
    """The time of the current turn in seconds: when it began, and its shortest duration."""

    def __init__(self) -> None:
        self._since = 0.0
        self._min_seconds = MIN_TURN_SECONDS
        self._turn_seconds = MIN_TURN_SECONDS

    def may_be_over(self, now: float) -> bool:
        """Whether the turn may have timed out."""
        return now - self._since >= self._min_seconds

    def start(self, now: float) -> None:
        """Start a turn."""
        self._since, self._min_seconds = now, self._turn_seconds

    def update(self, now: float, left: float | None) -> None:
        """Update the seconds left of the turn, None if unknown."""
        self._since, self._min_seconds = now, MIN_TURN_SECONDS if left is None else max(0.0, left - MIN_TURN_SECONDS)
        self._turn_seconds = max(self._turn_seconds, self._min_seconds)


class DeferredUpdate(NamedTuple):
    """An update that does not fit yet: whether it was certainly executed, and when it arrived.

    That is a time, and the number of hands.
    """

    update: RefereeUpdate
    is_executed: bool
    at: float
    hands: int


class FollowedTable(FollowedGame[Referee]):
    """A followed table; `games` counts its hands. Its `shown_turns` are known, too, if it cannot be followed.

    `hand_traffic` has the requests that change more than who sits at the table.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shown_turns = ShownTurns()
        self.hand_traffic = RequestTraffic()
        self._counted = 0
        self._players: list[Guid] = []  # players who joined through the tap, in order
        self._turn_clock = TurnClock()
        self._is_doubtful = False  # whether a player joined while it is unknown if a hand was over
        self.is_misleading = False  # whether the last view that was followed was wrong, or may have been
        self.has_no_acts = False  # whether no act has been requested yet
        self._deferred: deque[DeferredUpdate] = deque()
        self._expiries = ShownExpiries()
        self._refused_player: Guid | None = None  # whose malformed act was refused, so that nothing may have changed

    # Requests.

    def on_join(self, player: Guid, now: float, *, is_certain: bool) -> None:
        """Process a join."""
        if self.referee is not None:
            if player not in self._players:
                self._players.append(player)
            self.referee.on_exchange(player, Join(player, ""), 201)
            self._turn_clock.start(now)
            self._is_doubtful = self._is_doubtful or not is_certain
            self._retry_deferred()  # a stream may show the player before the response arrives

    def on_leave(self, player: Guid, now: float, *, is_certain: bool) -> None:
        """Process a leave."""
        if self.referee is None:
            return
        if not is_certain or player not in self._players:
            self.referee = None
            return
        self.referee.on_exchange(player, Leave(player, "", player), 200)
        self._turn_clock.start(now)
        if not self.referee.hand_count:
            self._players.remove(player)

    def judge_bet(self, act: Act) -> Violation | None:
        """Return the violation if an act is an invalid bet, None if it is valid or this is not certain.

        A player to whom the server may have shown wrong amounts is not blamed.
        """
        observed_hand = None if self.referee is None else self.referee.game
        if (
            self.referee is None
            or observed_hand is None
            or self.is_misleading
            or self.referee.player_to_act() != act.player
            or act.action == ACTION_FOLD
        ):
            return None
        seat = observed_hand.seat_of(act.player)
        assert seat is not None, "the player to act has a seat"
        legal = observed_hand.hand.legal
        clause = invalid_bet_clause(legal, act.amount, observed_hand.hand.stacks[seat])
        if clause is None:
            return None
        return Violation(clause, f"a bet of {act.amount} by {act.user}", allowed_bets(legal), about=act.user)

    def on_act(self, act: Act, status: int, asked_at: float, now: float, *, is_certain: bool) -> Sequence[Violation]:
        """Process the response to an act that was requested at `asked_at`; return violations."""
        is_done = 200 <= status < 300
        is_unseen = self.referee is not None and not self.referee.player_to_act()
        if is_unseen and not is_done:
            return ()

        def update(referee: Referee) -> tuple[Referee, Sequence[Violation]]:
            if is_done and not referee.player_to_act():
                return referee, NOT_YET_KNOWN
            return referee, referee.on_exchange(act.player, act, status)

        is_certain = is_certain and not is_unseen and not self._turn_clock.may_be_over(now)
        found = self._apply(update, asked_at, now, is_certain=is_certain, needed=is_done)
        if is_done:
            self._turn_clock.start(asked_at)
        return found or ()

    def on_malformed_act(self, player: Guid) -> None:
        """Process a refused act of wrong form, which changes nothing."""
        self._refused_player = player

    # Views.

    def on_view(
        self, game: Game, viewer: Guid | None, asked_at: float, now: float, left: float | None, *, is_certain: bool
    ) -> Sequence[Violation]:
        """Process a view that was requested at `asked_at`; return violations.

        `viewer` is "" for the public, None for an unknown user. `left` is the seconds left of the turn, if known.
        """
        if viewer is None or not is_certain:
            game, viewer = replace(game, cards=replace(game.cards, hole=())), ""
        if self.referee is None:
            if is_certain and not game.table and not game.turn.player_id:
                self.start_following()
            return ()
        early = self.has_no_acts
        shown_since = asked_at if is_certain else None

        def update(referee: Referee) -> tuple[Referee, Sequence[Violation]]:
            start = self._referee_from(referee, game, early=early)
            return (referee, NOT_YET_KNOWN) if start is None else (start, start.on_shown(viewer, game))

        if is_certain and self._referee_from(self.referee, game, early=early) is None:
            self.referee = None  # an unknown player, or unknown stakes
            return ()
        is_certain = (
            is_certain
            and not self._turn_clock.may_be_over(now)
            and not (self._is_doubtful and not self.referee.player_to_act())
        )
        found = self._apply(update, shown_since, now, is_certain=is_certain)
        if found is not None or shown_since is not None:
            self.is_misleading = found is None or _has_fault(found)
        if found is None and not self.traffic.pending and self._turn_clock.may_be_over(now):
            self._assume_timeouts(game, viewer)
        elif found is not None and game.turn.player_id:
            self._turn_clock.update(asked_at, left)
            self._is_doubtful = False
        if found is None or found or not is_certain or self._deferred or self.referee is None:
            return found or ()
        changed = self._expiries.check(self.referee, game)
        return () if changed is None else (changed,)

    def is_after_joins(self, game: Game) -> bool:
        """Whether a view of a hand was shown after all joins so far, which it may have overlapped."""
        listed = {player.player_id for player in game.table}
        return bool(game.turn.player_id) and not self.traffic.pending and listed == {*self._players}

    def start_following(self) -> None:
        """Follow this empty table from now on."""
        self.referee, self._players, self._is_doubtful, self.has_no_acts = Referee(), [], False, True
        self._deferred.clear()
        self._counted = 0
        self.is_misleading = False

    def _referee_from(self, referee: Referee, game: Game, *, early: bool) -> Referee | None:
        """Return the referee that can follow the table from a view on, None if that is not possible.

        The first hand shows the blinds and stacks, if no player has acted in it.
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
        start = Referee(Stakes(bets[0], bets[1]), stacks.pop())
        for player in self._players:
            start.on_exchange(player, Join(player, ""), 201)
        return start

    def _assume_timeouts(self, game: Game, viewer: Guid) -> None:
        """Check whether a view fits if players have timed out, one after another; else stop following."""
        if self.referee is None:
            return
        for _ in self._players:
            if not (player := self.referee.player_to_act()):
                break
            self.referee.on_exchange(player, Leave(player, "", player), 200)
            if self._apply_if_valid(lambda referee: (referee, referee.on_shown(viewer, game))):
                return
        self.referee = None

    def _apply(
        self, update: RefereeUpdate, since: float | None, now: float, *, is_certain: bool, needed: bool = False
    ) -> Sequence[Violation] | None:
        """Apply an update that was executed after `since`, if that is known; return violations if the order is certain.

        Otherwise the update is deferred until it fits, and None is returned. A `needed` update has been executed: the
        game cannot be followed without it for long.
        """
        if self.referee is None:
            return None
        if is_certain and not any(one.is_executed for one in self._deferred):
            folded = self._folded_by_refusal(update)
            try:
                referee, found = update(self.referee)
            except IllegalMove:  # no state that was shown can lead here
                self.referee = None
                return None
            if found and folded is not None:
                referee, found = folded, (self._refusal_violation(),)
            self._refused_player = None
            self._set_referee(None if referee.is_lost else referee)
            self._drop_views_before(since)
            self._retry_deferred()
            return found
        if self._apply_if_valid(update):
            self._drop_views_before(since)
            self._retry_deferred()
            return ()
        self._deferred.append(DeferredUpdate(update, needed, now, self.games))
        if len(self._deferred) > MAX_DEFERRED:
            views = [one for one in self._deferred if not one.is_executed]
            if views:
                self._deferred.remove(views[0])
            else:
                self.referee = None
        return None

    def _folded_by_refusal(self, update: RefereeUpdate) -> Referee | None:
        """Return the referee for which an update is right if a refused act has folded the hand, None if it is not."""
        player = self._refused_player
        if self.referee is None or player is None or self.referee.player_to_act() != player:
            return None
        folded = deepcopy(self.referee)
        folded.on_exchange(player, Act(player, "", player, ACTION_FOLD), 201)
        try:
            referee, found = update(folded)
        except IllegalMove:
            return None
        return None if found or referee.is_lost else referee

    def _refusal_violation(self) -> Violation:
        found = f"the hand of {self._refused_player} folded by an act that was refused"
        return Violation("holdem-4.4", found, "no fold, and still this player's turn")

    def _set_referee(self, referee: Referee | None) -> None:
        """Set the referee and count hands."""
        self.referee = referee
        if referee is not None:
            self.games += referee.hand_count - self._counted
            self._counted = referee.hand_count

    def _apply_if_valid(self, update: RefereeUpdate) -> bool:
        """Apply an update if it fits, or departs only from what is tolerated."""
        if self.referee is None:
            return False
        try:
            referee, found = update(deepcopy(self.referee))
        except IllegalMove:
            return False
        if referee.is_lost or _has_fault(found):
            return False
        self._set_referee(referee)
        return True

    def _drop_views_before(self, since: float | None) -> None:
        """Drop deferred views that arrived before a time from which something later is known."""
        if since is not None:
            self._deferred = deque(one for one in self._deferred if one.is_executed or one.at >= since)

    def _retry_deferred(self) -> None:
        """Retry deferred updates; discard views that are two hands old."""
        index = 0
        while index < len(self._deferred):
            if not self._apply_if_valid(self._deferred[index].update):
                index += 1
                continue
            del self._deferred[index]
            self._deferred = deque(one for one in self._deferred if one.is_executed or one.hands + 1 >= self.games)
            index = 0


def _has_fault(found: Sequence[Violation]) -> bool:
    """Whether any of these violations is more than a tolerated departure."""
    return any(default_outcome(violation.clause) is Outcome.FAIL for violation in found)


class FollowedTables:
    """All tables of a house, and the GUIDs of its users."""

    def __init__(self) -> None:
        self.traffic = RequestTraffic()
        self._tables: dict[Guid, FollowedTable] = {}
        self._users: dict[str, Guid] = {}

    def table(self, game: Guid) -> FollowedTable:
        """Return the followed table of a game, new if it is unknown."""
        return _remember(self._tables, game, FollowedTable())

    def add_open_table(self, game: Guid) -> FollowedTable:
        """Add a game that was just opened and has no players yet."""
        self._tables[game] = table = FollowedTable()
        table.start_following()
        return table

    def on_unread_games(self) -> None:
        """Process a list of games that cannot be read."""
        for table in self._tables.values():
            table.shown_turns.on_unread_view()

    def guid_of(self, user: str) -> Guid | None:
        """Return the GUID of a user, None if it is unknown."""
        return self._users.get(user)

    def belongs_to_another(self, player: Guid, user: str) -> bool:
        """Whether a GUID is known to be that of another user."""
        owners = [name for name, guid in self._users.items() if guid == player]
        return bool(owners) and user not in owners

    def with_names(self, text: str) -> str:
        """Return a text with the names of the users in place of their GUIDs."""
        names = {guid: user for user, guid in self._users.items()}
        return GUID_PATTERN.sub(lambda found: names.get(found[0], found[0]), text)

    def set_guid(self, user: str, guid: Guid) -> None:
        """Set the GUID of a user."""
        _remember(self._users, user, guid)
        self._users[user] = guid


def _remember[K, V](known: dict[K, V], key: K, value: V) -> V:
    """Return the value of a key, inserting a default; forgets the oldest of too many."""
    if key not in known and len(known) >= MAX_TABLES:
        del known[next(iter(known))]
    return known.setdefault(key, value)
