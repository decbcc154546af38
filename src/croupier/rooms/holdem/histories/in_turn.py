"""A hand played once more with folds instead of departures, for formats in which players can only fold in turn."""

from collections.abc import Iterable, Sequence

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import HandLogEntry


class InTurnHand(Hand):
    """A hand that follows the log of a real hand; players who left it (H6) fold at their next turn.

    Players who are asked but have no action in the log check; to a bet they call, or fold if they end up out of the
    real hand.
    """

    def __init__(self, hand: Hand, stacks: Sequence[int] | None = None) -> None:
        super().__init__(stacks or hand.start_stacks, button=hand.button, stakes=hand.stakes)
        self._folds = hand.folded
        """Whether each seat has folded or left at the end of the log."""
        self._out: set[Seat] = set()
        """The seats that have folded or left in the log so far."""
        self._played = hand.replay(()).paid
        """The chips that each seat has put in during the real hand, including bets that were returned."""

    def follow(self, log: Iterable[HandLogEntry]) -> None:
        """Play the entries of a log as far as their seats are asked."""
        for entry in log:
            match entry:
                case ("deal", _, cards):
                    self._end_round()
                    if self.cards_due:
                        self.deal(cards)
                case ("bet", seat, chips):
                    self._played[seat] += chips
                    while isinstance(self.turn, int) and self.turn != seat and self.to_act >> seat & 1:
                        self._act_by_default()
                    if self.turn == seat:
                        self.put_in(self._played[seat])
                case (_, seat):
                    self._out.add(seat)
            self._fold_out()

    def put_in(self, total: int) -> None:
        """Bet for the seat to act, such that it has put in a total number of chips during the whole hand."""
        assert isinstance(self.turn, int), "only a seat to act is asked"
        self.bet(total - self.paid[self.turn])

    def _end_round(self) -> None:
        while isinstance(self.turn, int):
            self._act_by_default()

    def _act_by_default(self) -> None:
        assert isinstance(self.turn, int), "only a seat to act is asked"
        if self._folds[self.turn] and self.bets[self.turn] < self.to_match:
            self.fold()
        else:
            self.call()
        self._fold_out()

    def _fold_out(self) -> None:
        while self.turn in self._out:
            self.fold()
