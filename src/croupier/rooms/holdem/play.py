"""How a hand of no-limit hold'em is played, from the blinds to the showdown (docs/protocols/holdem.md)."""

from collections.abc import Iterable, Sequence
from operator import sub
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.blinds import BLINDS, MOST_SEATS, check
from croupier.rooms.holdem.cards import CARDS, Card
from croupier.rooms.holdem.legal import FOLD, NOTHING, IllegalBet, Legal
from croupier.rooms.holdem.log import Entry, entries
from croupier.rooms.holdem.pots import Award, Pot, share, side_pots
from croupier.rooms.holdem.ranks import rank

PACK: Final = frozenset(range(len(CARDS)))
STREETS: Final = (0, 3, 1, 1)
"""How many cards open the betting rounds on the board: the flop, the turn and the river."""
RINGS: Final = [[*range(1, seats), 0] for seats in range(MOST_SEATS + 1)]
"""The next seat clockwise, by the number of seats and by seat."""
NOBODY: Final[frozenset[Seat]] = frozenset()
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
        "_active", "_aggressor", "_barred", "_due", "_left", "_log", "_ring", "_seen", "_start",
        "ante", "awards", "bets", "big_blind", "blinds", "board", "button", "folded", "holes", "min_raise", "paid",
        "small_blind", "stacks", "straddle", "street", "to_match", "turn", "wanted",
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
        self.stacks = list(stacks)
        """The chips behind, by seat."""
        self.bets = [0] * seats
        """The chips put in during this betting round, by seat; blinds and straddle included, antes not."""
        self.paid = [0] * seats
        """The chips put in during the whole hand, by seat; antes included, an uncalled bet taken back."""
        self.folded = [False] * seats
        self.holes: list[list[Card]] = [[] for _ in stacks]
        """The hole cards, by seat, in the order of the deal."""
        self.board: list[Card] = []
        self.to_match = self.min_raise = blinds[1]
        """The chips to match in this betting round, and the smallest legal raise on top of them: the last full raise of
        the round, at least the big blind.
        """
        self.awards: list[Award] = []
        """Who has won what, when it is over."""

        self._left = seats  # how many have not folded
        self._active = seats  # how many of those have chips
        self._ring = RINGS[seats].copy()  # by seat: the next one clockwise who has not folded and has chips
        self._due = 0  # how many have yet to act in this round: the next ones clockwise, beginning with `turn`
        self._barred = NOBODY  # who has acted, and has been raised since by less than a full raise
        self._aggressor: Seat | None = None
        self._seen: set[Card] = set()
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
        posted = chips if chips < stack else stack
        self.stacks[seat] = stack - posted
        self.bets[seat] += posted
        self.paid[seat] += posted
        if chips >= stack > 0:
            self._rest(seat)

    def _rest(self, seat: Seat) -> None:
        """Somebody who had chips acts no more: he has folded, or is all in."""
        ring = self._ring
        after = ring[seat]
        if after != seat:
            before = seat - 1
            while ring[before] == seat:  # at the latest this comes round to the seat itself
                ring[before] = after
                before -= 1
        self._active -= 1

    # Cards

    def deal(self, cards: Iterable[Card]) -> None:
        """Deal cards that are due: one at a time to each seat from the small blind, twice round; then to the board.

        No card is burnt (H7). Raises IllegalMove.
        """
        dealt = tuple(cards)
        due = self.wanted - len(dealt)
        if due < 0 or not dealt:
            raise IllegalMove(f"a deal of {len(dealt)} cards", [f"1 to {self.wanted} cards"] if self.wanted else ())
        seen = self._seen
        known = len(seen)
        if PACK.issuperset(dealt):
            seen.update(dealt)
        if len(seen) != known + len(dealt):
            self._seen = {*self.board}.union(*self.holes)
            raise IllegalMove(f"a deal of {', '.join(map(str, dealt))}", self.unseen)
        self._log.append(("deal", None, dealt))
        if self.street:
            self.board += dealt
        else:
            holes = self.holes
            seats = len(holes)
            seat = (self.small_blind + known) % seats
            for card in dealt:
                holes[seat].append(card)
                seat += 1
                if seat == seats:
                    seat = 0
        self.wanted = due
        if not due:
            self._open()

    @property
    def unseen(self) -> list[Card]:
        """The cards that have not been dealt."""
        return sorted(PACK - self._seen)

    # Betting

    @property
    def legal(self) -> Legal:
        """What the seat may do whose turn it is; nothing, if it is nobody's."""
        seat = self.turn
        if type(seat) is not int:
            return NOTHING
        stack = self.stacks[seat]
        owed = self.to_match - self.bets[seat]
        bounds = None
        if stack > owed and (owed >= self.min_raise or seat not in self._barred):
            least = owed + self.min_raise
            bounds = (least if least < stack else stack, stack)
        return Legal(owed, stack, bounds, sum(self.paid), self._active > 1)

    def bet(self, chips: int) -> None:
        """Add chips: 0 checks, what is owed calls, more raises (H4). Raises IllegalMove; nothing has changed then.

        A raise that nobody can answer, because all others are all in, is taken as the call of it: the rest would only
        come back.
        """
        seat = self.turn
        if type(seat) is not int or type(chips) is not int:
            raise IllegalBet(chips, self.legal)
        stack = self.stacks[seat]
        if chips != self.to_match - self.bets[seat] or chips >= stack:
            self._raise(seat, chips)
            return
        if chips:
            self.stacks[seat] = stack - chips
            self.bets[seat] += chips
            self.paid[seat] += chips
        self._log.append(("bet", seat, chips))
        self._due -= 1
        if self._due:
            self.turn = self._ring[seat]
        else:
            self._close()

    def _raise(self, seat: Seat, chips: int) -> None:
        """Raise, or go all in."""
        stack = self.stacks[seat]
        owed = self.to_match - self.bets[seat]
        raised = chips - owed
        reopened = owed >= self.min_raise or seat not in self._barred
        if chips > stack or (chips < stack and raised < self.min_raise) or (raised > 0 and not reopened):
            raise IllegalBet(chips, self.legal)
        if raised > 0 and self._active == 1:
            chips, raised = owed, 0
        self._log.append(("bet", seat, chips))
        if raised <= 0:
            self._due -= 1
        elif raised >= self.min_raise:
            self.min_raise = raised
            self._barred = NOBODY
        else:  # an all-in short raise does not reopen the betting (H7)
            self._barred = self._barred.union(set(range(len(self.stacks))).difference(self._waiting(seat)))
        self.stacks[seat] = stack - chips
        self.bets[seat] += chips
        self.paid[seat] += chips
        if chips == stack:
            self._rest(seat)
        if raised > 0:
            self.to_match += raised
            self._aggressor = seat
            self._due = self._active - (chips != stack)
        self._go_on(self._ring[seat])

    def _waiting(self, turn: Seat) -> list[Seat]:
        """Those who have yet to act in this round, beginning with the one whose turn it is."""
        waiting = [turn]
        while len(waiting) < self._due:
            waiting.append(self._ring[waiting[-1]])
        return waiting

    def fold(self) -> None:
        """Fold the hand of the seat whose turn it is. Raises IllegalMove."""
        seat = self.turn
        if type(seat) is not int:
            raise IllegalBet(FOLD, NOTHING)
        self._log.append(("fold", seat))
        self.folded[seat] = True
        self._left -= 1
        self._due -= 1
        self._rest(seat)
        self._go_on(self._ring[seat])

    def leave(self, seat: Seat) -> None:
        """Fold the hand of a player who leaves, whoever's turn it is; what he has bet is forfeited (H6).

        Raises IllegalMove if he is not in the hand, or if it is over.
        """
        staying = [] if self.turn is OVER else [other for other, out in enumerate(self.folded) if not out]
        if type(seat) is not int or seat not in staying:
            raise IllegalMove(f"seat {seat} leaving", [f"seat {other} leaving" for other in staying])
        turn = self.turn
        self._log.append(("leave", seat))
        self.folded[seat] = True
        self._left -= 1
        if isinstance(turn, int) and seat in self._waiting(turn):
            self._due -= 1
        if self.stacks[seat]:
            self._rest(seat)
        if isinstance(turn, int):
            self._go_on(self._ring[seat] if seat == turn else turn)
        elif self._left == 1:
            self._close()

    def _go_on(self, seat: Seat) -> None:
        """The betting goes on with this seat, unless there is nothing left to decide."""
        if self._left == 1 or not self._due or (self._active == 1 and self.bets[seat] == max(self.bets)):
            self._close()
        else:
            self.turn = seat

    def _open(self) -> None:
        """Begin a betting round, unless nobody can bet."""
        self._due = self._active
        if not self.street:
            straddled = self.to_match > self.blinds[1]
            self._go_on(self._ring[(self.big_blind + straddled) % len(self.stacks)])
        elif self._active > 1:
            self._aggressor = None
            self.turn = self._ring[self.button]
        else:
            self._close()

    def _close(self) -> None:
        """End a betting round: an uncalled bet goes back, and the next cards are due unless the hand is over."""
        if self.to_match:
            bets = self.bets
            top = max(bets)
            if bets.count(top) == 1:
                self._return_uncalled(bets.index(top))
            self.bets = [0] * len(bets)
            self.to_match = 0
            self.min_raise = self.blinds[1]
            self._barred = NOBODY
        if self._left == 1:
            self._end([Award(0, self.folded.index(False), sum(self.paid), None)])
        elif self.street == 3:
            self._end(self._showdown())
        else:
            self.street += 1
            self.wanted = STREETS[self.street]
            self.turn = CHANCE

    def _return_uncalled(self, seat: Seat) -> None:
        """Give back what nobody has matched of the largest bet, unless who made it has left (H6)."""
        if not self.folded[seat]:
            second, top = sorted(self.bets)[-2:]
            self._active += not self.stacks[seat]
            self.stacks[seat] += top - second
            self.paid[seat] -= top - second

    # The end

    def _showdown(self) -> list[Award]:
        """Compare the hands of those who have not folded; the lowest rank wins."""
        board, holes, paid = self.board, self.holes, self.paid
        live = [seat for seat, out in enumerate(self.folded) if not out]
        ranks = [rank(holes[seat] + board) for seat in live]
        best = min(ranks)
        if ranks.count(best) == 1 and min([paid[seat] for seat in live]) == max(paid):
            return [Award(0, live[ranks.index(best)], sum(paid), best)]
        pots = side_pots(paid, self.folded, self.stacks, over=True)
        return share(pots, dict(zip(live, ranks, strict=True)), self.button + 1, len(paid))

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
        if self.turn is not OVER or self._left == 1:
            return []
        seats = len(self.stacks)
        first = self.button + 1 if self._aggressor is None or self.folded[self._aggressor] else self._aggressor
        return [seat % seats for seat in range(first, first + seats) if not self.folded[seat % seats]]

    def payoff(self) -> tuple[int, ...]:
        """What each seat has won, negative if it has lost; all zeros together. Only when it is over."""
        assert self.turn is OVER, "the payoff of a hand that is not over"
        return tuple(map(sub, self.stacks, self._start))

    @property
    def log(self) -> list[Entry]:
        """Everything that has happened since the blinds, in order; hole cards one by one."""
        return entries(self._log, self.small_blind, len(self._start))
