"""A hold'em table: its players, the running hand, its deadline and its views (docs/protocols/holdem.md, 3 to 6).

The table does no I/O and reads no clock: the caller passes the players' actions and the current time.
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
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand, FinishedHands
from croupier.rooms.holdem.table.persistence import TableSnapshot
from croupier.rooms.holdem.table.presentation import ShownPlayer, TableView, showdown_winners
from croupier.rooms.holdem.table.seats import Membership, Participant, Seats
from croupier.rooms.holdem.table.wording import invalid_bet_reason, to_microseconds
from croupier.rooms.holdem.wire import Game, Guid, Winner

OVER: Final = Whose.OVER

MAX_HANDS_WITHOUT_PAUSE: Final = 64
FORCED_PAUSE_SECONDS: Final = 0.01
"""After MAX_HANDS_WITHOUT_PAUSE hands in a row without a decision, the next hand waits FORCED_PAUSE_SECONDS."""

type TableFact = Commit | HandFinished | Reveal | TableChanged
"""The effects that a table produces for the observers of its house."""


class Table:
    """One game.

    `next_dealer` is called before each hand and returns its number in the house, and its dealer. `epoch` is the Unix
    time in seconds at which `now` was 0. `members` is notified of every user who joins or leaves.

    `version` increases with every visible change. `deadline` is the time at which `handle_deadline` must be called, if
    any. `hands` are the last finished hands by their number at this table. The house sets `number`, which increases in
    the order of creation, and `expires_at`, the time at which an empty table may be removed. `has_changed` is set when
    the visible state changes.
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
        "_is_closing",
        "_next_dealer",
        "_settings",
        "_snapshot",
        "_turn_ends",
        "_view",
        "_winners",
        "deadline",
        "expires_at",
        "guid",
        "hands",
        "has_changed",
        "number",
        "seats",
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
        self.seats = Seats(guid, settings.seats, settings.stack, members)
        self._is_closing = False
        self._hand: Hand | None = None  # the running hand, or a finished one while its end is shown
        self._dealt_in: list[Participant] = []  # the players of the hand by seat, including those who have left
        self._acted_seats: set[Seat] = set()  # seats that have acted in this round since the last raise
        self._faults: list[tuple[Seat, str]] = []
        self._turn_ends = 0  # the end of the last turn, Unix time in microseconds
        self._hand_number = 0
        self._dealer: Dealer
        self._deck: Deck
        self._finished_count = 0
        self._winners: Sequence[Winner] | UnsetType = () if settings.dialect == "hspe-go" else UNSET
        self._facts: list[TableFact] = []
        self.has_changed = False
        self._view: TableView | None = None  # cached
        self._snapshot: Raw | None = None  # cached

    # Players

    def __len__(self) -> int:
        """The number of players seated or queued."""
        return len(self.seats)

    @property
    def has_free_seat(self) -> bool:
        """Whether the next player to join gets a seat (holdem-3.1)."""
        return self.seats.has_free_seat

    @property
    def playing(self) -> bool:
        """Whether a hand is running."""
        return self._hand is not None and self._hand.turn is not OVER

    def player_guid(self, user: str) -> Guid | None:
        """Return the GUID of a user's player, seated or queued; None if the user is not here."""
        participant = self.seats.by_user(user)
        return None if participant is None else participant.guid

    def join(self, user: str, guid: Guid, now: float) -> bool:
        """Add a new player. Return whether they are seated, not queued (holdem-3.5, holdem-3.6)."""
        seated = self.seats.add(user, guid).chair is not None
        if seated and self._hand is None:
            self.has_changed = True
            self._begin_hand(now)  # with large blinds the player may be broke when this returns
        return seated

    def leave(self, participant: Participant, now: float) -> None:
        """Remove a player and fold their hand (holdem-3.10 to holdem-3.12)."""
        seated = participant.chair is not None
        self.seats.remove(participant)
        hand = self._hand
        if hand is None:
            if seated:
                self.has_changed = True
                self._begin_hand(now)
        elif participant.hand_seat is not None:
            self.has_changed = True
            if hand.turn is not OVER and not hand.folded[participant.hand_seat]:
                turn = hand.turn
                hand.leave(participant.hand_seat)
                if hand.turn != turn:  # otherwise the expiry of the current turn stays as announced
                    self._continue_play(now)

    # Actions

    def waits_for(self, participant: Participant) -> bool:
        """Return whether a player is to act."""
        return self._hand is not None and participant.hand_seat is not None and self._hand.turn == participant.hand_seat

    def fold(self, now: float) -> None:
        """Fold the hand of the player to act."""
        assert self._hand is not None, "a fold without a hand"
        self.has_changed = True
        self._hand.fold()
        self._continue_play(now)

    def bet(self, chips: int, now: float) -> str | None:
        """Add chips for the player to act. An invalid bet folds their hand and returns the reason (H5)."""
        hand = self._hand
        assert hand is not None, "a bet without a hand"
        seat, before = hand.turn, hand.to_match
        assert isinstance(seat, int), "a bet while no player is to act"
        self.has_changed = True
        fold_reason = None
        try:
            hand.bet(chips)
        except IllegalMove:
            fold_reason = invalid_bet_reason(chips, hand.legal)
            self._faults.append((seat, fold_reason))
            hand.fold()
        else:
            if hand.to_match > before:
                self._acted_seats.clear()
            self._acted_seats.add(seat)
        self._continue_play(now)
        return fold_reason

    def handle_deadline(self, now: float) -> None:
        """If the deadline has passed, remove the player to act (holdem-4.16), or begin the next hand."""
        if self.deadline is None or now < self.deadline:
            return
        assert self._hand is not None, "a deadline without a hand"
        turn = self._hand.turn
        if isinstance(turn, int):
            self.leave(self._dealt_in[turn], now)
        else:
            self.has_changed = True
            self._begin_hand(now)

    def halt(self, now: float, *, final: bool) -> None:
        """Close the table: no new hands begin. If `final`, a running hand is voided (holdem-3.15)."""
        self._is_closing = True
        if final and self._hand is not None:
            self.has_changed = True
            if self._hand.turn is not OVER:
                self._announce_result(self._make_finished_hand(self._hand), (0,) * len(self._dealt_in))
            self._begin_hand(now)

    # Hands

    def _begin_hand(self, now: float) -> None:
        """Seat queued players, and begin the next hand if there are two or more players."""
        for _ in range(MAX_HANDS_WITHOUT_PAUSE):
            self._clear_hand()
            self.seats.fill_from_queue()
            dealt = self.seats.seated_participants
            if len(dealt) < 2 or self._is_closing:
                return
            self._start_hand(dealt)
            if self._deal_until_decision(now):
                return
        self.deadline = now + FORCED_PAUSE_SECONDS

    def _clear_hand(self) -> None:
        for participant in self._dealt_in:
            participant.hand_seat = None
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
        for seat, participant in enumerate(dealt):
            participant.hand_seat = seat
        self._hand = Hand(
            [participant.chips for participant in dealt],
            button=self.seats.pass_button(dealt),
            stakes=settings.stakes,
        )
        self._faults = []

    def _commit_to_deal(self) -> None:
        """Emit the dealer's commitment. A resumed hand repeats it: the first one may not have been published."""
        self._facts.append(Commit(self._hand_number, self._dealer.algorithm, commitment(self._dealer.server_seed)))

    def _continue_play(self, now: float) -> None:
        if not self._deal_until_decision(now):
            self._begin_hand(now)

    def _deal_until_decision(self, now: float) -> bool:
        """Deal the due cards. Return False if the hand is over and the next one may begin at once."""
        hand = self._hand
        assert hand is not None, "a deal without a hand"
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
        """Start the time of a turn. No two turns of a table end in the same microsecond (holdem-5.11)."""
        self.deadline = now + self._settings.turn_seconds
        self._turn_ends = max(self._turn_ends + 1, to_microseconds(self._epoch + self.deadline))

    def _finish_hand(self, hand: Hand) -> None:
        """Update the stacks after a hand, and remove the players without chips (H7)."""
        for participant, chips in zip(self._dealt_in, hand.stacks, strict=True):
            if participant.chair is not None:
                participant.chips = chips
                if not chips:
                    self.seats.remove(participant)
        if self._winners is not UNSET:
            self._winners = showdown_winners(hand, self._dealt_in)
        played = self._make_finished_hand(hand)
        self._finished_count += 1
        self.hands = self.hands.with_hand(played, self._settings.history)
        self._announce_result(played, hand.payoff())

    def _announce_result(self, played: FinishedHand, nets: tuple[int, ...]) -> None:
        """Emit the result of a hand and the seed of its deal."""
        dealer = self._dealer
        self._facts.append(HandFinished(self._hand_number, nets, played))
        self._facts.append(
            Reveal(self._hand_number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands)
        )

    def _make_finished_hand(self, hand: Hand) -> FinishedHand:
        players, guids = (
            tuple(participant.user for participant in self._dealt_in),
            tuple(participant.guid for participant in self._dealt_in),
        )
        return FinishedHand(
            self.guid, self._finished_count + 1, self._hand_number, players, guids, hand, tuple(self._faults)
        )

    # Snapshots

    def snapshot(self) -> Raw:
        """Return the state of the table without its settings: a TableSnapshot as JSON, cached until the next change."""
        if self._snapshot is None:
            button, big_blind = self.seats.last_button_and_big_blind
            snapshot = TableSnapshot(
                guid=self.guid,
                version=self.version,
                alarm=self.deadline,
                sitters=tuple(self.seats.snapshot()),
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
            self._snapshot = Raw(snapshot.to_json())
        return self._snapshot

    def restore(self, snapshot: TableSnapshot, dealer_of: Callable[[int], Dealer]) -> None:
        """Restore the state of a table with the same GUID. `dealer_of` returns the dealer of a hand of the house."""
        self.version = snapshot.version
        self.deadline = snapshot.alarm
        self.number = snapshot.number
        self.expires_at = snapshot.expires
        self._turn_ends = snapshot.turn_ends
        self.seats.restore(snapshot.sitters, snapshot.button, snapshot.big_blind)
        self._finished_count = snapshot.finished
        self.hands = FinishedHands(snapshot.hands, snapshot.finished)
        if self._winners is not UNSET:
            self._winners = snapshot.winners
        if snapshot.running is None:
            return
        saved = FinishedHand.from_snapshot(snapshot.running)
        self._hand_number, self._hand, self._faults = saved.hand_number, saved.hand, [*saved.faults]
        self._acted_seats = {*snapshot.acted}
        here = {
            participant.hand_seat: participant
            for participant in self.seats.seated_participants
            if participant.hand_seat is not None
        }
        absent = map(Participant, saved.players, saved.guids)
        self._dealt_in = [here.get(seat, participant) for seat, participant in enumerate(absent)]
        self._dealer = dealer_of(saved.hand_number)
        self._deck = self._dealer.next_deck(len(CARDS))
        for _ in range(sum(map(len, saved.hand.holes)) + len(saved.hand.board)):
            next(self._deck)

    def resume(self, settings: Settings, now: float) -> None:
        """Reopen the table: a running turn gets its full time, and a table without a hand may begin one."""
        self._settings = settings
        self._is_closing = False
        if self._hand is None:
            if len(self.seats.seated_participants) > 1:
                self.has_changed = True
                self._begin_hand(now)
            return
        self.has_changed = True
        if self._hand.turn is OVER:
            self.deadline = now + self._settings.pause_seconds
            return
        self._commit_to_deal()
        self._begin_turn(now)

    # Views

    def take_facts(self) -> list[TableFact]:
        """Return the effects since the last call, with a final TableChanged if the visible state has changed.

        The house calls this whenever something may have happened.
        """
        facts, self._facts = self._facts, []
        self._snapshot = self._view = None
        if self.has_changed:
            self.has_changed = False
            self.version += 1
            facts.append(TableChanged(self.guid, self.version))
        return facts

    def view(self, user: str | None = None) -> Game:
        """Return the game as a user sees it; None: the public view. See `TableView.view`."""
        return self.shown.view(user)

    @property
    def shown(self) -> TableView:
        """What the table shows since the last `take_facts`, as a value that does not change when the table does."""
        if self._view is None:
            hand = self._hand
            players = self.seats.seated_participants if hand is None else self._dealt_in
            self._view = TableView(
                guid=self.guid,
                number=self.number,
                version=self.version,
                chairs=self._settings.seats,
                hand=None if hand is None else hand.copy(),
                players=[ShownPlayer(each.guid, each.user, each.chips, each.chair is not None) for each in players],
                acted=frozenset(self._acted_seats),
                turn_ends=self._turn_ends,
                hidden=() if self._settings.dialect == "readme" else None,
                winners=self._winners,
                guids=self.seats.guids_by_user,
                hands=self.hands,
            )
        return self._view
