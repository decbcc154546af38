"""The table as the books of others know it: a player is in the hand until he folds or mucks when he is asked.

This is hold'em as PokerKit keeps it, the reference reader of the PHH notation. It differs from our rules in who is
asked (also a player whom nobody can answer any more), in a blind that is too short (only what was posted is to be
matched), and in knowing nobody who leaves.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from croupier.rooms.holdem.engine.pots import award_pots, side_pots
from croupier.rooms.holdem.histories.notation import HIDDEN_HOLE

RIVER: Final = 3


class PokerKitState:
    """One hand in the books, and what is written into them. Players are counted from the left of the button.

    `posts` are the blinds by player, as far as the stacks go; a negative one is posted like any other, but does not
    move the first turn. `actions` is the hand in the PHH notation.
    """

    def __init__(self, stacks: Sequence[int], antes: Sequence[int], posts: Sequence[int], min_bet: int) -> None:
        self.players = range(len(stacks))
        self.posts = posts
        self.min_bet = min_bet
        self.stacks = list(stacks)
        self.bets = [0 for _ in stacks]
        self.paid = [0 for _ in stacks]
        self.players_in = {*self.players}
        self.to_act: list[int] = []
        """Who has still to act in this betting round, the next one first."""
        self.street = 0
        self.is_betting_open = True
        """Whether the betting round has not been closed."""
        self.is_all_in = False
        """Whether there will be no more betting."""
        self.has_shown_down = False
        """Whether there has been a showdown."""
        self.actions: list[str] = []
        self._largest_raise = 0  # the largest raise of the round
        self._acted: set[int] = set()  # who has acted since the last full raise
        self._short_raises: list[int] = []  # the latest raises, if they were all-in and short
        for player in self.players:
            self._pay(player, antes[player])
        self._collect_bets()
        for player in self.players:
            self._pay(player, abs(posts[player]))

    def _pay(self, player: int, chips: int) -> None:
        """Put chips in, as far as they go."""
        paid = min(chips, self.stacks[player])
        self.stacks[player] -= paid
        self.bets[player] += paid
        self.paid[player] += paid

    # Betting

    def open_round(self) -> None:
        """Open a betting round."""
        self.is_betting_open = True
        self._largest_raise = 0
        self._acted.clear()
        self._short_raises = []
        last = max(self.players, key=lambda player: (self.bets[player] * _sign(self.posts[player]), player))
        self.to_act = [
            player for player in self._players_after(last) if self.stacks[player] and self._can_lose_more(player)
        ]

    def _players_after(self, player: int) -> list[int]:
        """Who is in the hand, clockwise from the left of a player."""
        count = len(self.players)
        clockwise = [(player + 1 + at) % count for at in range(count)]
        return [other for other in clockwise if other in self.players_in]

    def _can_lose_more(self, player: int) -> bool:
        """Whether somebody else has enough for this player to lose more than he has bet."""
        totals = sorted(self.bets[other] + self.stacks[other] for other in self.players_in)
        second: int = totals[-2]
        return second > self.bets[player]

    def fold(self, comment: str = "") -> None:
        """Who is asked folds."""
        player = self.to_act.pop(0)
        self.actions.append(f"p{player + 1} f{comment}")
        self.players_in.discard(player)
        if self.is_over:
            self.to_act = []
            self.close_round()

    def call(self) -> None:
        """Who is asked checks or calls."""
        player = self.to_act.pop(0)
        self.actions.append(f"p{player + 1} cc")
        self._pay(player, max(self.bets) - self.bets[player])
        self._acted.add(player)

    def raise_to(self, total: int) -> None:
        """Who is asked bets, or raises to so much in this round."""
        player = self.to_act[0]
        self.actions.append(f"p{player + 1} cbr {total}")
        by = total - max(self.bets)
        self._pay(player, total - self.bets[player])
        self.to_act = [other for other in self._players_after(player) if self.stacks[other] and other != player]
        if by >= self._largest_raise:
            self._acted.clear()
        self._acted.add(player)
        self._largest_raise = max(self._largest_raise, by)
        self._short_raises = [] if self.stacks[player] else [*self._short_raises, by]
        if sum(self._short_raises) >= self._largest_raise:
            self._short_raises = []

    def may_raise_to(self, total: int) -> bool:
        """Whether who is asked can raise to so much in this round."""
        player = self.to_act[0]
        top, bet, stack = max(self.bets), self.bets[player], self.stacks[player]
        barred = player in self._acted and 0 < sum(self._short_raises) < self._largest_raise
        answered = any(self.bets[other] + self.stacks[other] > top for other in self.players_in - {player})
        enough = total - top >= max(self._largest_raise, self.min_bet) or total == bet + stack > top
        return (
            answered and enough and not barred and total <= bet + stack and min(stack, top - bet) >= self._largest_raise
        )

    # Between the rounds

    def close_round(self) -> None:
        """End a betting round in which nobody is asked any more."""
        self.is_betting_open = False
        able = [player for player in self.players_in if self.stacks[player]]
        self.is_all_in = self.is_all_in or (not self.is_over and len(able) <= 1)
        self._collect_bets()

    def _collect_bets(self) -> None:
        """Take the bets, but give back what nobody has matched."""
        matched = sorted(self.bets)[-2]
        for player in self.players:
            unmatched = self.bets[player] - matched
            if unmatched > 0:
                self.stacks[player] += unmatched
                self.paid[player] -= unmatched
        self.bets = [0 for _ in self.players]

    def deal(self, cards: str) -> None:
        """The next cards of the board."""
        self.street += 1
        self.actions.append(f"d db {cards}")
        if not self.is_over:
            self.open_round()

    # The end

    def show(self, hands: Mapping[int, str]) -> None:
        """The showdown: hands are shown in this order, and everybody else mucks."""
        self.has_shown_down = True
        for player in sorted(self.players_in - hands.keys()):
            self.actions.append(f"p{player + 1} sm")
        self.actions += (f"p{player + 1} sm {hand}" for player, hand in hands.items())
        self.players_in &= hands.keys()

    def hide_hands(self, players: Iterable[int]) -> None:
        """These neither show nor muck their cards while all are all in and the board is not complete."""
        self.actions += (f"p{player + 1} sm {HIDDEN_HOLE}" for player in players)

    @property
    def is_over(self) -> bool:
        """Whether only one is left."""
        return len(self.players_in) == 1

    def final_stacks(self, ranks: Mapping[int, int]) -> list[int] | None:
        """The stacks at the end; `ranks` are those of the hands that were shown.

        None where somebody who is out has paid more than anybody who is in: nobody can win that.
        """
        if max(self.paid) > max(self.paid[player] for player in self.players_in):
            return None
        final = list(self.stacks)
        if self.is_over:
            final[min(self.players_in)] += sum(self.paid)
        else:
            folded = [player not in self.players_in for player in self.players]
            for award in award_pots(side_pots(self.paid, folded, self.stacks, is_over=True), ranks, 0, len(final)):
                final[award.seat] += award.chips
        return final


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
