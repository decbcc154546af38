"""How a hand of no-limit hold'em is played, from the blinds to the showdown (docs/protocols/holdem.md)."""

from collections.abc import Iterable, Sequence
from operator import sub
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.blinds import BLINDS, check
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.circle import EVERYBODY, NEXT, SEATS, Seats
from croupier.rooms.holdem.legal import FOLD, NOTHING, IllegalBet, Legal
from croupier.rooms.holdem.log import Entry, entries
from croupier.rooms.holdem.pots import Award, Pot, share, side_pots
from croupier.rooms.holdem.ranks import ranks_on

PACK: Final = frozenset(range(len(CARDS)))
STREETS: Final = (0, 3, 1, 1)
"""How many cards open the betting rounds on the board: the flop, the turn and the river."""
CHANCE: Final = Turn.CHANCE
OVER: Final = Turn.OVER


class Play:
    """A hand that is being played by the rules of H7. Seats are counted clockwise from 0, chips are integers.

    Antes, then blinds, then the straddle are posted at once, by short stacks as far as they go; what has to be matched
    is the full blind all the same. The straddle comes from the seat left of the big blind (from nobody, if two play),
    and is one more blind: it acts last before the flop, and the smallest raise then is as large as it is.
    Raises ValueError.
    """

    __slots__ = (
        "_able", "_aggressor", "_barred", "_cards", "_due", "_live", "_log", "_pot", "_start",
        "ante", "awards", "bets", "big_blind", "blinds", "button", "min_raise", "small_blind", "stacks", "straddle",
        "street", "to_match", "turn", "wanted",
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
        check(stacks, button, blinds, ante, straddle)
        self._start = tuple(stacks)
        self.button = button
        self.blinds = blinds
        self.ante = ante
        self.straddle = straddle
        self.small_blind: Seat = button if seats == 2 else (button + 1) % seats  # heads-up it is the button's (H7)
        self.big_blind: Seat = (self.small_blind + 1) % seats

        self.turn: Seat | Turn = CHANCE
        """Whose decision it is; CHANCE while cards are due."""
        self.wanted = 2 * seats
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

        self._live: Seats = (1 << seats) - 1  # who has not folded
        self._able: Seats = self._live  # who of those has chips
        self._due: Seats = 0  # who of those has yet to act in this round
        self._barred: Seats = 0  # who has acted, and has been raised since by less than a full raise
        self._aggressor: Seat | None = None
        self._pot = 0  # the chips put in during the whole hand
        self._cards: tuple[Card, ...] = ()  # in the order of the deal
        self._log: list[Entry] = []  # `log`, but with the cards in the portions in which they came
        if ante:
            for seat in range(seats):
                self._post(seat, ante)
            self.bets = [0] * seats
        self._post(self.small_blind, blinds[0])
        self._post(self.big_blind, blinds[1])
        if straddle and seats > 2:
            self._post((self.big_blind + 1) % seats, straddle)
            self.to_match = self.min_raise = straddle

    def _post(self, seat: Seat, chips: int) -> None:
        """Put in a forced bet, as far as the stack goes."""
        stack = self.stacks[seat]
        if chips >= stack:
            chips = stack
            self._able &= ~(1 << seat)
        self.stacks[seat] = stack - chips
        self.bets[seat] += chips
        self._pot += chips

    # Cards

    def deal(self, cards: Iterable[Card]) -> None:
        """Deal cards that are due: one at a time to each seat from the small blind, twice round; then to the board.

        No card is burnt (H7). Raises IllegalMove.
        """
        dealt = tuple(cards)
        due = self.wanted - len(dealt)
        if due < 0 or not dealt:
            raise IllegalMove(f"a deal of {len(dealt)} cards", [f"1 to {self.wanted} cards"] if self.wanted else ())
        known = self._cards + dealt
        if len(PACK.intersection(known)) != len(known):
            raise IllegalMove(f"a deal of {', '.join(map(str, dealt))}", self.unseen)
        self._cards = known
        self._log.append(("deal", None, dealt))
        self.wanted = due
        if not due:
            self._open()

    @property
    def unseen(self) -> list[Card]:
        """The cards that have not been dealt."""
        return sorted(PACK.difference(self._cards))

    @property
    def holes(self) -> list[list[Card]]:
        """The hole cards, by seat, in the order of the deal."""
        seats = len(self._start)
        dealt = self._cards[: 2 * seats]
        return [[*dealt[(seat - self.small_blind) % seats :: seats]] for seat in range(seats)]

    @property
    def board(self) -> list[Card]:
        """The cards on the board, in the order of the deal."""
        return [*self._cards[2 * len(self._start) :]]

    # Betting

    @property
    def folded(self) -> list[bool]:
        """Who has folded or left, by seat."""
        live = self._live
        return [not live >> seat & 1 for seat in range(len(self._start))]

    @property
    def paid(self) -> list[int]:
        """The chips put in during the whole hand, by seat; antes included, an uncalled bet taken back."""
        paid = [*map(sub, self._start, self.stacks)]
        for award in self.awards:
            paid[award.seat] += award.chips
        return paid

    @property
    def legal(self) -> Legal:
        """What the seat may do whose turn it is; nothing, if it is nobody's."""
        seat = self.turn
        if type(seat) is not int:
            return NOTHING
        stack = self.stacks[seat]
        owed = self.to_match - self.bets[seat]
        me = 1 << seat
        bounds = None
        if stack > owed and (not self._barred & me or owed >= self.min_raise):
            least = owed + self.min_raise
            bounds = (least if least < stack else stack, stack)
        return Legal(owed, owed if owed < stack else stack, bounds, self._pot, self._able != me)

    def bet(self, chips: int) -> None:
        """Add chips: 0 checks, what is owed calls, more raises (H4). Raises IllegalMove; nothing has changed then.

        A raise that nobody can answer, because all others are all in, is taken as the call of it: the rest would only
        come back.
        """
        seat = self.turn
        if type(seat) is not int or type(chips) is not int:
            raise IllegalBet(chips, self.legal)
        stack = self.stacks[seat]
        bets = self.bets
        if chips != self.to_match - bets[seat] or chips >= stack:
            self._raise(seat, chips)
            return
        if chips:
            self.stacks[seat] = stack - chips
            bets[seat] += chips
            self._pot += chips
        self._log.append(("bet", seat, chips))
        due = self._due = self._due ^ 1 << seat
        if due:
            self.turn = NEXT[due][seat]
        else:
            self._close()

    def _raise(self, seat: Seat, chips: int) -> None:
        """Raise, or go all in."""
        stack, bet, me = self.stacks[seat], self.bets[seat], 1 << seat
        owed = self.to_match - bet
        raised = chips - owed
        barred = self._barred & me and raised > 0 and owed < self.min_raise
        if chips > stack or (chips < stack and raised < self.min_raise) or barred:
            raise IllegalBet(chips, self.legal)
        if raised > 0 and self._able == me:
            chips, raised = owed, 0
        self._log.append(("bet", seat, chips))
        self.stacks[seat] = stack - chips
        self.bets[seat] = bet + chips
        self._pot += chips
        if chips == stack:
            self._able ^= me
        if raised > 0:
            if raised >= self.min_raise:
                self.min_raise = raised
                self._barred = 0
            else:  # an all-in short raise does not reopen the betting (H7)
                self._barred |= EVERYBODY ^ self._due
            self.to_match += raised
            self._aggressor = seat
            due = self._due = self._able & ~me
            self.turn = NEXT[due][seat]
        else:
            due = self._due = self._due ^ me
            self._go_on(NEXT[due][seat])

    def fold(self) -> None:
        """Fold the hand of the seat whose turn it is. Raises IllegalMove."""
        seat = self.turn
        if type(seat) is not int:
            raise IllegalBet(FOLD, NOTHING)
        self._log.append(("fold", seat))
        me = 1 << seat
        self._live ^= me
        self._able ^= me
        due = self._due = self._due ^ me
        self._go_on(NEXT[due][seat])

    def leave(self, seat: Seat) -> None:
        """Fold the hand of a player who leaves, whoever's turn it is; what he has bet is forfeited (H6).

        Raises IllegalMove if he is not in the hand, or if it is over.
        """
        staying = () if self.turn is OVER else SEATS[self._live]
        if type(seat) is not int or seat not in staying:
            raise IllegalMove(f"seat {seat} leaving", [f"seat {other} leaving" for other in staying])
        self._log.append(("leave", seat))
        others = ~(1 << seat)
        self._live &= others
        self._able &= others
        self._due &= others
        if isinstance(self.turn, int):
            self._go_on(NEXT[self._due][seat] if seat == self.turn else self.turn)
        elif len(staying) == 2:
            self._close()

    def _go_on(self, seat: Seat) -> None:
        """The betting goes on with this seat, unless there is nothing left to decide."""
        able = self._able
        if self._due and (able & (able - 1) or (self._live != able and self.bets[seat] != max(self.bets))):
            self.turn = seat
        else:
            self._close()

    def _open(self) -> None:
        """Begin a betting round, unless nobody can bet."""
        able = self._due = self._able
        if not self.street:
            straddled = self.to_match > self.blinds[1]
            self._go_on(NEXT[able][(self.big_blind + straddled) % len(self.stacks)])
        elif able & (able - 1):
            self._aggressor = None
            self.turn = NEXT[able][self.button]
        else:
            self._close()

    def _close(self) -> None:
        """End a betting round: an uncalled bet goes back, and the next cards are due unless the hand is over."""
        if self.to_match:
            bets = self.bets
            if bets.count(self.to_match) < 2:
                self._return_uncalled()
            self.bets = [0] * len(bets)
            self.to_match = 0
            self.min_raise = self.blinds[1]
            self._barred = 0
        live = self._live
        if not live & (live - 1):
            self._end([Award(0, SEATS[live][0], self._pot, None)])
        elif self.street == 3:
            self._end(self._showdown())
        else:
            self.street += 1
            self.wanted = STREETS[self.street]
            self.turn = CHANCE

    def _return_uncalled(self) -> None:
        """Give back what nobody has matched of the largest bet, unless who made it has left (H6)."""
        *_, second, top = sorted(self.bets)
        seat = self.bets.index(top)
        if second < top and self._live >> seat & 1:
            self._able |= 1 << seat
            self.stacks[seat] += top - second
            self._pot -= top - second

    # The end

    def _showdown(self) -> list[Award]:
        """Compare the hands of those who have not folded; the lowest rank wins."""
        cards, small_blind, seats = self._cards, self.small_blind, len(self._start)
        live = SEATS[self._live]
        holes = [(cards[at := (seat - small_blind) % seats], cards[at + seats]) for seat in live]
        ranks = ranks_on(cards[2 * seats :], holes)
        best = min(ranks)
        if ranks.count(best) == 1 and self._one_pot(live):
            return [Award(0, live[ranks.index(best)], self._pot, best)]
        pots = side_pots(self.paid, self.folded, self.stacks, over=True)
        return share(pots, dict(zip(live, ranks, strict=True)), self.button + 1, seats)

    def _one_pot(self, live: Sequence[Seat]) -> bool:
        """Whether all who are left have paid the same, so that each can win everything."""
        start, stacks = self._start, self.stacks
        paid = start[live[0]] - stacks[live[0]]
        return not [seat for seat in live if start[seat] - stacks[seat] != paid]

    def _end(self, awards: list[Award]) -> None:
        """Pay the winners."""
        self.turn = OVER
        self.wanted = 0
        self.awards = awards
        for award in awards:
            self.stacks[award.seat] += award.chips

    @property
    def pots(self) -> list[Pot]:
        """The pots with the current bets, the main pot first; when it is over, as they were awarded."""
        return side_pots(self.paid, self.folded, self.stacks, over=self.turn is OVER)

    @property
    def shown(self) -> list[Seat]:
        """Who shows his cards, in the order of showing; nobody before the end, or where all others have folded.

        Whoever raised last in the last round of betting begins, else the first one left of the button (H7).
        """
        if self.turn is not OVER or not self._live & (self._live - 1):
            return []
        seats = len(self.stacks)
        live, raiser = self._live, self._aggressor
        first = self.button + 1 if raiser is None or not live >> raiser & 1 else raiser
        return [seat % seats for seat in range(first, first + seats) if live >> seat % seats & 1]

    def payoff(self) -> tuple[int, ...]:
        """What each seat has won, negative if it has lost; all zeros together. Only when it is over."""
        assert self.turn is OVER, "the payoff of a hand that is not over"
        return tuple(map(sub, self.stacks, self._start))

    @property
    def log(self) -> list[Entry]:
        """Everything that has happened since the blinds, in order; hole cards one by one."""
        return entries(self._log, self.small_blind, len(self._start))
