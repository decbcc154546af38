"""A second hand engine with the conventions of PokerKit, the reference reader of the PHH format.

It differs from our engine in three ways. A player stays in the hand until they fold or muck in turn: leaving does not
exist. A player is also asked when no opponent can answer any more. After a short blind only the chips actually posted
must be matched.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from croupier.rooms.holdem.engine.pots import award_pots, side_pots
from croupier.rooms.holdem.histories.notation import HIDDEN_HOLE

RIVER: Final = 3


class PokerKitState:
    """The state of one hand and the actions recorded so far. Players are numbered from the left of the button.

    `posts` are the blinds by player, limited by the stacks; a negative post is paid like any other, but does not
    determine who acts first. `actions` is the hand in PHH notation.
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
        """The players still to act in this betting round, the next one first."""
        self.street = 0
        self.is_betting_open = True
        """Whether the betting round is open."""
        self.is_all_in = False
        """Whether no more betting is possible."""
        self.has_shown_down = False
        """Whether there has been a showdown."""
        self.actions: list[str] = []
        self._largest_raise = 0  # of this betting round
        self._acted: set[int] = set()  # players who have acted since the last full raise
        self._short_raises: list[int] = []  # the latest raises, as long as they were all-in and short
        for player in self.players:
            self._pay(player, antes[player])
        self._collect_bets()
        for player in self.players:
            self._pay(player, abs(posts[player]))

    def _pay(self, player: int, chips: int) -> None:
        """Put chips in, at most the player's stack."""
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
        """Return the players in the hand, clockwise from the left of a player."""
        count = len(self.players)
        clockwise = [(player + 1 + at) % count for at in range(count)]
        return [other for other in clockwise if other in self.players_in]

    def _can_lose_more(self, player: int) -> bool:
        """Return whether an opponent has enough chips for this player to lose more than their current bet."""
        totals = sorted(self.bets[other] + self.stacks[other] for other in self.players_in)
        second: int = totals[-2]
        return second > self.bets[player]

    def fold(self, comment: str = "") -> None:
        """Fold for the player to act."""
        player = self.to_act.pop(0)
        self.actions.append(f"p{player + 1} f{comment}")
        self.players_in.discard(player)
        if self.is_over:
            self.to_act = []
            self.close_round()

    def call(self) -> None:
        """Check or call for the player to act."""
        player = self.to_act.pop(0)
        self.actions.append(f"p{player + 1} cc")
        self._pay(player, max(self.bets) - self.bets[player])
        self._acted.add(player)

    def raise_to(self, total: int) -> None:
        """Bet or raise for the player to act, to a total number of chips in this betting round."""
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
        """Return whether the player to act can raise to a total number of chips in this betting round."""
        player = self.to_act[0]
        top, bet, stack = max(self.bets), self.bets[player], self.stacks[player]
        not_reopened = player in self._acted and 0 < sum(self._short_raises) < self._largest_raise
        can_be_answered = any(self.bets[other] + self.stacks[other] > top for other in self.players_in - {player})
        is_large_enough = total - top >= max(self._largest_raise, self.min_bet) or total == bet + stack > top
        return (
            can_be_answered
            and is_large_enough
            and not not_reopened
            and total <= bet + stack
            and min(stack, top - bet) >= self._largest_raise
        )

    # Between the rounds

    def close_round(self) -> None:
        """End a betting round in which no player is left to act."""
        self.is_betting_open = False
        can_act = [player for player in self.players_in if self.stacks[player]]
        self.is_all_in = self.is_all_in or (not self.is_over and len(can_act) <= 1)
        self._collect_bets()

    def _collect_bets(self) -> None:
        """Collect the bets into the pot and return the unmatched part of the largest."""
        matched = sorted(self.bets)[-2]
        for player in self.players:
            unmatched = self.bets[player] - matched
            if unmatched > 0:
                self.stacks[player] += unmatched
                self.paid[player] -= unmatched
        self.bets = [0 for _ in self.players]

    def deal(self, cards: str) -> None:
        """Deal the next cards of the board."""
        self.street += 1
        self.actions.append(f"d db {cards}")
        if not self.is_over:
            self.open_round()

    # The end

    def show(self, hands: Mapping[int, str]) -> None:
        """Hold the showdown: the other players muck, then these hands are shown in order."""
        self.has_shown_down = True
        for player in sorted(self.players_in - hands.keys()):
            self.actions.append(f"p{player + 1} sm")
        self.actions += (f"p{player + 1} sm {hand}" for player, hand in hands.items())
        self.players_in &= hands.keys()

    def hide_hands(self, players: Iterable[int]) -> None:
        """Record that these players keep their cards hidden while all are all in and the board is incomplete."""
        self.actions += (f"p{player + 1} sm {HIDDEN_HOLE}" for player in players)

    @property
    def is_over(self) -> bool:
        """Whether only one player is left."""
        return len(self.players_in) == 1

    def final_stacks(self, ranks: Mapping[int, int]) -> list[int] | None:
        """Return the stacks after the awards, given the ranks of the hands that were shown.

        None if a player who is out has paid more than every player who is in: nobody can win that part.
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
