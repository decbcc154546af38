"""A hand of hold'em as a story, with all cards that are known."""

from collections.abc import Sequence
from typing import Final

from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import Card, card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import BetEntry, ExitEntry, HandLogEntry
from croupier.rooms.holdem.engine.ranks import describe_rank as made
from croupier.tui.holdem.hand_history import cards_text
from croupier.tui.replay.steps import GameReplay, ReplayStep, align_columns

STREET_NAMES: Final = {3: "The flop", 4: "The turn", 5: "The river"}


def hand_replay(hand: Hand, names: Sequence[str], title: str) -> GameReplay:
    """The story of a hand; `names` are the players', by seat."""
    return GameReplay(title, _HandReplayer(hand.replay(()), names).steps(hand))


class _HandReplayer:
    """Plays a hand again that has just begun."""

    def __init__(self, hand: Hand, names: Sequence[str]) -> None:
        self._hand = hand
        self._names = names

    def steps(self, whole: Hand) -> list[ReplayStep]:
        """Every step of the whole hand."""
        hand = self._hand
        steps = [self._make_step(self._blinds_text())]
        log = whole.log
        for at, entry in enumerate(log):
            if entry[0] == "deal":
                hand.deal(entry[2])
                if entry[1] is None:
                    street = STREET_NAMES.get(len(hand.board), "The board")
                    steps.append(self._make_step(f"{street}: {_cards_text(entry[2])}."))
                elif not _is_hole(log[at + 1 : at + 2]):
                    steps.append(self._make_step("Everybody has two cards."))
                continue
            before, (told, chips) = [*hand.stacks], self._apply_entry(entry)
            before[entry[1]] -= chips
            steps.append(self._make_step(told))
            steps += map(self._make_step, self._returned_bet_texts(before))
        return [*steps, *map(self._make_step, self._award_texts())]

    def _apply_entry(self, entry: BetEntry | ExitEntry) -> tuple[str, int]:
        """Do what a player has done: how it is told, and the chips that he has put in."""
        hand, name = self._hand, self._names[entry[1]]
        if entry[0] == "bet":
            told = self._bet_text(entry[1], entry[2])
            hand.bet(entry[2])
            return told, entry[2]
        if entry[0] == "leave":
            hand.leave(entry[1])
            return f"{name} leaves the table.", 0
        hand.fold()
        return f"{name} folds.", 0

    def _returned_bet_texts(self, expected: Sequence[int]) -> list[str]:
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

    def _award_texts(self) -> list[str]:
        """Who has won what, when it is over."""
        found = []
        for award in self._hand.awards:
            what = f"side pot {award.pot}" if award.pot else "the pot"
            hand = f": {made(award.rank)}" if award.rank is not None else ""
            found.append(f"{self._names[award.seat]} wins {what}, {award.chips}{hand}.")
        return found

    def _blinds_text(self) -> str:
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

    def _bet_text(self, seat: Seat, chips: int) -> str:
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

    def _make_step(self, told: str) -> ReplayStep:
        hand = self._hand
        rows = [["", "player", "", "chips", "bet", "cards", ""]]
        rows += [self._row(seat) for seat in range(len(hand.stacks))]
        shows = align_columns(rows)
        if hand.board:
            shows.append(f"Board: {_cards_text(hand.board)}")
        if hand.turn is not Turn.OVER:
            shows.append(f"Pot: {sum(hand.paid)}")
        return ReplayStep(told, shows)

    def _row(self, seat: Seat) -> list[str]:
        hand = self._hand
        places = {"D": hand.button, "SB": hand.small_blind, "BB": hand.big_blind}
        place = " ".join(name for name, at in places.items() if at == seat)
        state = "folded" if hand.folded[seat] else "" if hand.stacks[seat] or hand.turn is Turn.OVER else "all-in"
        marker = ">" if hand.turn == seat else ""
        bet = str(hand.bets[seat] or "")
        return [marker, self._names[seat], place, str(hand.stacks[seat]), bet, _cards_text(hand.holes[seat]), state]


def _is_hole(entries: Sequence[HandLogEntry]) -> bool:
    """Whether an entry, if there is one, deals a hole card."""
    return any(entry[0] == "deal" and entry[1] is not None for entry in entries)


def _cards_text(cards: Sequence[Card]) -> str:
    return cards_text(card_names(cards))
