"""Replay of a hold'em hand, with all known cards."""

from collections.abc import Sequence
from typing import Final

from croupier.core.rules import Seat, Turn
from croupier.replay.steps import GameReplay, ReplayStep, align_columns
from croupier.rooms.holdem.cards import Card, card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import BetEntry, ExitEntry, HandLogEntry
from croupier.rooms.holdem.engine.ranks import describe_rank
from croupier.rooms.holdem.engine.streets import STREET_NAMES

CARD_SIGNS: Final = str.maketrans({"T": "10", "S": "♠", "H": "♥", "D": "♦", "C": "♣"})
"""How the characters of a card's name are shown."""


def hand_replay(hand: Hand, names: Sequence[str], title: str) -> GameReplay:
    """Return the replay of a hand; `names` are the players' names by seat."""
    return GameReplay(title, _HandReplayer(hand.replay(()), names).steps(hand))


class _HandReplayer:
    """Replays the log of a hand on a new hand with the same start."""

    def __init__(self, hand: Hand, names: Sequence[str]) -> None:
        self._hand = hand
        self._names = names

    def steps(self, whole: Hand) -> list[ReplayStep]:
        """Return the steps of the `whole` hand."""
        hand = self._hand
        steps = [self._make_step(self._blinds_text())]
        log = whole.log
        for at, entry in enumerate(log):
            if entry[0] == "deal":
                street = hand.street
                hand.deal(entry[2])
                if entry[1] is None:
                    steps.append(self._make_step(f"The {STREET_NAMES[street]}: {_cards_text(entry[2])}."))
                elif not _is_hole(log[at + 1 : at + 2]):
                    steps.append(self._make_step("Each player is dealt two cards."))
                continue
            expected, (text, chips) = [*hand.stacks], self._apply_entry(entry)
            expected[entry[1]] -= chips
            steps.append(self._make_step(text))
            steps += map(self._make_step, self._returned_bet_texts(expected))
        return [*steps, *map(self._make_step, self._award_texts())]

    def _apply_entry(self, entry: BetEntry | ExitEntry) -> tuple[str, int]:
        """Apply a player's action. Return its text and the chips the player has put in."""
        hand, name = self._hand, self._names[entry[1]]
        if entry[0] == "bet":
            text = self._bet_text(entry[1], entry[2])
            hand.bet(entry[2])
            return text, entry[2]
        if entry[0] == "leave":
            hand.leave(entry[1])
            return f"{name} leaves the table.", 0
        hand.fold()
        return f"{name} folds.", 0

    def _returned_bet_texts(self, expected: Sequence[int]) -> list[str]:
        """Return a text for each player who got an uncalled bet back: stacks above `expected`, without winnings."""
        won = [0] * len(expected)
        for award in self._hand.awards:
            won[award.seat] += award.chips
        texts = []
        for seat, chips in enumerate(self._hand.stacks):
            returned = chips - won[seat] - expected[seat]
            if returned > 0:
                texts.append(f"{self._names[seat]} takes back an uncalled bet of {returned}.")
        return texts

    def _award_texts(self) -> list[str]:
        texts = []
        for award in self._hand.awards:
            pot = f"side pot {award.pot}" if award.pot else "the pot"
            hand = f": {describe_rank(award.rank)}" if award.rank is not None else ""
            texts.append(f"{self._names[award.seat]} wins {pot}, {award.chips}{hand}.")
        return texts

    def _blinds_text(self) -> str:
        hand = self._hand
        verbs = ("posts the small blind,", "the big blind,", "straddles with")
        posted = zip(hand.blinds, verbs, strict=False)
        blinds = ", ".join(f"{self._names[seat]} {verb} {hand.bets[seat]}" for (seat, _), verb in posted)
        ante = f"Each player posts an ante of {hand.stakes.ante}; " if hand.stakes.ante else ""
        return f"{ante}{blinds}."

    def _bet_text(self, seat: Seat, chips: int) -> str:
        """Return a text for a player who adds `chips` to the bet."""
        hand, name = self._hand, self._names[seat]
        to_call = hand.to_match - hand.bets[seat]
        total = hand.bets[seat] + chips
        if not chips:
            action = "checks"
        elif chips <= to_call:
            action = f"calls {chips}"
        else:
            action = f"raises to {total}" if hand.to_match else f"bets {chips}"
        return f"{name} {action}{', all-in' if chips == hand.stacks[seat] else ''}."

    # The table after each step.

    def _make_step(self, text: str) -> ReplayStep:
        hand = self._hand
        rows = [["", "player", "", "chips", "bet", "cards", ""]]
        rows += [self._row(seat) for seat in range(len(hand.stacks))]
        table_lines = align_columns(rows)
        if hand.board:
            table_lines.append(f"Board: {_cards_text(hand.board)}")
        if hand.turn is not Turn.OVER:
            table_lines.append(f"Pot: {sum(hand.paid)}")
        return ReplayStep(text, table_lines)

    def _row(self, seat: Seat) -> list[str]:
        hand = self._hand
        positions = {"D": hand.button, "SB": hand.small_blind, "BB": hand.big_blind}
        position = " ".join(name for name, at in positions.items() if at == seat)
        state = "folded" if hand.folded[seat] else "" if hand.stacks[seat] or hand.turn is Turn.OVER else "all-in"
        marker = ">" if hand.turn == seat else ""
        bet = str(hand.bets[seat] or "")
        return [marker, self._names[seat], position, str(hand.stacks[seat]), bet, _cards_text(hand.holes[seat]), state]


def _is_hole(entries: Sequence[HandLogEntry]) -> bool:
    """Return whether an entry, if there is one, deals hole cards."""
    return any(entry[0] == "deal" and entry[1] is not None for entry in entries)


def _cards_text(cards: Sequence[Card]) -> str:
    return " ".join(name.translate(CARD_SIGNS) for name in card_names(cards))
