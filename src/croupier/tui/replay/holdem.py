"""A hand of hold'em as a story, with all cards that are known."""

from collections.abc import Sequence
from typing import Final

from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import Card, names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import Bet, Entry, Out
from croupier.rooms.holdem.engine.ranks import told as made
from croupier.tui.holdem.hand_history import spelt
from croupier.tui.replay.steps import Step, Story, columns

STREETS: Final = {3: "The flop", 4: "The turn", 5: "The river"}


def story(hand: Hand, names: Sequence[str], title: str) -> Story:
    """The story of a hand; `names` are the players', by seat."""
    return Story(title, _Teller(hand.replay(()), names).tell(hand))


class _Teller:
    """Plays a hand again that has just begun."""

    def __init__(self, hand: Hand, names: Sequence[str]) -> None:
        self._hand = hand
        self._names = names

    def tell(self, whole: Hand) -> list[Step]:
        """Every step of the whole hand."""
        hand = self._hand
        steps = [self._step(self._posted())]
        log = whole.log
        for at, entry in enumerate(log):
            if entry[0] == "deal":
                hand.deal(entry[2])
                if entry[1] is None:
                    street = STREETS.get(len(hand.board), "The board")
                    steps.append(self._step(f"{street}: {_cards(entry[2])}."))
                elif not _is_hole(log[at + 1 : at + 2]):
                    steps.append(self._step("Everybody has two cards."))
                continue
            before, (told, chips) = [*hand.stacks], self._do(entry)
            before[entry[1]] -= chips
            steps.append(self._step(told))
            steps += map(self._step, self._returned(before))
        return [*steps, *map(self._step, self._won())]

    def _do(self, entry: Bet | Out) -> tuple[str, int]:
        """Do what a player has done: how it is told, and the chips that he has put in."""
        hand, name = self._hand, self._names[entry[1]]
        if entry[0] == "bet":
            told = self._bet(entry[1], entry[2])
            hand.bet(entry[2])
            return told, entry[2]
        if entry[0] == "leave":
            hand.leave(entry[1])
            return f"{name} leaves the table.", 0
        hand.fold()
        return f"{name} folds.", 0

    def _returned(self, expected: Sequence[int]) -> list[str]:
        """Who has taken chips back: he has more of them than are `expected`, without what he has won."""
        won = [0] * len(expected)
        for award in self._hand.awards:
            won[award.seat] += award.chips
        found = []
        for seat, chips in enumerate(self._hand.stacks):
            back = chips - won[seat] - expected[seat]
            if back > 0:
                found.append(f"{self._names[seat]} takes {back} back, which nobody has called.")
        return found

    def _won(self) -> list[str]:
        """Who has won what, when it is over."""
        found = []
        for award in self._hand.awards:
            what = f"side pot {award.pot}" if award.pot else "the pot"
            hand = f": {made(award.rank)}" if award.rank is not None else ""
            found.append(f"{self._names[award.seat]} wins {what}, {award.chips}{hand}.")
        return found

    def _posted(self) -> str:
        """Who has put in what before the cards."""
        hand = self._hand
        seats = len(hand.stacks)
        posted = [f"{self._names[hand.small_blind]} posts the small blind, {hand.bets[hand.small_blind]}"]
        posted.append(f"{self._names[hand.big_blind]} the big blind, {hand.bets[hand.big_blind]}")
        if hand.straddle and seats > 2:
            seat = (hand.big_blind + 1) % seats
            posted.append(f"{self._names[seat]} straddles with {hand.bets[seat]}")
        ante = f"Everybody puts in {hand.ante}; " if hand.ante else ""
        return f"{ante}{', '.join(posted)}."

    def _bet(self, seat: Seat, chips: int) -> str:
        """What somebody does who adds so many chips."""
        hand, name = self._hand, self._names[seat]
        owed = hand.to_match - hand.bets[seat]
        total = hand.bets[seat] + chips
        if not chips:
            told = "checks"
        elif chips <= owed:
            told = f"calls {chips}"
        else:
            told = f"raises to {total}" if hand.to_match else f"bets {chips}"
        return f"{name} {told}{', all-in' if chips == hand.stacks[seat] else ''}."

    # How the table looks.

    def _step(self, told: str) -> Step:
        hand = self._hand
        rows = [["", "player", "", "chips", "bet", "cards", ""]]
        rows += [self._row(seat) for seat in range(len(hand.stacks))]
        shows = columns(rows)
        if hand.board:
            shows.append(f"Board: {_cards(hand.board)}")
        if hand.turn is not Turn.OVER:
            shows.append(f"Pot: {sum(hand.paid)}")
        return Step(told, shows)

    def _row(self, seat: Seat) -> list[str]:
        hand = self._hand
        places = {"D": hand.button, "SB": hand.small_blind, "BB": hand.big_blind}
        place = " ".join(name for name, at in places.items() if at == seat)
        state = "folded" if hand.folded[seat] else "" if hand.stacks[seat] or hand.turn is Turn.OVER else "all-in"
        marker = ">" if hand.turn == seat else ""
        bet = str(hand.bets[seat] or "")
        return [marker, self._names[seat], place, str(hand.stacks[seat]), bet, _cards(hand.holes[seat]), state]


def _is_hole(entries: Sequence[Entry]) -> bool:
    """Whether an entry, if there is one, deals a hole card."""
    return any(entry[0] == "deal" and entry[1] is not None for entry in entries)


def _cards(cards: Sequence[Card]) -> str:
    return spelt(names(cards))
