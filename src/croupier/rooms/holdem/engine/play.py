"""The engine of a no-limit hold'em hand, from the blinds to the showdown (docs/protocols/holdem.md)."""

from collections.abc import Iterable, Sequence
from operator import sub
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import ALL_CARDS, Card, are_distinct
from croupier.rooms.holdem.engine.awards import Award
from croupier.rooms.holdem.engine.compilation import mypyc_attr
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, IllegalBet, Legal
from croupier.rooms.holdem.engine.log import CompactLogEntry
from croupier.rooms.holdem.engine.pots import award_pots, side_pots
from croupier.rooms.holdem.engine.ranks import ranks_on
from croupier.rooms.holdem.engine.seat_sets import ALL_SEATS, HAS_SEVERAL, NEXT_IN_SET, SEAT_BITS, SEATS_IN_SET, SeatSet
from croupier.rooms.holdem.engine.stakes import STAKES, Stakes, check_start
from croupier.rooms.holdem.engine.streets import BOARD_CARDS, BOARD_SIZES, RIVER, STREET_CARDS

CHANCE: Final = Turn.CHANCE
OVER: Final = Turn.OVER


@mypyc_attr(allow_interpreted_subclasses=True)
class HandEngine:
    """A hand being played by the rules of H7. Seats are numbered clockwise from 0; chips are integers.

    The constructor posts antes, then blinds, then the straddle. A short stack posts what it has, and the full blind
    must still be matched. The seat left of the big blind posts the straddle; heads-up there is none. The straddle is
    a third blind: its seat acts last before the flop, and it sets the minimum raise. Raises ValueError if the stacks,
    the button or the forced bets are invalid.
    """

    def __init__(
        self,
        stacks: Sequence[int],
        *,
        button: Seat = 0,
        stakes: Stakes = STAKES,
    ) -> None:
        seats = len(stacks)
        check_start(stacks, button, stakes)
        self.start_stacks = tuple(stacks)
        """The chips of each seat before the forced bets."""
        self.button = button
        self.stakes = stakes
        all_seats: SeatSet = (1 << seats) - 1
        next_seat = NEXT_IN_SET[all_seats]
        self.small_blind: Seat = button if seats == 2 else next_seat[button]  # heads-up the button posts it (H7)
        self.big_blind: Seat = next_seat[self.small_blind]

        self.turn: Seat | Turn = CHANCE
        """The seat to act; CHANCE while cards are due, OVER at the end."""
        self.cards_due = 2 * seats
        """The number of cards to deal next."""
        self.street = 0
        """The betting round, or the one that the cards due will open: 0 is before the flop, 3 the river."""
        self.stacks = [*stacks]
        """The chips that each seat has left."""
        self.bets = [0] * seats
        """The chips each seat has put in during this betting round, including blinds and straddle but not antes."""
        self.to_match = self.min_raise = 0
        """The bet to match in this betting round, and the minimum raise on top of it: the last full raise of the round,
        at least the big blind.
        """
        self.awards: list[Award] = []
        """The chips won, when the hand is over."""
        self.compact_log: list[CompactLogEntry] = []
        """Everything that has happened since the blinds, in order; of deals only the numbers of cards."""

        self.live = all_seats
        """The seats that have not folded or left."""
        self.to_act: SeatSet = 0
        """The seats with chips that have yet to act in this betting round, or again after a raise."""
        self.pot = 0
        """The chips put in during the whole hand, without a returned bet."""

        self._can_act = all_seats  # live seats with chips left
        self._no_reopen: SeatSet = 0  # seats that have acted and since faced only raises short of a full raise
        self._aggressor: Seat | None = None
        self._may_have_side_pots = False  # whether live seats may have paid different amounts
        self._cards: tuple[Card, ...] = ()  # in the order of the deal
        self._deck_known = False  # whether `_cards` includes the cards to come
        if stakes.ante:
            self._post([(seat, stakes.ante) for seat in range(seats)])
            self.bets = [0] * seats
        blinds = self.blinds
        self._post(blinds)
        self._last_blind, self.to_match = blinds[-1]
        self.min_raise = self.to_match

    @property
    def blinds(self) -> list[tuple[Seat, int]]:
        """The seats that post the blinds and the straddle, in order, with the chips they post if their stacks allow."""
        stakes = self.stakes
        blinds = [(self.small_blind, stakes.small_blind), (self.big_blind, stakes.big_blind)]
        if stakes.straddle and len(self.stacks) > 2:
            blinds.append(((self.big_blind + 1) % len(self.stacks), stakes.straddle))
        return blinds

    def _post(self, forced: Iterable[tuple[Seat, int]]) -> None:
        """Put in forced bets; a short stack posts what it has."""
        stacks, bets = self.stacks, self.bets
        for seat, chips in forced:
            stack = stacks[seat]
            paid = chips if chips < stack else stack
            if paid == stack:
                self._can_act &= ~(1 << seat)
                self._may_have_side_pots = True
            stacks[seat] = stack - paid
            bets[seat] += paid
            self.pot += paid

    # Cards

    def deal(self, cards: Iterable[Card]) -> None:
        """Deal cards that are due: hole cards one at a time from the small blind, twice round; then the board.

        A part of the due cards may be dealt. No card is burnt (H7). Raises IllegalMove if more cards are dealt than are
        due, none, or a card that is already dealt.
        """
        dealt = tuple(cards)
        due = self.cards_due - len(dealt)
        if due < 0 or not dealt:
            raise IllegalMove(
                f"a deal of {len(dealt)} cards", [f"1 to {self.cards_due} cards"] if self.cards_due else ()
            )
        known = self._cards + dealt
        if not are_distinct(known):
            raise IllegalMove(f"a deal of {', '.join(map(str, dealt))}", self.unseen)
        self._cards = known
        self.compact_log.append(len(dealt))
        self.cards_due = due
        if not due:
            self._open_round()

    def deal_from(self, deck: Iterable[Card]) -> None:
        """Deal the due cards, now and in later rounds, from a deck that has enough cards for the whole hand.

        `turn` is never CHANCE afterwards. Raises IllegalMove if the hand is over or the deck is too short or invalid.
        """
        cards = self._dealt_cards + tuple(deck) if self._cards else tuple(deck)
        least = 2 * len(self.start_stacks) + BOARD_CARDS
        if self.turn is OVER or len(cards) < least or not are_distinct(cards):
            allowed = () if self.over else (f"{least - len(self._dealt_cards)} or more of {self.unseen}",)
            raise IllegalMove(f"a deck of {list(cards[len(self._dealt_cards) :])}", allowed)
        self._cards = cards
        self._deck_known = True
        if self.cards_due:
            self.compact_log.append(self.cards_due)
            self.cards_due = 0
            self._open_round()

    @property
    def unseen(self) -> list[Card]:
        """The cards that have not been dealt, in ascending order."""
        return sorted(ALL_CARDS.difference(self._dealt_cards))

    @property
    def _dealt_cards(self) -> tuple[Card, ...]:
        """The cards that have been dealt, in the order of the deal."""
        return self._cards[: 2 * len(self.start_stacks) + BOARD_SIZES[self.street]]

    # Betting

    @property
    def folded(self) -> list[bool]:
        """Whether each seat has folded or left."""
        live = self.live
        return [not live >> seat & 1 for seat in range(len(self.start_stacks))]

    @property
    def paid(self) -> list[int]:
        """The chips that each seat has put in during the whole hand, including antes, without a returned bet."""
        paid = [*map(sub, self.start_stacks, self.stacks)]
        for award in self.awards:
            paid[award.seat] += award.chips
        return paid

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return self.turn is OVER

    @property
    def legal(self) -> Legal:
        """The legal moves of the seat to act; `NO_MOVES` if no seat is to act."""
        seat = self.turn
        if type(seat) is not int:
            return NO_MOVES
        stack = self.stacks[seat]
        to_call = self.to_match - self.bets[seat]
        me = SEAT_BITS[seat]
        can_be_answered = self._can_act != me
        raise_range = None
        if stack > to_call and (not can_be_answered or not self._no_reopen & me or to_call >= self.min_raise):
            lowest = to_call + self.min_raise
            raise_range = (lowest if lowest < stack else stack, stack)
        return Legal(to_call, to_call if to_call < stack else stack, raise_range, self.pot, can_be_answered)

    def play(self, move: object) -> None:
        """Make a `Move` of the seat to act: FOLD, or add chips: 0 checks, the amount to call calls, more raises (H4).

        If all opponents are all in, any bet of more than the call counts as a call: the excess would only be returned.
        Raises IllegalMove (IllegalBet) if the move is not legal; the hand is unchanged then.
        """
        if not self.try_play(move):
            raise IllegalBet(move, self.legal)

    def try_play(self, move: object) -> bool:
        """Make a move if it is legal, as `play` does, and return whether it is. Calls no method of the move."""
        seat = self.turn
        if type(seat) is not int:
            return False
        if type(move) is not int:  # `object`, or a compiled build would raise TypeError
            if type(move) is not str or move != FOLD:
                return False
            self.fold()
            return True
        stack, to_call = self.stacks[seat], self.to_match - self.bets[seat]
        if move == (to_call if to_call < stack else stack):
            self._call(seat, stack, to_call)
            return True
        me, can_act = SEAT_BITS[seat], self._can_act
        raised = move - to_call
        if raised < 0 or move > stack:
            return False
        if can_act == me:
            self._call(seat, stack, to_call)
            return True
        not_reopened = self._no_reopen and self._no_reopen & me and to_call < self.min_raise
        if not_reopened or (move < stack and raised < self.min_raise):
            return False
        if can_act != self.live:
            self._may_have_side_pots = True
        self.compact_log.append(("bet", seat, move))
        self.stacks[seat] = stack - move
        self.bets[seat] += move
        self.pot += move
        if move == stack:
            self._can_act -= me
        if raised >= self.min_raise:
            self.min_raise = raised
            self._no_reopen = 0
        else:  # an all-in raise short of a full raise does not reopen the betting (H7)
            self._no_reopen |= ALL_SEATS ^ self.to_act
        self.to_match += raised
        self._aggressor = seat
        to_act = self.to_act = can_act - me
        self.turn = NEXT_IN_SET[to_act][seat]
        return True

    def bet(self, chips: object) -> None:
        """Check, call or raise: `play` without FOLD. Raises IllegalMove (IllegalBet) if the bet is not legal."""
        if type(chips) is not int or not self.try_play(chips):
            raise IllegalBet(chips, self.legal)

    def call(self) -> None:
        """Match the bet, or check if there is nothing to match; a stack that is too short is all in.

        Raises IllegalMove (IllegalBet) if no seat is to act.
        """
        seat = self.turn
        if type(seat) is not int:
            raise IllegalBet("a call", NO_MOVES)
        self._call(seat, self.stacks[seat], self.to_match - self.bets[seat])

    def _call(self, seat: Seat, stack: int, chips: int) -> None:
        """Put in `chips`, the amount to call, or the whole stack if it is shorter."""
        me = SEAT_BITS[seat]
        if chips > stack:
            chips = stack
            self._may_have_side_pots = True
        self.compact_log.append(("bet", seat, chips))
        if chips:
            self.stacks[seat] = stack - chips
            self.bets[seat] += chips
            self.pot += chips
            if chips == stack:
                self._can_act -= me
        to_act = self.to_act = self.to_act - me
        self._continue_betting(NEXT_IN_SET[to_act][seat])

    def fold(self) -> None:
        """Fold the hand of the seat to act. Raises IllegalMove (IllegalBet) if no seat is to act."""
        seat = self.turn
        if type(seat) is not int:
            raise IllegalBet(FOLD, NO_MOVES)
        self.compact_log.append(("fold", seat))
        me = SEAT_BITS[seat]
        self.live -= me
        self._can_act -= me
        to_act = self.to_act = self.to_act - me
        self._continue_betting(NEXT_IN_SET[to_act][seat])

    def leave(self, seat: object) -> None:
        """Fold the hand of a player who leaves, in or out of turn. Their bets are forfeited (H6).

        Raises IllegalMove if the seat has already folded, or if the hand is over.
        """
        staying = () if self.over else SEATS_IN_SET[self.live]
        if type(seat) is not int or seat not in staying:
            raise IllegalMove(f"seat {seat} leaving", [f"seat {other} leaving" for other in staying])
        self.compact_log.append(("leave", seat))
        others = ~(1 << seat)
        self.live &= others
        self._can_act &= others
        self.to_act &= others
        if isinstance(self.turn, int):
            self._continue_betting(NEXT_IN_SET[self.to_act][seat] if seat == self.turn else self.turn)
        elif len(staying) == 2:
            self._close_round()

    def _continue_betting(self, seat: Seat) -> None:
        """Give the turn to a seat, or close the round if no decision is left."""
        can_act, bets = self._can_act, self.bets
        if self.to_act and (
            HAS_SEVERAL[can_act]
            # short blinds are less than the bet to match
            or (self.live != can_act and bets[seat] != (self.to_match if self.to_match in bets else max(bets)))
        ):
            self.turn = seat
        else:
            self._close_round()

    def _open_round(self) -> None:
        """Begin a betting round, or close it at once if no betting is possible."""
        can_act = self.to_act = self._can_act
        if not self.street:
            self._continue_betting(NEXT_IN_SET[can_act][self._last_blind])
        elif HAS_SEVERAL[can_act]:
            self._aggressor = None
            self.turn = NEXT_IN_SET[can_act][self.button]
        else:
            self._close_round()

    def _close_round(self) -> None:
        """End a betting round: return an uncalled bet, then open the next street or end the hand."""
        if self.to_match:
            bets = self.bets
            if bets.count(self.to_match) < 2:
                self._return_uncalled()
            self.bets = [0] * len(bets)
            self.to_match = 0
            self.min_raise = self.stakes.big_blind
            self._no_reopen = 0
        if not HAS_SEVERAL[self.live]:
            self._end_hand([Award(0, SEATS_IN_SET[self.live][0], self.pot, None)])
        elif self.street == RIVER:
            self._end_hand(self._showdown_awards())
        elif not self._deck_known:
            self.street += 1
            self.cards_due = STREET_CARDS[self.street]
            self.turn = CHANCE
        elif HAS_SEVERAL[self._can_act]:
            self.street += 1
            self.compact_log.append(STREET_CARDS[self.street])
            self._open_round()
        else:  # no more betting is possible
            self.compact_log += STREET_CARDS[self.street + 1 :]
            self.street = RIVER
            self._end_hand(self._showdown_awards())

    def _return_uncalled(self) -> None:
        """Return the unmatched part of the largest bet, unless its player has left (H6)."""
        *_, second, top = sorted(self.bets)
        seat = self.bets.index(top)
        if second < top and self.live >> seat & 1:
            self._can_act |= 1 << seat
            self.stacks[seat] += top - second
            self.pot -= top - second

    # The end

    def _showdown_awards(self) -> list[Award]:
        """Compare the hands of the live seats and award the pots; the lowest rank wins."""
        seats = len(self.start_stacks)
        live, dealt = SEATS_IN_SET[self.live], self._cards[: 2 * seats]
        holes = [(dealt[at := seat - self.small_blind], dealt[at - seats]) for seat in live]  # in either order
        ranks = ranks_on(self._cards[2 * seats : 2 * seats + BOARD_CARDS], holes)
        best = min(ranks)
        if not self._may_have_side_pots and ranks.count(best) == 1:
            return [Award(0, live[ranks.index(best)], self.pot, best)]
        pots = side_pots(self.paid, self.folded, self.stacks, is_over=True)
        return award_pots(pots, dict(zip(live, ranks, strict=True)), self.button + 1, seats)

    def _end_hand(self, awards: list[Award]) -> None:
        self.turn = OVER
        self.cards_due = 0
        self.awards = awards
        for award in awards:
            self.stacks[award.seat] += award.chips
