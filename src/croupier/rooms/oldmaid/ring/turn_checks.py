"""Judges how the players of Old Maid pass the turn on: `your_turn`, offers and picks (docs/protocols/oldmaid.md, 7)."""

from collections.abc import Callable, Mapping

from croupier.rooms.oldmaid.cards import CARD_NUMBERS, Card
from croupier.rooms.oldmaid.ring.observed import Observed, ObservedOffer, card_name
from croupier.rooms.oldmaid.table.game import CARD_COUNT, TableGame
from croupier.rooms.oldmaid.wire import Offer, Pick, Reply, Request, Standing, YourTurn


class TurnChecker:
    """What players say to each other in one game; `blame` is told who breaks which clause, what was found and allowed.

    `torn` says that the turn may have been lost with somebody.
    """

    def __init__(
        self,
        game: TableGame,
        players: Mapping[str, Observed],
        blame: Callable[[str, str, object, str], None],
        *,
        strict: bool = False,
    ) -> None:
        self.turn_lost = False
        self._game = game
        self._nicks = tuple(players)
        self._blame = blame
        self._strict = strict
        players[self._nicks[0]].turn = "draw"

    def on_connection_lost(self, player: Observed, other: Observed) -> None:
        """A player cannot reach another one any more."""
        if player.lose_contact(other):
            self.turn_lost = True

    def on_draw(self, player: Observed) -> None:
        """A player asks the table for a card."""
        if player.turn != "draw" and not self._is_excused(player):
            self._blame(player.nick, "oldmaid-4.3", "draw without a turn", "it behind your_turn")

    def on_request(self, player: Observed, other: Observed, request: Request) -> None:
        """A player asks another one something."""
        match request:
            case YourTurn():
                if player.is_deck_empty or (player.turn != "pass" and not self._is_excused(player)):
                    clause = "oldmaid-4.9" if player.is_deck_empty else "oldmaid-4.7"
                    self._blame(player.nick, clause, "your_turn from who cannot pass it on", "it after one's card")
                self._check_pairs(player)
                self._check_neighbour(player, other, "oldmaid-4.7")
                player.turn = None
            case Offer(num_cards):
                self._check_offer(player, other, num_cards)
            case Pick(position):
                self._check_pick(player, other, position)
            case _:
                self._blame(player.nick, "oldmaid-8.6", f"{request} to a player", "your_turn, offer, pick")

    def on_answer(self, player: Observed, asker: Observed, request: Request, answer: Reply | Standing) -> None:
        """A player answers what another one has asked."""
        match request, answer:
            case YourTurn(), Reply("ok"):
                if player.is_deck_empty or (player.turn is not None and not self._is_excused(player)):
                    self._blame(player.nick, "oldmaid-4.11", "ok to a turn too many", "an error")
                player.turn = "draw"
            case Offer(), Reply("ok" | "out" | "error"):
                if asker.offer is not None and asker.offer.to_nick == player.nick:  # otherwise it comes too late
                    self._check_offer_answer(player, asker, asker.offer, answer.result)
            case Pick(), Reply("ok", card=tuple(spelt)):
                self._check_given_card(player, asker, CARD_NUMBERS.get(spelt))
            case Pick(), Reply("error"):
                self._check_refused_pick(player, asker)
            case _, Reply("error"):
                pass
            case _:
                self._blame(player.nick, "oldmaid-2.3", f"{answer} as the answer to {request}", "an answer to it")

    def _is_excused(self, known: Observed) -> bool:
        """Whether somebody may take it that it is his turn when it is not."""
        return self.turn_lost or known.is_excused

    def _check_offer(self, known: Observed, other: Observed, num_cards: int) -> None:
        if self._game.drawn_count < CARD_COUNT:
            self._blame(
                known.nick,
                "oldmaid-7.1",
                f"offer with {CARD_COUNT - self._game.drawn_count} cards in the deck",
                "your_turn",
            )
        elif known.turn != "offer" and not self._is_excused(known):
            self._blame(
                known.nick, "oldmaid-7.8", "offer out of turn", "it with a card from the right, or with the last one"
            )
        if not known.check_count(num_cards):
            self._blame(known.nick, "oldmaid-7.2", f"num_cards {num_cards}", f"{len(known.hand)}")
        self._check_pairs(known)
        if not known.hand and not known.is_out:
            self._blame(known.nick, "oldmaid-7.12", "offer with no cards, and no out_of_cards", "out_of_cards before")
        self._check_neighbour(known, other, "oldmaid-7.9")
        known.offer = ObservedOffer(other.nick, num_cards)

    def _check_pairs(self, known: Observed) -> None:
        if known.pair is not None:
            self._blame(
                known.nick, "oldmaid-5.11", f"the pair of {card_name(known.pair[0])} kept", "to throw it away at once"
            )

    def _check_neighbour(self, known: Observed, other: Observed, clause: str) -> None:
        if not known.may_ask(other.nick, self._nicks):
            self._blame(known.nick, clause, f"{other.nick!r} for a left neighbour", "the next one who is in")

    def _check_pick(self, known: Observed, giver: Observed, position: int) -> None:
        offer = giver.offer
        if known.nick in giver.unreachable_nicks:
            return  # he cannot know it yet
        if offer is None or offer.to_nick != known.nick or not offer.is_accepted or offer.picked_position is not None:
            self._blame(
                known.nick, "oldmaid-7.7", f"pick from {giver.nick!r}, who has offered nothing", "offer, your_turn"
            )
            return
        most = offer.num_cards - 1 if self._strict else offer.num_cards
        if not 0 <= position <= most:
            self._blame(known.nick, "oldmaid-7.4", f"card_num {position}", f"0 to {offer.num_cards - 1}")
        offer.picked_position = position

    def _check_offer_answer(self, known: Observed, offerer: Observed, offer: ObservedOffer, result: str) -> None:
        """A player says whether he is in, when he is offered a hand (oldmaid-7.2, oldmaid-7.9)."""
        known.is_deck_empty = True
        if result == "error":
            offerer.offer = offerer.turn = None
            return
        if (result == "out") == bool(known.hand):
            found = f"{result} with {len(known.hand)} cards"
            self._blame(known.nick, "oldmaid-7.9", found, "ok with cards, out without")
        if result == "out":
            offerer.out_nicks.add(known.nick)
            offerer.offer = None
        elif offer.num_cards:
            offer.is_accepted = True
        else:
            self._move_turn(known, offerer)

    def _move_turn(self, known: Observed, offerer: Observed) -> None:
        offerer.offer = offerer.turn = None
        known.turn = "offer"

    def _check_given_card(self, known: Observed, picker: Observed, card: Card | None) -> None:
        """A player gives a card of his (oldmaid-7.5)."""
        offer = known.offer
        if (
            offer is None
            or offer.to_nick != picker.nick
            or offer.picked_position is None
            or card is None
            or card not in known.hand
        ):
            found = f"{known.nick!r} gives {'no card' if card is None else card_name(card)}"
            self._blame(known.nick, "oldmaid-7.5", found, "a card of his own, when he is asked for one")
        if card is not None:
            known.hand.discard(card)
            picker.hand.add(card)
            picker.last_received = card, known
        self._move_turn(picker, known)

    def _check_refused_pick(self, known: Observed, picker: Observed) -> None:
        """A player refuses a pick: he has to if it was wrong (oldmaid-7.6, oldmaid-7.7)."""
        offer = known.offer
        if offer is None or offer.to_nick != picker.nick or offer.picked_position is None:
            return
        if 0 <= offer.picked_position < offer.num_cards:
            self._blame(known.nick, "oldmaid-7.5", "an error to a pick", "the card")
            self.turn_lost = True  # the picker may take the turn without a card (oldmaid-7.15)
        offer.picked_position = None
