"""Replay of a hold'em hand, with all known cards."""

from collections.abc import Container, Sequence
from typing import Final

from croupier.core.card_names import FRENCH_CARDS
from croupier.core.presentation import (
    BACK,
    CardView,
    PotView,
    SeatStatus,
    SeatView,
    TableView,
    Text,
    listed,
    text,
    verbatim,
)
from croupier.core.rules import Seat
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.rooms.holdem.cards import Card, card_names
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import BetEntry, ExitEntry, HandLogEntry
from croupier.rooms.holdem.engine.streets import STREET_NAMES
from croupier.rooms.holdem.hand_names import hand_name

STREET_TEXTS: Final = {
    "flop": text("The flop: {cards}."),
    "turn": text("The turn: {cards}."),
    "river": text("The river: {cards}."),
}
BLIND_TEXTS: Final = (
    text("{name} posts the small blind, {chips}"),
    text("{name} the big blind, {chips}"),
    text("{name} straddles with {chips}"),
)
CARD_SIGNS: Final = str.maketrans({"T": "10", "S": "♠", "H": "♥", "D": "♦", "C": "♣"})
"""How the characters of a card's name are shown."""


def hand_replay(hand: Hand, names: Sequence[str], title: str, open_seats: Container[Seat] | None = None) -> GameReplay:
    """Return the replay of a hand; `names` are the players' names by seat.

    `open_seats` are the seats whose hole cards are shown, None for all.
    """
    seats = range(len(names)) if open_seats is None else open_seats
    return GameReplay(title, _HandReplayer(hand.replay(()), names, seats).steps(hand), names)


class _HandReplayer:
    """Replays the log of a hand on a new hand with the same start."""

    def __init__(self, hand: Hand, names: Sequence[str], open_seats: Container[Seat]) -> None:
        self._hand = hand
        self._names = names
        self._open_seats = open_seats

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
                    steps.append(self._make_step(STREET_TEXTS[STREET_NAMES[street]].fill(cards=_cards_text(entry[2]))))
                elif not _is_hole(log[at + 1 : at + 2]):
                    steps.append(self._make_step(text("Each player is dealt two cards.")))
                continue
            expected, (note, chips) = [*hand.stacks], self._apply_entry(entry)
            expected[entry[1]] -= chips
            steps.append(self._make_step(note, self._names[entry[1]]))
            steps += map(self._make_step, self._returned_bet_texts(expected))
        return [*steps, *map(self._make_step, self._award_texts())]

    def _apply_entry(self, entry: BetEntry | ExitEntry) -> tuple[Text, int]:
        """Apply a player's action. Return what it is and the chips the player has put in."""
        hand, name = self._hand, verbatim(self._names[entry[1]])
        if entry[0] == "bet":
            note = self._bet_text(entry[1], entry[2])
            hand.bet(entry[2])
            return note, entry[2]
        if entry[0] == "leave":
            hand.leave(entry[1])
            return text("{name} leaves the table.", name=name), 0
        hand.fold()
        return text("{name} folds.", name=name), 0

    def _returned_bet_texts(self, expected: Sequence[int]) -> list[Text]:
        """Return a text for each player who got an uncalled bet back: stacks above `expected`, without winnings."""
        won = [0] * len(expected)
        for award in self._hand.awards:
            won[award.seat] += award.chips
        texts = []
        for seat, chips in enumerate(self._hand.stacks):
            returned = chips - won[seat] - expected[seat]
            if returned > 0:
                name = verbatim(self._names[seat])
                texts.append(text("{name} takes back an uncalled bet of {chips}.", name=name, chips=returned))
        return texts

    def _award_texts(self) -> list[Text]:
        texts = []
        for award in self._hand.awards:
            pot = text("side pot {number}", number=award.pot) if award.pot else text("the pot")
            hand = hand_name(card_names([*self._hand.holes[award.seat], *self._hand.board]))
            if award.rank is None or hand is None:
                won = text("{name} wins {pot}, {chips}.")
            else:
                won = text("{name} wins {pot}, {chips}: {hand}.", hand=hand)
            texts.append(won.fill(name=verbatim(self._names[award.seat]), pot=pot, chips=award.chips))
        return texts

    def _blinds_text(self) -> Text:
        hand = self._hand
        posted = listed(
            verb.fill(name=verbatim(self._names[seat]), chips=hand.bets[seat])
            for (seat, _), verb in zip(hand.blinds, BLIND_TEXTS, strict=False)
        )
        if not hand.stakes.ante:
            return text("{blinds}.", blinds=posted)
        return text("Each player posts an ante of {chips}; {blinds}.", chips=hand.stakes.ante, blinds=posted)

    def _bet_text(self, seat: Seat, chips: int) -> Text:
        """Return a text for a player who adds `chips` to the bet."""
        hand = self._hand
        to_call = hand.to_match - hand.bets[seat]
        total = hand.bets[seat] + chips
        if not chips:
            action = text("{name} checks")
        elif chips <= to_call:
            action = text("{name} calls {chips}", chips=chips)
        elif hand.to_match:
            action = text("{name} raises to {chips}", chips=total)
        else:
            action = text("{name} bets {chips}", chips=chips)
        sentence = text("{action}, all-in.") if chips == hand.stacks[seat] else text("{action}.")
        return sentence.fill(action=action.fill(name=verbatim(self._names[seat])))

    # The table after each step.

    def _make_step(self, note: Text, actor: str = "") -> ReplayStep:
        hand = self._hand
        table = TableView(
            title=text("Hold'em"),
            seats=tuple(map(self._seat_view, range(len(hand.stacks)))),
            board=_card_views(hand.board),
            pots=() if hand.over else (PotView(sum(hand.paid)),),
            announcements=(note,),
        )
        return ReplayStep(note, table, actor)

    def _seat_view(self, seat: Seat) -> SeatView:
        hand = self._hand
        hole = hand.holes[seat]
        backs = () if hand.folded[seat] else (BACK,) * len(hole)
        return SeatView(
            name=verbatim(self._names[seat]),
            cards=_card_views(hole) if seat in self._open_seats else backs,
            chips=hand.stacks[seat],
            bet=hand.bets[seat],
            status=self._status(seat),
            is_dealer=seat == hand.button,
        )

    def _status(self, seat: Seat) -> SeatStatus:
        hand = self._hand
        if hand.folded[seat]:
            return "folded"
        if hand.turn == seat:
            return "to act"
        return "" if hand.stacks[seat] or hand.over else "all in"


def _is_hole(entries: Sequence[HandLogEntry]) -> bool:
    """Return whether an entry, if there is one, deals hole cards."""
    return any(entry[0] == "deal" and entry[1] is not None for entry in entries)


def _cards_text(cards: Sequence[Card]) -> str:
    return " ".join(name.translate(CARD_SIGNS) for name in card_names(cards))


def _card_views(cards: Sequence[Card]) -> tuple[CardView, ...]:
    return tuple(FRENCH_CARDS[name] for name in card_names(cards))
