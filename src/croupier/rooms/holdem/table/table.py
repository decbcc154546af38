"""A hold'em table: its players, the running hand, its deadline and its views (docs/protocols/holdem.md, 3 to 6).

The table does no I/O and reads no clock: the caller passes the players' actions and the current time.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from msgspec import UNSET, Raw, UnsetType

from croupier.core.dealer import Dealer
from croupier.core.rules import Seat
from croupier.core.session import Commit, HandFinished, Reveal, TableChanged
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand, FinishedHands
from croupier.rooms.holdem.table.hand_in_play import HandInPlay
from croupier.rooms.holdem.table.persistence import TableSnapshot
from croupier.rooms.holdem.table.person_clock import SHOWDOWN_SECONDS
from croupier.rooms.holdem.table.presentation import ShownPlayer, ShownTable, render_table, showdown_winners
from croupier.rooms.holdem.table.register import Register
from croupier.rooms.holdem.table.seats import Participant, Seats
from croupier.rooms.holdem.wire import Game, Guid, Winner

MAX_HANDS_WITHOUT_PAUSE: Final = 64
FORCED_PAUSE_SECONDS: Final = 0.01
"""After MAX_HANDS_WITHOUT_PAUSE hands in a row without a decision, the next hand waits FORCED_PAUSE_SECONDS."""

type TableFact = Commit | HandFinished | Reveal | TableChanged
"""The effects that a table produces for the observers of its house."""


class Table:
    """One game.

    `next_dealer` is called before each hand and returns its number in the house, and its dealer. `epoch` is the Unix
    time in seconds at which `now` was 0. `members` is notified of every user who joins or leaves. With `resets_stacks`
    every hand begins with the chips of a new player for each.

    `version` increases with every visible change. `deadline` is the time at which `handle_deadline` must be called, if
    any. `hands` are the last finished hands by their number at this table. The house sets `number`, which increases in
    the order of creation, and `expires_at`, the time at which an empty table may be removed. `has_changed` is set when
    the visible state changes.
    """

    def __init__(
        self,
        guid: Guid,
        settings: Settings,
        next_dealer: Callable[[], tuple[int, Dealer]],
        members: Register[Any],
        epoch: float = 0.0,
        *,
        resets_stacks: bool = False,
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
        self._resets_stacks = resets_stacks
        self.seats = Seats(guid, settings.seats, settings.stack, members)
        self._is_closing = False
        self._hand: HandInPlay | None = None
        self._turn_ends = 0  # the end of the last turn, Unix time in microseconds
        self._finished_count = 0
        self._winners: Sequence[Winner] | UnsetType = () if settings.dialect == "hspe-go" else UNSET
        self._facts: list[TableFact] = []
        self.has_changed = False
        self._view: ShownTable | None = None  # cached
        self._snapshot: Raw | None = None  # cached

    # Players

    @property
    def has_free_seat(self) -> bool:
        """Whether the next player to join gets a seat (holdem-3.1)."""
        return self.seats.has_free_seat

    @property
    def hand(self) -> Hand | None:
        """The hand that is running or shown, None between hands. It changes as it is played."""
        return None if self._hand is None else self._hand.hand

    @property
    def playing(self) -> bool:
        """Whether a hand is running."""
        return self._hand is not None and not self._hand.is_over

    def player_guid(self, user: str) -> Guid | None:
        """Return the GUID of a user's player, seated or queued; None if the user is not here."""
        return self.seats.guids_by_user.get(user)

    def join(self, user: str, guid: Guid, now: float, *, is_person: bool = False) -> bool:
        """Add a new player. Return whether they are seated, not queued (holdem-3.5, holdem-3.6)."""
        seated = self.seats.add(user, guid, is_person=is_person).chair is not None
        if seated and self._hand is None:
            self.has_changed = True
            self._begin_hand(now)  # with large blinds the player may be broke when this returns
        return seated

    def leave(self, participant: Participant, now: float) -> None:
        """Remove a player and fold their hand (holdem-3.10 to holdem-3.12)."""
        seated = participant.chair is not None
        self.seats.remove(participant)
        if self._hand is None:
            if seated:
                self.has_changed = True
                self._begin_hand(now)
        elif participant.hand_seat is not None:
            self.has_changed = True
            hand = self._hand.hand
            if not self._hand.is_over and not hand.folded[participant.hand_seat]:
                turn = hand.turn
                hand.leave(participant.hand_seat)
                # otherwise the expiry of the current turn stays as announced
                if hand.turn != turn and not self._deal_until_decision(now):
                    self._begin_hand(now)

    # Actions

    def waits_for(self, participant: Participant) -> bool:
        """Return whether a player is to act."""
        if self._hand is None or participant.hand_seat is None:
            return False
        return self._hand.hand.turn == participant.hand_seat

    def act(self, move: Move, now: float, *, is_timeout: bool = False) -> str | None:
        """Fold or bet for the player to act. An invalid bet folds their hand and returns the reason (H5).

        `is_timeout`: the table acts, because the time of a person is over.
        """
        assert self._hand is not None, "an act without a hand"
        hand = self._hand.hand
        turn = hand.turn
        assert isinstance(turn, int), "an act without a turn"
        person = self._hand.players[turn].person
        if person is not None:
            if is_timeout:
                person.time_out()
            elif self.deadline is not None:
                person.act(self.deadline - now)
        self.has_changed = True
        fold_reason = None if hand.try_play(move) else self._hand.fold_for(move)
        if not self._deal_until_decision(now):
            self._begin_hand(now)
        return fold_reason

    def come_back(self, participant: Participant) -> None:
        """Note that a person is there; the next turn has its full time (holdem-9.15)."""
        if participant.person is not None and participant.person.is_away:
            participant.person.come_back()
            self.has_changed = True

    def handle_deadline(self, now: float) -> None:
        """If the deadline has passed, remove the player to act (holdem-4.16), or begin the next hand.

        A person checks if that is possible, and folds otherwise (holdem-9.15).
        """
        if self.deadline is None or now < self.deadline:
            return
        assert self._hand is not None, "a deadline without a hand"
        hand = self._hand.hand
        if not isinstance(hand.turn, int):
            self.has_changed = True
            self._begin_hand(now)
        elif (participant := self._hand.players[hand.turn]).person is None:
            self.leave(participant, now)
        else:
            self.act(FOLD if hand.to_match > hand.bets[hand.turn] else 0, now, is_timeout=True)

    def halt(self, now: float, *, final: bool) -> None:
        """Close the table: no new hands begin. If `final`, a running hand is voided (holdem-3.15)."""
        self._is_closing = True
        if final and self._hand is not None:
            self.has_changed = True
            if not self._hand.is_over:
                self._announce_result(self._hand, (0,) * len(self._hand.players))
            self._begin_hand(now)

    # Hands

    def _begin_hand(self, now: float) -> None:
        """Seat queued players, and begin the next hand if there are two or more players."""
        for _ in range(MAX_HANDS_WITHOUT_PAUSE):
            self._clear_hand()
            self._remove_absent_people()
            self.seats.fill_from_queue()
            dealt = self.seats.seated_participants
            if len(dealt) < 2 or self._is_closing:
                return
            self._start_hand(dealt)
            if self._deal_until_decision(now):
                return
        self.deadline = now + FORCED_PAUSE_SECONDS

    def _clear_hand(self) -> None:
        for participant in self._hand.players if self._hand is not None else ():
            participant.hand_seat = None
        self._hand = None
        self.deadline = None

    def _remove_absent_people(self) -> None:
        """Free the seats of people who have been away for too long (holdem-9.15)."""
        for participant in self.seats.seated_participants:
            if participant.person is not None and participant.person.has_left:
                self.seats.remove(participant)

    def _start_hand(self, dealt: list[Participant]) -> None:
        """Post the blinds of a new hand."""
        number, dealer = self._next_dealer()
        hand = Hand(
            [participant.chips for participant in dealt],
            button=self.seats.pass_button(dealt),
            stakes=self._settings.stakes,
        )
        for seat, participant in enumerate(dealt):
            participant.hand_seat = seat
            if participant.person is not None:
                participant.person.begin_hand(is_big_blind=participant is self.seats.big_blind)
        self._hand = HandInPlay(number, dealer, dealt, hand)
        self._facts.append(self._hand.commit())

    def _deal_until_decision(self, now: float) -> bool:
        """Deal the due cards. Return False if the hand is over and the next one may begin at once."""
        assert self._hand is not None, "a deal without a hand"
        hand = self._hand.hand
        while hand.cards_due:
            self._hand.deal()
        if isinstance(hand.turn, int):
            self._begin_turn(self._hand, hand.turn, now)
            return True
        self._finish_hand(self._hand)
        pause_seconds = self._pause_seconds(self._hand)
        self.deadline = now + pause_seconds
        return pause_seconds > 0

    def _pause_seconds(self, played: HandInPlay) -> float:
        """The seconds for which the end of a hand is shown; people have time to see a showdown (holdem-9.15)."""
        people = (participant.person for participant in played.players)
        if played.hand.showdown_order and any(person is not None and not person.is_away for person in people):
            return max(SHOWDOWN_SECONDS, self._settings.pause_seconds)
        return self._settings.pause_seconds

    def _begin_turn(self, played: HandInPlay, turn: Seat, now: float) -> None:
        """Start the time of a turn. No two turns of a table end in the same microsecond (holdem-5.11)."""
        person, seconds = played.players[turn].person, self._settings.turn_seconds
        self.deadline = now + (seconds if person is None else person.turn_seconds(seconds))
        self._turn_ends = max(self._turn_ends + 1, round((self._epoch + self.deadline) * 1_000_000))

    def _finish_hand(self, played: HandInPlay) -> None:
        """Update the stacks after a hand, and remove the players without chips (H7)."""
        for participant, chips in zip(played.players, played.hand.stacks, strict=True):
            if participant.chair is not None:
                participant.chips = self._settings.stack if self._resets_stacks else chips
                if not participant.chips:
                    self.seats.remove(participant)
        if self._winners is not UNSET:
            self._winners = showdown_winners(played.hand, played.players)
        finished = self._announce_result(played, played.hand.payoff())
        self._finished_count += 1
        self.hands = self.hands.with_hand(finished, self._settings.history)

    def _announce_result(self, played: HandInPlay, nets: tuple[int, ...]) -> FinishedHand:
        """Emit the result of a hand and the seed of its deal. Return the finished hand."""
        finished = self._finished(played)
        self._facts += played.results(finished, nets)
        return finished

    def _finished(self, played: HandInPlay) -> FinishedHand:
        return played.finished(self.guid, self._finished_count + 1)

    # Snapshots

    def snapshot(self) -> Raw:
        """Return the state of the table without its settings: a TableSnapshot as JSON, cached until the next change."""
        if self._snapshot is None:
            button, big_blind = self.seats.last_button_and_big_blind
            snapshot = TableSnapshot(
                guid=self.guid,
                version=self.version,
                alarm=self.deadline,
                sitters=self.seats.participants,
                button=button,
                big_blind=big_blind,
                running=None if self._hand is None else self._finished(self._hand),
                acted=() if self._hand is None else self._hand.done_seats(),
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
        if (running := snapshot.running) is not None:
            self._hand = HandInPlay.restore(running, self.seats.seated_participants, dealer_of(running.hand_number))

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
        if self._hand.is_over:
            self.deadline = now + self._pause_seconds(self._hand)
            return
        self._facts.append(self._hand.commit())  # again: the first one may not have been published
        turn = self._hand.hand.turn
        assert isinstance(turn, int), "a hand that is not over waits for a player"
        self._begin_turn(self._hand, turn, now)

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
        """Return the game as a user sees it; None: the public view. See `ShownTable.view`."""
        return self.shown.view(user)

    @property
    def shown(self) -> ShownTable:
        """What the table shows since the last `take_facts`, as a value that does not change when the table does."""
        if self._view is None:
            running = self._hand
            participants = self.seats.seated_participants if running is None else running.players
            players = [ShownPlayer(each.guid, each.user, each.chips, each.chair is not None) for each in participants]
            self._view = ShownTable(
                guid=self.guid,
                number=self.number,
                version=self.version,
                chairs=self._settings.seats,
                guids=self.seats.guids_by_user,
                is_playing=running is not None,
                hands=self.hands,
                render=partial(
                    render_table,
                    self.guid,
                    None if running is None else running.hand.copy(),
                    players,
                    turn_ends=self._turn_ends,
                    hidden=() if self._settings.dialect == "readme" else None,
                    winners=self._winners,
                ),
                finished_count=self._finished_count,
                away=frozenset([each.guid for each in participants if each.person is not None and each.person.is_away]),
            )
        return self._view
