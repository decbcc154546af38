"""A table of hold'em: who plays there, the hand that is being played, and what there is to be seen of it.

It is told what its players do and what time it is. See docs/protocols/holdem.md, 3 to 6.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from msgspec import UNSET, Raw, UnsetType

from croupier.core.dealer import Dealer, Deck, commitment
from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat
from croupier.core.rules import Turn as Whose
from croupier.core.session import Changed, Commit, Finished, Reveal
from croupier.rooms.holdem.cards import CARDS, names
from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table import presentation
from croupier.rooms.holdem.table.finished_hands import Hands, Played
from croupier.rooms.holdem.table.persistence import KeptTable
from croupier.rooms.holdem.table.seats import Membership, Seats, Sitter
from croupier.rooms.holdem.table.wording import expiry, microseconds, reason
from croupier.rooms.holdem.wire import Cards, Game, Guid, Winner

OVER: Final = Whose.OVER

IN_A_ROW: Final = 64
BREATH: Final = 0.01
"""So many hands in which nobody has anything to decide are played in one moment; the next one waits so many seconds."""

type Fact = Commit | Finished | Reveal | Changed
"""What a table tells to whoever listens to its house."""


class Table:
    """One game. `version` grows with everything that can be seen; `alarm` is when it wants to hear `ring`, if it does.

    `dealers` is asked before every hand for its number in the house, and its dealer. `epoch` is the time on the wall,
    in seconds since 1970, at which `now` was 0. `members` is notified of every user who comes or goes.
    `hands` are the last finished ones, by their number at this table. The house sets `number`, which grows in the
    order in which tables are made, and `expires`, the time at which the table may be removed if nobody is there.
    """

    __slots__ = (
        "_acted", "_changed", "_closing", "_deal", "_dealer", "_dealers", "_dealt", "_deck", "_epoch", "_facts",
        "_faults", "_finished", "_hand", "_kept", "_seats", "_settings", "_shown", "_turn_ends", "_winners",
        "alarm", "expires", "guid", "hands", "number", "version",
    )  # fmt: skip

    def __init__(
        self,
        guid: Guid,
        settings: Settings,
        dealers: Callable[[], tuple[int, Dealer]],
        members: Membership,
        epoch: float = 0.0,
    ) -> None:
        self.guid = guid
        self.number = 0
        self.expires: float | None = None
        self.version = 1
        self.alarm: float | None = None
        self.hands = Hands()
        self._settings = settings
        self._dealers = dealers
        self._epoch = epoch
        self._seats = Seats(guid, settings.seats, settings.stack, members)
        self._closing = False
        self._hand: Hand | None = None  # the running one; one that is over as long as its end is shown
        self._dealt: list[Sitter] = []  # who plays it, by seat, also who has left meanwhile
        self._acted: set[Seat] = set()  # who has acted in this round since the last raise
        self._faults: list[tuple[Seat, str]] = []
        self._turn_ends = 0  # in microseconds since 1970, of the last turn
        self._deal = 0
        self._dealer: Dealer
        self._deck: Deck
        self._finished = 0
        self._winners: Sequence[Winner] | UnsetType = () if settings.dialect == "hspe-go" else UNSET
        self._facts: list[Fact] = []
        self._changed = False
        self._shown: Game | None = None  # to the public; made when it is asked for
        self._kept: Raw | None = None  # as it is kept; made when it is asked for

    # Who is here.

    def __len__(self) -> int:
        """How many sit or wait here."""
        return len(self._seats)

    @property
    def free(self) -> bool:
        """Whether somebody who comes now can sit down (holdem-3.1)."""
        return self._seats.free

    @property
    def playing(self) -> bool:
        """Whether a hand is running."""
        return self._hand is not None and self._hand.turn is not OVER

    def seat_of(self, user: str) -> Guid | None:
        """The GUID of the player that a user is here, seated or in the queue."""
        sitter = self._seats.of(user)
        return None if sitter is None else sitter.guid

    def called(self, guid: Guid) -> Sitter | None:
        """The player of a GUID, seated or in the queue."""
        return self._seats.called(guid)

    def join(self, user: str, guid: Guid, now: float) -> bool:
        """Somebody who is not here yet joins; whether there is a seat for him (holdem-3.5, holdem-3.6)."""
        seated = self._seats.add(user, guid).chair is not None
        if seated and self._hand is None:
            self.touch()
            self._begin(now)  # where blinds are large his chips may be gone when this is over
        return seated

    def leave(self, sitter: Sitter, now: float) -> None:
        """A player leaves; a hand that he is in is folded (holdem-3.10 to holdem-3.12)."""
        seated = sitter.chair is not None
        self._seats.remove(sitter)
        hand = self._hand
        if hand is None:
            if seated:
                self.touch()
                self._begin(now)
        elif sitter.place is not None:
            self.touch()
            if hand.turn is not OVER and not hand.folded[sitter.place]:
                turn = hand.turn
                hand.leave(sitter.place)
                if hand.turn != turn:  # else whoever has to act has been told until when
                    self._go_on(now)

    # What they do.

    def waits_for(self, sitter: Sitter) -> bool:
        """Whether it is the turn of this player."""
        return self._hand is not None and sitter.place is not None and self._hand.turn == sitter.place

    def fold(self, now: float) -> None:
        """The player whose turn it is folds."""
        assert self._hand is not None, "a fold in no hand"
        self.touch()
        self._hand.fold()
        self._go_on(now)

    def bet(self, chips: int, now: float) -> str:
        """The player whose turn it is adds chips; an invalid bet folds his hand, and the reason is returned (H5)."""
        hand = self._hand
        assert hand is not None, "a bet in no hand"
        seat, before = hand.turn, hand.to_match
        assert isinstance(seat, int), "a bet in nobody's turn"
        self.touch()
        told = ""
        try:
            hand.bet(chips)
        except IllegalMove:
            told = reason(chips, hand.legal)
            self._faults.append((seat, told))
            hand.fold()
        else:
            if hand.to_match > before:
                self._acted.clear()
            self._acted.add(seat)
        self._go_on(now)
        return told

    def ring(self, now: float) -> None:
        """Time has passed: who has not acted in time is removed (holdem-4.16), or the next hand begins."""
        if self.alarm is None or now < self.alarm:
            return
        assert self._hand is not None, "an alarm without a hand"
        turn = self._hand.turn
        if isinstance(turn, int):
            self.leave(self._dealt[turn], now)
        else:
            self.touch()
            self._begin(now)

    def halt(self, now: float, *, final: bool) -> None:
        """The room closes: no new hands. When it is final, a running hand is void (holdem-3.15)."""
        self._closing = True
        if final and self._hand is not None:
            self.touch()
            if self._hand.turn is not OVER:
                self._tell_end(self._played(self._hand), (0,) * len(self._dealt))
            self._begin(now)

    # The hand.

    def _begin(self, now: float) -> None:
        """No hand is running: those in the queue sit down, and if there are two to play the next one is dealt."""
        for _ in range(IN_A_ROW):
            self._clear()
            self._seats.fill()
            dealt = self._seats.seated
            if len(dealt) < 2 or self._closing:
                return
            self._start(dealt)
            if self._play_on(now):
                return
        self.alarm = now + BREATH

    def _clear(self) -> None:
        """Take the cards off the table."""
        for sitter in self._dealt:
            sitter.place = None
        self._dealt = []
        self._hand = None
        self.alarm = None

    def _start(self, dealt: list[Sitter]) -> None:
        """Post the blinds of a new hand."""
        settings = self._settings
        self._deal, self._dealer = self._dealers()
        self._promise()
        self._deck = self._dealer.deck(len(CARDS))
        self._dealt = dealt
        for place, sitter in enumerate(dealt):
            sitter.place = place
        self._hand = Hand(
            [sitter.chips for sitter in dealt],
            button=self._seats.pass_button(dealt),
            blinds=settings.forced,
            ante=settings.ante,
            straddle=settings.straddle,
        )
        self._faults = []

    def _promise(self) -> None:
        """Tell by what the dealer is bound; again where it may have been interrupted before anybody was told."""
        self._facts.append(Commit(self._deal, self._dealer.algorithm, commitment(self._dealer.server_seed)))

    def _go_on(self, now: float) -> None:
        """Somebody has acted or left: what comes next."""
        if not self._play_on(now):
            self._begin(now)

    def _play_on(self, now: float) -> bool:
        """Deal what is due; false if the hand is over and the next one may begin at once."""
        hand = self._hand
        assert hand is not None, "a deal to no hand"
        while hand.wanted:
            self._acted.clear()
            hand.deal([*islice(self._deck, hand.wanted)])
        if hand.turn is not OVER:
            self._begin_turn(now)
            return True
        self._finish(hand)
        self.alarm = now + self._settings.pause_seconds
        return self._settings.pause_seconds > 0

    def _begin_turn(self, now: float) -> None:
        """Somebody has to act. No two turns of a table end in the same microsecond (holdem-5.11)."""
        self.alarm = now + self._settings.turn_seconds
        self._turn_ends = max(self._turn_ends + 1, microseconds(self._epoch + self.alarm))

    def _finish(self, hand: Hand) -> None:
        """The hand is over: who is still there has what it has left him, and leaves if that is nothing (H7)."""
        for sitter, chips in zip(self._dealt, hand.stacks, strict=True):
            if sitter.chair is not None:
                sitter.chips = chips
                if not chips:
                    self._seats.remove(sitter)
        if self._winners is not UNSET:
            self._winners = presentation.winners(hand, self._dealt)
        played = self._played(hand)
        self._finished += 1
        self.hands.add(played, self._settings.history)
        self._tell_end(played, hand.payoff())

    def _tell_end(self, played: Played, nets: tuple[int, ...]) -> None:
        """Tell what a hand has come to, and the seed of its deal."""
        dealer = self._dealer
        self._facts.append(Finished(self._deal, nets, played))
        self._facts.append(Reveal(self._deal, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands))

    def _played(self, hand: Hand) -> Played:
        players, guids = (tuple(sitter.user for sitter in self._dealt), tuple(sitter.guid for sitter in self._dealt))
        return Played(self.guid, self._finished + 1, self._deal, players, guids, hand, tuple(self._faults))

    # What is kept of it.

    def kept(self) -> Raw:
        """All that there is to know about the table, but for its settings: a KeptTable as JSON.

        It is written when something has happened since it was asked for last.
        """
        if self._kept is None:
            button, big_blind = self._seats.last
            kept = KeptTable(
                guid=self.guid,
                version=self.version,
                alarm=self.alarm,
                sitters=tuple(self._seats.kept()),
                button=button,
                big_blind=big_blind,
                running=None if self._hand is None else self._played(self._hand).kept(),
                acted=() if self._hand is None else tuple(sorted(self._acted)),
                finished=self._finished,
                winners=() if self._winners is UNSET else tuple(self._winners),
                hands=self.hands.kept(),
                number=self.number,
                expires=self.expires,
                turn_ends=self._turn_ends,
            )
            self._kept = Raw(kept.to_json())
        return self._kept

    def restore(self, kept: KeptTable, dealer: Callable[[int], Dealer]) -> None:
        """Go on where a table of the same GUID was, which is kept so. `dealer` gives the one of a hand of the house."""
        self.version = kept.version
        self.alarm = kept.alarm
        self.number = kept.number
        self.expires = kept.expires
        self._turn_ends = kept.turn_ends
        self._seats.restore(kept.sitters, kept.button, kept.big_blind)
        self._finished = kept.finished
        self.hands = Hands(kept.hands, kept.finished)
        if self._winners is not UNSET:
            self._winners = kept.winners
        if kept.running is None:
            return
        played = Played.of(kept.running)
        self._deal, self._hand, self._faults = played.deal, played.hand, [*played.faults]
        self._acted = {*kept.acted}
        here = {sitter.place: sitter for sitter in self._seats.seated if sitter.place is not None}
        gone = map(Sitter, played.players, played.guids)
        self._dealt = [here.get(place, sitter) for place, sitter in enumerate(gone)]
        self._dealer = dealer(played.deal)
        self._deck = self._dealer.deck(len(CARDS))
        for _ in range(sum(map(len, played.hand.holes)) + len(played.hand.board)):
            next(self._deck)

    def resume(self, settings: Settings, now: float) -> None:
        """The room is open again: an open turn has its full time, and where no hand is running one may begin."""
        self._settings = settings
        self._closing = False
        if self._hand is None:
            if len(self._seats.seated) > 1:
                self.touch()
                self._begin(now)
            return
        self.touch()
        if self._hand.turn is OVER:
            self.alarm = now + self._settings.pause_seconds
            return
        self._promise()
        self._begin_turn(now)

    # What there is to be seen.

    def touch(self) -> None:
        """What there is to be seen has changed."""
        self._changed = True
        self._shown = None

    def facts(self) -> list[Fact]:
        """What has happened since this was asked last; ends with Changed if it can be seen. It is asked whenever
        something may have happened.
        """
        facts, self._facts = self._facts, []
        self._kept = None
        if self._changed:
            self._changed = False
            self.version += 1
            facts.append(Changed(self.guid, self.version))
        return facts

    def view(self, user: str | None = None) -> Game:
        """The game as a user sees it, None as the public does; hole cards are those that he was dealt (holdem-5.6)."""
        shown = self._shown
        if shown is None:
            shown = self._shown = self._view()
        hole = () if user is None else self.hole(user)
        if not hole:
            return shown
        cards = shown.cards
        own = Cards(hole, cards.flop, cards.turn, cards.river)
        return Game(shown.game_id, shown.table, shown.turn, own, shown.pots, shown.last_winners)

    def hole(self, user: str) -> tuple[str, ...]:
        """The hole cards that a user was dealt, if he plays the hand that is shown."""
        sitter = self._seats.of(user)
        if sitter is None or sitter.place is None:
            return ()
        assert self._hand is not None, "a place in no hand"
        return names(self._hand.holes[sitter.place])

    def _view(self) -> Game:
        """The game as the public sees it."""
        hidden = () if self._settings.dialect == "readme" else None
        ends = expiry(self._turn_ends)
        if self._hand is None:
            return presentation.idle(self.guid, self._seats.seated, hidden, self._winners)
        return presentation.game(
            self.guid, self._hand, self._dealt, self._acted, expiry=ends, hole=hidden, winners=self._winners
        )
