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
from croupier.rooms.holdem.referee import Referee, broken
from croupier.rooms.holdem.wire import FOLD, Act, Game, Guid

QUICK: Final = 1.0
"""So many seconds a turn lasts for certain, and as much before its end it may be over."""

MOST: Final = 10_000
"""So many tables, and as many users, are known at most."""


WAITING: Final = 16
"""So many things at most wait for others by which they fit."""

UNKNOWN: Final = (Violation("holdem-6.1", "something that is about what nobody knows yet", "what is known"),)
"""Why something waits: in its hand nobody has looked, or somebody plays who has not come yet."""

type Deed = Callable[[Referee], tuple[Referee, Sequence[Violation]]]
"""Something that a referee is told: who follows the table from then on, and what is wrong with it."""


class Turn:
    """What is known of the time at a table, in s: `since` when it is somebody's turn, for how long at least."""

    def __init__(self) -> None:
        self._since = 0.0
        self._lasts = QUICK
        self._window = QUICK

    def may_be_over(self, now: float) -> bool:
        """Whether the turn may have ended by itself."""
        return now - self._since >= self._lasts

    def began(self, now: float) -> None:
        """Something was done by which a turn begins."""
        self._since, self._lasts = now, self._window

    def seen(self, now: float, left: float | None) -> None:
        """So many seconds are left of the turn; None: it does not say so."""
        self._since, self._lasts = now, QUICK if left is None else max(0.0, left - QUICK)
        self._window = max(self._window, self._lasts)


class Waiting(NamedTuple):
    """Something that does not fit yet: whether it was certainly `done`, and how many hands there were when it came."""

    deed: Deed
    done: bool
    hands: int


class Traffic:
    """What is asked at the same time. `pending` is how much of it may change something."""

    def __init__(self) -> None:
        self.pending = 0
        self._changes = 0

    def asks(self, *, change: bool) -> int | None:
        """Something is asked: what `certain` wants to know; None if something is pending that may change something."""
        quiet = not self.pending
        if change:
            self.pending += 1
            self._changes += 1
        return self._changes if quiet else None

    def answered(self, asked: int | None, *, change: bool) -> bool:
        """It is answered: whether nothing else was asked meanwhile that may have changed something."""
        certain = asked == self._changes
        if change:
            self.pending -= 1
            self._changes += 1
        return certain


class Table:
    """One game. `referee` is None while it is not followed; `hands` counts those that were."""

    def __init__(self) -> None:
        self.referee: Referee | None = None
        self.hands = 0
        self._counted = 0
        self._players: list[Guid] = []  # who has joined through the relay, in the order in which they did
        self.traffic = Traffic()
        self._turn = Turn()
        self._doubtful = False  # whether somebody has come while nobody knows whether a hand was over
        self.untouched = False  # whether nobody has asked to act yet
        self._waiting: deque[Waiting] = deque()

    # What is done.

    def joined(self, player: Guid, now: float, *, sure: bool) -> None:
        """Somebody has sat down."""
        if self.referee is not None:
            if player not in self._players:
                self._players.append(player)
            self.referee.joined(player)
            self._turn.began(now)
            self._doubtful = self._doubtful or not sure
            self._retry()  # a stream may have shown him before he was answered

    def left(self, player: Guid, now: float, *, sure: bool) -> None:
        """Somebody has left."""
        if self.referee is None:
            return
        if not sure or player not in self._players:
            self.referee = None
            return
        self.referee.left(player)
        self._turn.began(now)
        if not self.referee.hands:
            self._players.remove(player)

    def invalid(self, act: Act) -> str:
        """The clause by which an act is an invalid bet, "" where it is none, or is not certain to be one."""
        running = None if self.referee is None else self.referee.running
        if self.referee is None or running is None or self.referee.turn() != act.player or act.action == FOLD:
            return ""
        seat = running.seat(act.player)
        assert seat is not None, "the turn of somebody who does not play"
        return broken(running.hand.legal, act.amount, running.hand.stacks[seat])

    def acted(self, act: Act, status: int, asked: float, now: float, *, sure: bool) -> Sequence[Violation]:
        """What was `asked` at this time is answered now: what is wrong with that."""
        done = 200 <= status < 300
        unseen = self.referee is not None and not self.referee.turn()
        if unseen and not done:
            return ()

        def deed(referee: Referee) -> tuple[Referee, Sequence[Violation]]:
            if done and not referee.turn():
                return referee, UNKNOWN
            return referee, referee.acted(act.player, act.action, act.amount, status)

        sure = sure and not unseen and not self._turn.may_be_over(now)
        found = self._do(deed, sure=sure, needed=done)
        if done:
            self._turn.began(asked)
        return found or ()

    def lost(self) -> None:
        """Something was done here of which nobody knows what."""
        self.referee = None

    # What is seen.

    def saw(
        self, game: Game, viewer: Guid | None, asked: float, now: float, left: float | None, *, sure: bool
    ) -> Sequence[Violation]:
        """What was `asked` at this time is shown now: what is wrong with it.

        The `viewer` is "" for the public, and None for somebody unknown. `left` is how many seconds the turn lasts
        from then on, as it is told.
        """
        if viewer is None or not sure:
            game, viewer = replace(game, cards=replace(game.cards, hole=())), ""
        if self.referee is None:
            if sure and not game.table and not game.turn.player_id:
                self.made()
            return ()
        early = self.untouched

        def deed(referee: Referee) -> tuple[Referee, Sequence[Violation]]:
            start = self._start(referee, game, early=early)
            return (referee, UNKNOWN) if start is None else (start, start.saw(game, viewer))

        if sure and self._start(self.referee, game, early=early) is None:
            self.referee = None  # somebody plays whom nobody has heard, or for what nobody knows
            return ()
        sure = sure and not self._turn.may_be_over(now) and not (self._doubtful and not self.referee.turn())
        found = self._do(deed, sure=sure)
        if found is None and not self.traffic.pending and self._turn.may_be_over(now):
            self._overtaken(game, viewer)
        elif found is not None and game.turn.player_id:
            self._turn.seen(asked, left)
            self._doubtful = False
        return found or ()

    def made(self) -> None:
        """Nobody sits at this table: it is followed from now on."""
        self.referee, self._players, self._doubtful, self.untouched = Referee(), [], False, True
        self._waiting.clear()
        self._counted = 0

    def _start(self, referee: Referee, game: Game, *, early: bool) -> Referee | None:
        """Who follows the table from a look on, None where nobody can.

        From the first hand, if nobody has acted in it, is taken what is played for.
        """
        if not {one.player_id for one in game.table} <= {*self._players}:
            return None
        if referee.hands or not game.turn.player_id:
            return referee
        bets = sorted(one.bet_so_far for one in game.table if one.bet_so_far)
        stacks = {one.wealth + one.bet_so_far for one in game.table}
        paid = sum(pot.size for pot in game.pots)
        if not early or len(bets) != 2 or bets[0] == bets[1] or len(stacks) != 1 or paid != sum(bets):
            return None
        start = Referee((bets[0], bets[1]), stacks.pop())
        for player in self._players:
            start.joined(player)
        return start

    def _overtaken(self, game: Game, viewer: Guid) -> None:
        """Whether what is seen is right if some have left, one after another, because their time was over."""
        if self.referee is None:
            return
        for _ in self._players:
            if not (player := self.referee.turn()):
                break
            self.referee.left(player)
            if self._fits(lambda referee: (referee, referee.saw(game, viewer))):
                return
        self.referee = None

    def _do(self, deed: Deed, *, sure: bool, needed: bool = False) -> Sequence[Violation] | None:
        """Tell the referee something: what is wrong with it, if that is `sure`.

        If not, it waits until it fits, and None is told. What is `needed` has been done: the game cannot be followed
        without it for long.
        """
        if self.referee is None:
            return None
        if sure and not any(one.done for one in self._waiting):
            try:
                referee, found = deed(self.referee)
            except IllegalMove:  # nothing that was shown can have led there
                self.referee = None
                return None
            self._is(None if referee.lost else referee)
            self._retry()
            return found
        if self._fits(deed):
            self._retry()
            return ()
        self._waiting.append(Waiting(deed, needed, self.hands))
        if len(self._waiting) > WAITING:
            looks = [one for one in self._waiting if not one.done]
            if looks:
                self._waiting.remove(looks[0])
            else:
                self.referee = None
        return None

    def _is(self, referee: Referee | None) -> None:
        """This is how the table stands now."""
        self.referee = referee
        if referee is not None:
            self.hands += referee.hands - self._counted
            self._counted = referee.hands

    def _fits(self, deed: Deed) -> bool:
        """Let something happen if it fits."""
        if self.referee is None:
            return False
        try:
            referee, found = deed(deepcopy(self.referee))
        except IllegalMove:
            return False
        if found or referee.lost:
            return False
        self._is(referee)
        return True

    def _retry(self) -> None:
        """Something has happened: whatever fits now does, too. What was shown two hands ago is not so any more."""
        at = 0
        while at < len(self._waiting):
            if not self._fits(self._waiting[at].deed):
                at += 1
                continue
            del self._waiting[at]
            self._waiting = deque(one for one in self._waiting if one.done or one.hands + 1 >= self.hands)
            at = 0


class Tables:
    """All tables of a house, and who its users are."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self._tables: dict[Guid, Table] = {}
        self._users: dict[str, Guid] = {}

    def table(self, game: Guid) -> Table:
        """A game, heard of for the first time or not."""
        return _kept(self._tables, game, Table())

    def opened(self, game: Guid) -> Table:
        """A game that somebody has made, and in which nobody sits yet."""
        self._tables[game] = table = Table()
        table.made()
        return table

    def guid(self, user: str) -> Guid | None:
        """The GUID of a user, None where nobody has heard it."""
        return self._users.get(user)

    def is_called(self, user: str, guid: Guid) -> None:
        """A user has this GUID."""
        _kept(self._users, user, guid)
        self._users[user] = guid


def _kept[K, V](known: dict[K, V], key: K, value: V) -> V:
    """What is known by a key; of too many the oldest is forgotten."""
    if key not in known and len(known) >= MOST:
        del known[next(iter(known))]
    return known.setdefault(key, value)
