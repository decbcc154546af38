"""How a hand of no-limit hold'em is played, from the blinds to the showdown (docs/protocols/holdem.md)."""

from collections.abc import Iterable, Sequence
from operator import sub
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import ALL_CARDS, Card, are_distinct
from croupier.rooms.holdem.engine.blinds import BLINDS, check_forced_bets
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, IllegalBet, Legal, Move
from croupier.rooms.holdem.engine.log import CompactLogEntry, HandLogEntry, expand_log
from croupier.rooms.holdem.engine.pots import Award, Pot, award_pots, side_pots
from croupier.rooms.holdem.engine.ranks import ranks_on
from croupier.rooms.holdem.engine.seat_sets import ALL_SEATS, HAS_SEVERAL, NEXT_IN_SET, SEAT_BITS, SEATS_IN_SET, SeatSet

STREET_CARDS: Final = (0, 3, 1, 1)
"""How many cards open the betting rounds on the board: the flop, the turn and the river."""
BOARD_SIZES: Final = (0, 3, 4, 5)
"""How many cards are on the board in these rounds."""
CHANCE: Final = Turn.CHANCE
OVER: Final = Turn.OVER


class HandEngine:
    """A hand that is being played by the rules of H7. Seats are counted clockwise from 0, chips are integers.

    Antes, then blinds, then the straddle are posted at once, by short stacks as far as they go; what has to be matched
    is the full blind all the same. The straddle comes from the seat left of the big blind (from nobody, if two play),
    and is one more blind: it acts last before the flop, and the smallest raise then is as large as it is.
    Raises ValueError.
    """

    __slots__ = (
        "_aggressor",
        "_can_act",
        "_cards",
        "_deck_known",
        "_last_blind",
        "_live",
        "_log",
        "_may_have_side_pots",
        "_no_reopen",
        "_pot",
        "_start_stacks",
        "_to_act",
        "ante",
        "awards",
        "bets",
        "big_blind",
        "blinds",
        "button",
        "cards_due",
        "min_raise",
        "small_blind",
        "stacks",
        "straddle",
        "street",
        "to_match",
        "turn",
    )  # fmt: skip

    def __init__(
        self,
        stacks: Sequence[int],
        *,
        button: Seat = 0,
        blinds: tuple[int, int] = BLINDS,
        ante: int = 0,
        straddle: int = 0,
    ) -> None:
        seats = len(stacks)
        check_forced_bets(stacks, button, blinds, ante, straddle)
        self._start_stacks = tuple(stacks)
        self.button = button
        self.blinds = blinds
        self.ante = ante
        self.straddle = straddle
        everybody: SeatSet = (1 << seats) - 1
        behind = NEXT_IN_SET[everybody]
        self.small_blind: Seat = button if seats == 2 else behind[button]  # heads-up it is the button's (H7)
        self.big_blind: Seat = behind[self.small_blind]

        self.turn: Seat | Turn = CHANCE
        """Whose decision it is; CHANCE while cards are due."""
        self.cards_due = 2 * seats
        """How many cards are due."""
        self.street = 0
        """The betting round, or the one that the cards which are due will open: 0 is before the flop, 3 the river."""
        self.stacks = [*stacks]
        """The chips behind, by seat."""
        self.bets = [0] * seats
        """The chips put in during this betting round, by seat; blinds and straddle included, antes not."""
        self.to_match = self.min_raise = blinds[1]
        """The chips to match in this betting round, and the smallest legal raise on top of them: the last full raise of
        the round, at least the big blind.
        """
        self.awards: list[Award] = []
        """Who has won what, when it is over."""

        self._live = everybody  # who has not folded
        self._can_act = everybody  # who of those has chips
        self._to_act: SeatSet = 0  # who of those has yet to act in this round
        self._no_reopen: SeatSet = 0  # who has acted, and has been raised since by less than a full raise
        self._aggressor: Seat | None = None
        self._pot = 0  # the chips put in during the whole hand
        self._may_have_side_pots = False  # whether of those who are left some may have paid less than others
        self._cards: tuple[Card, ...] = ()  # in the order of the deal
        self._deck_known = False  # whether `_cards` has those to come as well
        self._log: list[CompactLogEntry] = []
        if ante:
            self._post([(seat, ante) for seat in range(seats)])
            self.bets = [0] * seats
        self._post(((self.small_blind, blinds[0]), (self.big_blind, blinds[1])))
        self._last_blind = self.big_blind
        if straddle and seats > 2:
            self._last_blind = behind[self.big_blind]
            self._post(((self._last_blind, straddle),))
            self.to_match = self.min_raise = straddle

    def _post(self, forced: Iterable[tuple[Seat, int]]) -> None:
        """Put in forced bets, as far as the stacks go."""
        stacks, bets = self.stacks, self.bets
        for seat, chips in forced:
            stack = stacks[seat]
            paid = chips if chips < stack else stack
            if paid == stack:
                self._can_act &= ~(1 << seat)
                self._may_have_side_pots = True
            stacks[seat] = stack - paid
            bets[seat] += paid
            self._pot += paid

    # Cards

    def deal(self, cards: Iterable[Card]) -> None:
        """Deal cards that are due: one at a time to each seat from the small blind, twice round; then to the board.

        No card is burnt (H7). Raises IllegalMove.
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
        self._log.append(len(dealt))
        self.cards_due = due
        if not due:
            self._open_round()

    def deal_from(self, deck: Iterable[Card]) -> None:
        """Deal what is due, now and later, from a deck with at least as many cards as the hand may take.

        It is never the turn of chance then. Raises IllegalMove.
        """
        cards = self._dealt_cards + tuple(deck)
        least = 2 * len(self._start_stacks) + BOARD_SIZES[-1]
        if self.turn is OVER or len(cards) < least or not are_distinct(cards):
            allowed = () if self.turn is OVER else (f"{least - len(self._dealt_cards)} or more of {self.unseen}",)
            raise IllegalMove(f"a deck of {list(cards[len(self._dealt_cards) :])}", allowed)
        self._cards = cards
        self._deck_known = True
        if self.cards_due:
            self._log.append(self.cards_due)
            self.cards_due = 0
            self._open_round()

    @property
    def unseen(self) -> list[Card]:
        """The cards that have not been dealt."""
        return sorted(ALL_CARDS.difference(self._dealt_cards))

    @property
    def _dealt_cards(self) -> tuple[Card, ...]:
        """The cards that have been dealt, in their order."""
        return self._cards[: 2 * len(self._start_stacks) + BOARD_SIZES[self.street]]

    @property
    def holes(self) -> list[list[Card]]:
        """The hole cards, by seat, in the order of the deal."""
        seats = len(self._start_stacks)
        dealt = self._cards[: 2 * seats]
        return [[*dealt[(seat - self.small_blind) % seats :: seats]] for seat in range(seats)]

    @property
    def board(self) -> list[Card]:
        """The cards on the board, in the order of the deal."""
        return [*self._dealt_cards[2 * len(self._start_stacks) :]]

    # Betting

    @property
    def folded(self) -> list[bool]:
        """Who has folded or left, by seat."""
        live = self._live
        return [not live >> seat & 1 for seat in range(len(self._start_stacks))]

    @property
    def paid(self) -> list[int]:
        """The chips put in during the whole hand, by seat; antes included, an uncalled bet taken back."""
        paid = [*map(sub, self._start_stacks, self.stacks)]
        for award in self.awards:
            paid[award.seat] += award.chips
        return paid

    @property
    def legal(self) -> Legal:
        """What the seat may do whose turn it is; nothing, if it is nobody's."""
        seat = self.turn
        if type(seat) is not int:
            return NO_MOVES
        stack = self.stacks[seat]
        owed = self.to_match - self.bets[seat]
        me = SEAT_BITS[seat]
        bounds = None
        if stack > owed and (not self._no_reopen & me or owed >= self.min_raise):
            least = owed + self.min_raise
            bounds = (least if least < stack else stack, stack)
        return Legal(owed, owed if owed < stack else stack, bounds, self._pot, self._can_act != me)

    @property
    def fcpa(self) -> tuple[Move, ...]:
        """The moves of the abstraction that is known by this name: FOLD, the call, a raise by the pot, and all in.

        Without FOLD where there is nothing to call, and without raises that are not legal or that nobody could answer.
        It tells so without a Legal, for simulations ask it at every decision.
        """
        seat = self.turn
        if type(seat) is not int:
            return ()
        stack, owed = self.stacks[seat], self.to_match - self.bets[seat]
        if stack <= owed:
            return (FOLD, stack)
        if self._can_act == SEAT_BITS[seat] or (
            self._no_reopen and self._no_reopen & SEAT_BITS[seat] and owed < self.min_raise
        ):
            return (FOLD, owed) if owed else (owed,)
        pot = 2 * owed + self._pot
        if pot < stack:  # never less than the smallest raise: so much has been put in
            return (FOLD, owed, pot, stack) if owed else (owed, pot, stack)
        return (FOLD, owed, stack) if owed else (owed, stack)

    def bet(self, chips: int) -> None:
        """Add chips: 0 checks, what is owed calls, more raises (H4). Raises IllegalMove; nothing has changed then.

        A raise that nobody can answer, because all others are all in, is taken as the call of it: the rest would only
        come back.
        """
        seat = self.turn
        if type(seat) is not int or type(chips) is not int:
            raise IllegalBet(chips, self.legal)
        stack, me = self.stacks[seat], SEAT_BITS[seat]
        bet = self.bets[seat] + chips
        raised = bet - self.to_match
        able = self._can_act
        if raised or chips > stack:
            barred = self._no_reopen and raised > 0 and self._no_reopen & me and chips - raised < self.min_raise
            if barred or chips > stack or (chips < stack and raised < self.min_raise):
                raise IllegalBet(chips, self.legal)
            if raised > 0 and able == me:
                chips, bet, raised = chips - raised, bet - raised, 0
            elif raised < 0 or able != self._live:
                self._may_have_side_pots = True
        self._log.append(("bet", seat, chips))
        if chips:
            self.stacks[seat] = stack - chips
            self.bets[seat] = bet
            self._pot += chips
            if chips == stack:
                self._can_act -= me
        if raised > 0:
            if raised >= self.min_raise:
                self.min_raise = raised
                self._no_reopen = 0
            else:  # an all-in short raise does not reopen the betting (H7)
                self._no_reopen |= ALL_SEATS ^ self._to_act
            self.to_match = bet
            self._aggressor = seat
            due = self._to_act = able - me
            self.turn = NEXT_IN_SET[due][seat]
        else:
            due = self._to_act = self._to_act - me
            self._continue_betting(NEXT_IN_SET[due][seat])

    def fold(self) -> None:
        """Fold the hand of the seat whose turn it is. Raises IllegalMove."""
        seat = self.turn
        if type(seat) is not int:
            raise IllegalBet(FOLD, NO_MOVES)
        self._log.append(("fold", seat))
        me = SEAT_BITS[seat]
        self._live -= me
        self._can_act -= me
        due = self._to_act = self._to_act - me
        self._continue_betting(NEXT_IN_SET[due][seat])

    def leave(self, seat: Seat) -> None:
        """Fold the hand of a player who leaves, whoever's turn it is; what he has bet is forfeited (H6).

        Raises IllegalMove if he is not in the hand, or if it is over.
        """
        staying = () if self.turn is OVER else SEATS_IN_SET[self._live]
        if type(seat) is not int or seat not in staying:
            raise IllegalMove(f"seat {seat} leaving", [f"seat {other} leaving" for other in staying])
        self._log.append(("leave", seat))
        others = ~(1 << seat)
        self._live &= others
        self._can_act &= others
        self._to_act &= others
        if isinstance(self.turn, int):
            self._continue_betting(NEXT_IN_SET[self._to_act][seat] if seat == self.turn else self.turn)
        elif len(staying) == 2:
            self._close_round()

    def _continue_betting(self, seat: Seat) -> None:
        """The betting goes on with this seat, unless there is nothing left to decide."""
        able = self._can_act
        if self._to_act and (HAS_SEVERAL[able] or (self._live != able and self.bets[seat] != max(self.bets))):
            self.turn = seat
        else:
            self._close_round()

    def _open_round(self) -> None:
        """Begin a betting round, unless nobody can bet."""
        able = self._to_act = self._can_act
        if not self.street:
            self._continue_betting(NEXT_IN_SET[able][self._last_blind])
        elif HAS_SEVERAL[able]:
            self._aggressor = None
            self.turn = NEXT_IN_SET[able][self.button]
        else:
            self._close_round()

    def _close_round(self) -> None:
        """End a betting round: an uncalled bet goes back, and the next cards are due unless the hand is over."""
        if self.to_match:
            bets = self.bets
            if bets.count(self.to_match) < 2:
                self._return_uncalled()
            self.bets = [0] * len(bets)
            self.to_match = 0
            self.min_raise = self.blinds[1]
            self._no_reopen = 0
        if not HAS_SEVERAL[self._live]:
            self._end_hand([Award(0, SEATS_IN_SET[self._live][0], self._pot, None)])
        elif self.street == 3:
            self._end_hand(self._showdown_awards())
        elif not self._deck_known:
            self.street += 1
            self.cards_due = STREET_CARDS[self.street]
            self.turn = CHANCE
        elif HAS_SEVERAL[self._can_act]:
            self.street += 1
            self._log.append(STREET_CARDS[self.street])
            self._open_round()
        else:  # nobody can bet any more
            self._log += STREET_CARDS[self.street + 1 :]
            self.street = 3
            self._end_hand(self._showdown_awards())

    def _return_uncalled(self) -> None:
        """Give back what nobody has matched of the largest bet, unless who made it has left (H6)."""
        *_, second, top = sorted(self.bets)
        seat = self.bets.index(top)
        if second < top and self._live >> seat & 1:
            self._can_act |= 1 << seat
            self.stacks[seat] += top - second
            self._pot -= top - second

    # The end

    def _showdown_awards(self) -> list[Award]:
        """Compare the hands of those who have not folded; the lowest rank wins."""
        seats = len(self._start_stacks)
        live, dealt = SEATS_IN_SET[self._live], self._cards[: 2 * seats]
        holes = [(dealt[at := seat - self.small_blind], dealt[at - seats]) for seat in live]  # either one first
        ranks = ranks_on(self._cards[2 * seats : 2 * seats + BOARD_SIZES[3]], holes)
        best = min(ranks)
        if not self._may_have_side_pots and ranks.count(best) == 1:
            return [Award(0, live[ranks.index(best)], self._pot, best)]
        pots = side_pots(self.paid, self.folded, self.stacks, is_over=True)
        return award_pots(pots, dict(zip(live, ranks, strict=True)), self.button + 1, seats)

    def _end_hand(self, awards: list[Award]) -> None:
        """Pay the winners."""
        self.turn = OVER
        self.cards_due = 0
        self.awards = awards
        for award in awards:
            self.stacks[award.seat] += award.chips

    @property
    def pots(self) -> list[Pot]:
        """The pots with the current bets, the main pot first; when it is over, as they were awarded."""
        return side_pots(self.paid, self.folded, self.stacks, is_over=self.turn is OVER)

    @property
    def showdown_order(self) -> list[Seat]:
        """Who shows his cards, in the order of showing; nobody before the end, or where all others have folded.

        Whoever raised last in the last round of betting begins, else the first one left of the button (H7).
        """
        if self.turn is not OVER or not HAS_SEVERAL[self._live]:
            return []
        seats = len(self.stacks)
        live, raiser = self._live, self._aggressor
        first = self.button + 1 if raiser is None or not live >> raiser & 1 else raiser
        return [seat % seats for seat in range(first, first + seats) if live >> seat % seats & 1]

    def payoff(self) -> tuple[int, ...]:
        """What each seat has won, negative if it has lost; all zeros together. Only when it is over."""
        assert self.turn is OVER, "the payoff of a hand that is not over"
        return tuple(map(sub, self.stacks, self._start_stacks))

    @property
    def log(self) -> list[HandLogEntry]:
        """Everything that has happened since the blinds, in order; hole cards one by one."""
        return expand_log(self._log, self._cards, self.small_blind, len(self._start_stacks))
