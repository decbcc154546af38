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
from croupier.core.session import Commit, HandFinished, Reveal, TableChanged
from croupier.rooms.holdem.cards import CARDS, card_names
from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table import presentation
from croupier.rooms.holdem.table.finished_hands import FinishedHand, FinishedHands
from croupier.rooms.holdem.table.persistence import TableSnapshot
from croupier.rooms.holdem.table.seats import Membership, Participant, Seats
from croupier.rooms.holdem.table.wording import format_expiry, invalid_bet_reason, to_microseconds
from croupier.rooms.holdem.wire import Cards, Game, Guid, Winner

OVER: Final = Whose.OVER

MAX_HANDS_WITHOUT_PAUSE: Final = 64
FORCED_PAUSE_SECONDS: Final = 0.01
"""So many hands in which nobody has anything to decide are played in one moment; the next one waits so many seconds."""

type TableFact = Commit | HandFinished | Reveal | TableChanged
"""What a table tells to whoever listens to its house."""


class Table:
    """One game. `version` grows with everything that can be seen; `alarm` is when it wants to hear `ring`, if it does.

    `dealers` is asked before every hand for its number in the house, and its dealer. `epoch` is the time on the wall,
    in seconds since 1970, at which `now` was 0. `members` is notified of every user who comes or goes.
    `hands` are the last finished ones, by their number at this table. The house sets `number`, which grows in the
    order in which tables are made, and `expires`, the time at which the table may be removed if nobody is there.
    """

    __slots__ = (
        "_acted_seats",
        "_dealer",
        "_dealt_in",
        "_deck",
        "_epoch",
        "_facts",
        "_faults",
        "_finished_count",
        "_hand",
        "_hand_number",
        "_has_changed",
        "_is_closing",
        "_next_dealer",
        "_public_view",
        "_seats",
        "_settings",
        "_snapshot",
        "_turn_ends",
        "_winners",
        "deadline",
        "expires_at",
        "guid",
        "hands",
        "number",
        "version",
    )  # fmt: skip

    def __init__(
        self,
        guid: Guid,
        settings: Settings,
        next_dealer: Callable[[], tuple[int, Dealer]],
        members: Membership,
        epoch: float = 0.0,
    ) -> None:
        self.guid = guid
        self.number = 0
        self.expires_at: float | None = None
        self.version = 1
        self.deadline: float | None = None
        self.hands = FinishedHands()
        self._settings = settings
        self._next_dealer = next_dealer
        self._epoch = epoch
        self._seats = Seats(guid, settings.seats, settings.stack, members)
        self._is_closing = False
        self._hand: Hand | None = None  # the running one; one that is over as long as its end is shown
        self._dealt_in: list[Participant] = []  # who plays it, by seat, also who has left meanwhile
        self._acted_seats: set[Seat] = set()  # who has acted in this round since the last raise
        self._faults: list[tuple[Seat, str]] = []
        self._turn_ends = 0  # in microseconds since 1970, of the last turn
        self._hand_number = 0
        self._dealer: Dealer
        self._deck: Deck
        self._finished_count = 0
        self._winners: Sequence[Winner] | UnsetType = () if settings.dialect == "hspe-go" else UNSET
        self._facts: list[TableFact] = []
        self._has_changed = False
        self._public_view: Game | None = None  # to the public; made when it is asked for
        self._snapshot: Raw | None = None  # as it is kept; made when it is asked for

    # Who is here.

    def __len__(self) -> int:
        """How many sit or wait here."""
        return len(self._seats)

    @property
    def has_free_seat(self) -> bool:
        """Whether somebody who comes now can sit down (holdem-3.1)."""
        return self._seats.has_free_seat

    @property
    def playing(self) -> bool:
        """Whether a hand is running."""
        return self._hand is not None and self._hand.turn is not OVER

    def player_guid(self, user: str) -> Guid | None:
        """The GUID of the player that a user is here, seated or in the queue."""
        sitter = self._seats.by_user(user)
        return None if sitter is None else sitter.guid

    def by_guid(self, guid: Guid) -> Participant | None:
        """The player of a GUID, seated or in the queue."""
        return self._seats.by_guid(guid)

    def join(self, user: str, guid: Guid, now: float) -> bool:
        """Somebody who is not here yet joins; whether there is a seat for him (holdem-3.5, holdem-3.6)."""
        seated = self._seats.add(user, guid).chair is not None
        if seated and self._hand is None:
            self.mark_changed()
            self._begin_hand(now)  # where blinds are large his chips may be gone when this is over
        return seated

    def leave(self, participant: Participant, now: float) -> None:
        """A player leaves; a hand that he is in is folded (holdem-3.10 to holdem-3.12)."""
        seated = participant.chair is not None
        self._seats.remove(participant)
        hand = self._hand
        if hand is None:
            if seated:
                self.mark_changed()
                self._begin_hand(now)
        elif participant.hand_seat is not None:
            self.mark_changed()
            if hand.turn is not OVER and not hand.folded[participant.hand_seat]:
                turn = hand.turn
                hand.leave(participant.hand_seat)
                if hand.turn != turn:  # else whoever has to act has been told until when
                    self._continue_play(now)

    # What they do.

    def waits_for(self, participant: Participant) -> bool:
        """Whether it is the turn of this player."""
        return self._hand is not None and participant.hand_seat is not None and self._hand.turn == participant.hand_seat

    def fold(self, now: float) -> None:
        """The player whose turn it is folds."""
        assert self._hand is not None, "a fold in no hand"
        self.mark_changed()
        self._hand.fold()
        self._continue_play(now)

    def bet(self, chips: int, now: float) -> str:
        """The player whose turn it is adds chips; an invalid bet folds his hand, and the reason is returned (H5)."""
        hand = self._hand
        assert hand is not None, "a bet in no hand"
        seat, before = hand.turn, hand.to_match
        assert isinstance(seat, int), "a bet in nobody's turn"
        self.mark_changed()
        told = ""
        try:
            hand.bet(chips)
        except IllegalMove:
            told = invalid_bet_reason(chips, hand.legal)
            self._faults.append((seat, told))
            hand.fold()
        else:
            if hand.to_match > before:
                self._acted_seats.clear()
            self._acted_seats.add(seat)
        self._continue_play(now)
        return told

    def handle_deadline(self, now: float) -> None:
        """Time has passed: who has not acted in time is removed (holdem-4.16), or the next hand begins."""
        if self.deadline is None or now < self.deadline:
            return
        assert self._hand is not None, "an alarm without a hand"
        turn = self._hand.turn
        if isinstance(turn, int):
            self.leave(self._dealt_in[turn], now)
        else:
            self.mark_changed()
            self._begin_hand(now)

    def halt(self, now: float, *, final: bool) -> None:
        """The room closes: no new hands. When it is final, a running hand is void (holdem-3.15)."""
        self._is_closing = True
        if final and self._hand is not None:
            self.mark_changed()
            if self._hand.turn is not OVER:
                self._announce_result(self._make_finished_hand(self._hand), (0,) * len(self._dealt_in))
            self._begin_hand(now)

    # The hand.

    def _begin_hand(self, now: float) -> None:
        """No hand is running: those in the queue sit down, and if there are two to play the next one is dealt."""
        for _ in range(MAX_HANDS_WITHOUT_PAUSE):
            self._clear_hand()
            self._seats.fill_from_queue()
            dealt = self._seats.seated_participants
            if len(dealt) < 2 or self._is_closing:
                return
            self._start_hand(dealt)
            if self._deal_until_decision(now):
                return
        self.deadline = now + FORCED_PAUSE_SECONDS

    def _clear_hand(self) -> None:
        """Take the cards off the table."""
        for sitter in self._dealt_in:
            sitter.hand_seat = None
        self._dealt_in = []
        self._hand = None
        self.deadline = None

    def _start_hand(self, dealt: list[Participant]) -> None:
        """Post the blinds of a new hand."""
        settings = self._settings
        self._hand_number, self._dealer = self._next_dealer()
        self._commit_to_deal()
        self._deck = self._dealer.next_deck(len(CARDS))
        self._dealt_in = dealt
        for place, sitter in enumerate(dealt):
            sitter.hand_seat = place
        self._hand = Hand(
            [sitter.chips for sitter in dealt],
            button=self._seats.pass_button(dealt),
            blinds=settings.blind_amounts,
            ante=settings.ante,
            straddle=settings.straddle,
        )
        self._faults = []

    def _commit_to_deal(self) -> None:
        """Tell by what the dealer is bound; again where it may have been interrupted before anybody was told."""
        self._facts.append(Commit(self._hand_number, self._dealer.algorithm, commitment(self._dealer.server_seed)))

    def _continue_play(self, now: float) -> None:
        """Somebody has acted or left: what comes next."""
        if not self._deal_until_decision(now):
            self._begin_hand(now)

    def _deal_until_decision(self, now: float) -> bool:
        """Deal what is due; false if the hand is over and the next one may begin at once."""
        hand = self._hand
        assert hand is not None, "a deal to no hand"
        while hand.cards_due:
            self._acted_seats.clear()
            hand.deal([*islice(self._deck, hand.cards_due)])
        if hand.turn is not OVER:
            self._begin_turn(now)
            return True
        self._finish_hand(hand)
        self.deadline = now + self._settings.pause_seconds
        return self._settings.pause_seconds > 0

    def _begin_turn(self, now: float) -> None:
        """Somebody has to act. No two turns of a table end in the same microsecond (holdem-5.11)."""
        self.deadline = now + self._settings.turn_seconds
        self._turn_ends = max(self._turn_ends + 1, to_microseconds(self._epoch + self.deadline))

    def _finish_hand(self, hand: Hand) -> None:
        """The hand is over: who is still there has what it has left him, and leaves if that is nothing (H7)."""
        for sitter, chips in zip(self._dealt_in, hand.stacks, strict=True):
            if sitter.chair is not None:
                sitter.chips = chips
                if not chips:
                    self._seats.remove(sitter)
        if self._winners is not UNSET:
            self._winners = presentation.showdown_winners(hand, self._dealt_in)
        played = self._make_finished_hand(hand)
        self._finished_count += 1
        self.hands.add(played, self._settings.history)
        self._announce_result(played, hand.payoff())

    def _announce_result(self, played: FinishedHand, nets: tuple[int, ...]) -> None:
        """Tell what a hand has come to, and the seed of its deal."""
        dealer = self._dealer
        self._facts.append(HandFinished(self._hand_number, nets, played))
        self._facts.append(
            Reveal(self._hand_number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands)
        )

    def _make_finished_hand(self, hand: Hand) -> FinishedHand:
        players, guids = (
            tuple(sitter.user for sitter in self._dealt_in),
            tuple(sitter.guid for sitter in self._dealt_in),
        )
        return FinishedHand(
            self.guid, self._finished_count + 1, self._hand_number, players, guids, hand, tuple(self._faults)
        )

    # What is kept of it.

    def snapshot(self) -> Raw:
        """All that there is to know about the table, but for its settings: a KeptTable as JSON.

        It is written when something has happened since it was asked for last.
        """
        if self._snapshot is None:
            button, big_blind = self._seats.last_button_and_big_blind
            kept = TableSnapshot(
                guid=self.guid,
                version=self.version,
                alarm=self.deadline,
                sitters=tuple(self._seats.snapshot()),
                button=button,
                big_blind=big_blind,
                running=None if self._hand is None else self._make_finished_hand(self._hand).snapshot(),
                acted=() if self._hand is None else tuple(sorted(self._acted_seats)),
                finished=self._finished_count,
                winners=() if self._winners is UNSET else tuple(self._winners),
                hands=self.hands.snapshots(),
                number=self.number,
                expires=self.expires_at,
                turn_ends=self._turn_ends,
            )
            self._snapshot = Raw(kept.to_json())
        return self._snapshot

    def restore(self, snapshot: TableSnapshot, dealer_of: Callable[[int], Dealer]) -> None:
        """Go on where a table of the same GUID was, which is kept so. `dealer` gives the one of a hand of the house."""
        self.version = snapshot.version
        self.deadline = snapshot.alarm
        self.number = snapshot.number
        self.expires_at = snapshot.expires
        self._turn_ends = snapshot.turn_ends
        self._seats.restore(snapshot.sitters, snapshot.button, snapshot.big_blind)
        self._finished_count = snapshot.finished
        self.hands = FinishedHands(snapshot.hands, snapshot.finished)
        if self._winners is not UNSET:
            self._winners = snapshot.winners
        if snapshot.running is None:
            return
        played = FinishedHand.from_snapshot(snapshot.running)
        self._hand_number, self._hand, self._faults = played.hand_number, played.hand, [*played.faults]
        self._acted_seats = {*snapshot.acted}
        here = {sitter.hand_seat: sitter for sitter in self._seats.seated_participants if sitter.hand_seat is not None}
        gone = map(Participant, played.players, played.guids)
        self._dealt_in = [here.get(place, sitter) for place, sitter in enumerate(gone)]
        self._dealer = dealer_of(played.hand_number)
        self._deck = self._dealer.next_deck(len(CARDS))
        for _ in range(sum(map(len, played.hand.holes)) + len(played.hand.board)):
            next(self._deck)

    def resume(self, settings: Settings, now: float) -> None:
        """The room is open again: an open turn has its full time, and where no hand is running one may begin."""
        self._settings = settings
        self._is_closing = False
        if self._hand is None:
            if len(self._seats.seated_participants) > 1:
                self.mark_changed()
                self._begin_hand(now)
            return
        self.mark_changed()
        if self._hand.turn is OVER:
            self.deadline = now + self._settings.pause_seconds
            return
        self._commit_to_deal()
        self._begin_turn(now)

    # What there is to be seen.

    def mark_changed(self) -> None:
        """What there is to be seen has changed."""
        self._has_changed = True
        self._public_view = None

    def take_facts(self) -> list[TableFact]:
        """What has happened since this was asked last; ends with Changed if it can be seen. It is asked whenever
        something may have happened.
        """
        facts, self._facts = self._facts, []
        self._snapshot = None
        if self._has_changed:
            self._has_changed = False
            self.version += 1
            facts.append(TableChanged(self.guid, self.version))
        return facts

    def view(self, user: str | None = None) -> Game:
        """The game as a user sees it, None as the public does; hole cards are those that he was dealt (holdem-5.6)."""
        shown = self._public_view
        if shown is None:
            shown = self._public_view = self._make_public_view()
        hole = () if user is None else self.hole(user)
        if not hole:
            return shown
        cards = shown.cards
        own = Cards(hole, cards.flop, cards.turn, cards.river)
        return Game(shown.game_id, shown.table, shown.turn, own, shown.pots, shown.last_winners)

    def hole(self, user: str) -> tuple[str, ...]:
        """The hole cards that a user was dealt, if he plays the hand that is shown."""
        sitter = self._seats.by_user(user)
        if sitter is None or sitter.hand_seat is None:
            return ()
        assert self._hand is not None, "a place in no hand"
        return card_names(self._hand.holes[sitter.hand_seat])

    def _make_public_view(self) -> Game:
        """The game as the public sees it."""
        hidden = () if self._settings.dialect == "readme" else None
        ends = format_expiry(self._turn_ends)
        if self._hand is None:
            return presentation.idle_game(self.guid, self._seats.seated_participants, hidden, self._winners)
        return presentation.running_game(
            self.guid, self._hand, self._dealt_in, self._acted_seats, expiry=ends, hole=hidden, winners=self._winners
        )
