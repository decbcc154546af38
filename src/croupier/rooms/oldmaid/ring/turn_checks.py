"""Referee checks of turns in Old Maid: `your_turn`, offers and picks (docs/protocols/oldmaid.md, section 7)."""

from collections.abc import Callable, Mapping

from croupier.core.referee import Party
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS, Card
from croupier.rooms.oldmaid.ring.observed import Observed, ObservedOffer, card_name
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import Discard, Offer, Pick, Reply, Request, Standing, YourTurn


class TurnChecker:
    """Checks the messages between the players of one game.

    `blame` is called with the nick, the clause, what was found and what is allowed. `turn_lost` says that the turn may
    have been lost with a player who is gone.
    """

    def __init__(
        self,
        game: TableGame,
        players: Mapping[Party, Observed],
        blame: Callable[[str, str, object, str], None],
        *,
        strict: bool = False,
    ) -> None:
        self.turn_lost = False
        self._game = game
        self._nicks = tuple(player.nick for player in players.values())
        self._blame = blame
        self._strict = strict
        players[self._nicks[0]].turn = "draw"

    def on_connection_lost(self, player: Observed, other: Observed) -> None:
        """Record that a player has lost its connection to another one."""
        if player.lose_contact(other):
            self.turn_lost = True

    def on_draw(self, player: Observed, *, is_asked: bool) -> None:
        """Check a draw. If the player `is_asked`, it may answer the `your_turn` later (oldmaid-4.8)."""
        if player.turn is None and is_asked and not (player.answers_late or player.is_deck_empty):
            player.answers_late = True
            player.turn = "draw"
        elif player.turn != "draw" and not self._is_excused(player):
            self._blame(player.nick, "oldmaid-4.3", "draw without a turn", "it after your_turn")
        player.draws_with_pairs |= player.pair is not None

    def on_discard(self, player: Observed, discard: Discard) -> None:
        """Record a discard: while cards are drawn, it may come at any time (oldmaid-5.8)."""
        player.discards_early |= self._game.drawn_count < CARD_COUNT
        claim = discard.last_card if discard.last_cards is None else discard.last_cards
        if claim in {"true", True} and not player.has_only_pairs and player.wrong_last_cards is None:
            player.wrong_last_cards = discard

    def on_request(self, player: Observed, other: Observed, request: Request) -> None:
        """Check a request of a player to another one."""
        match request:
            case YourTurn():
                if player.is_deck_empty or (player.turn != "pass" and not self._is_excused(player)):
                    clause = "oldmaid-4.9" if player.is_deck_empty else "oldmaid-4.7"
                    self._blame(player.nick, clause, "your_turn from who cannot pass it on", "it after one's card")
                self._check_neighbour(player, other, "oldmaid-4.7")
                player.turn = None
            case Offer(num_cards):
                self._check_offer(player, other, num_cards)
            case Pick(position):
                self._check_pick(player, other, position)
            case _:
                self._blame(player.nick, "oldmaid-2.2", f"{request} to a player", "your_turn, offer, pick")

    def on_answer(self, player: Observed, asker: Observed, request: Request, answer: Reply | Standing) -> None:
        """Check the answer of a player to another one's request."""
        match request, answer:
            case YourTurn(), Reply() if player.answers_late:
                player.answers_late = False
            case YourTurn(), Reply("ok"):
                if player.is_deck_empty or (player.turn is not None and not self._is_excused(player)):
                    self._blame(player.nick, "oldmaid-4.11", "ok to a turn too many", "an error")
                player.turn = "draw"
            case Offer(), Reply("ok" | "out" | "error"):
                if asker.offer is not None and asker.offer.to_nick == player.nick:  # otherwise it comes too late
                    self._check_offer_answer(player, asker, asker.offer, answer.result)
            case Pick(), Reply("ok", card=tuple(card)):
                self._check_given_card(player, asker, CARD_NUMBERS.get(card))
            case Pick(), Reply("error"):
                self._check_refused_pick(player, asker)
            case _, Reply("error"):
                pass
            case _:
                self._blame(player.nick, "oldmaid-2.3", f"{answer} as the answer to {request}", "an answer to it")

    def _is_excused(self, player: Observed) -> bool:
        """Whether a player may believe in good faith that it has the turn."""
        return self.turn_lost or player.is_excused

    def _check_offer(self, player: Observed, other: Observed, num_cards: int) -> None:
        if self._game.drawn_count < CARD_COUNT:
            self._blame(
                player.nick,
                "oldmaid-7.1",
                f"offer with {CARD_COUNT - self._game.drawn_count} cards in the deck",
                "your_turn",
            )
        elif player.turn != "offer" and not self._is_excused(player):
            self._blame(
                player.nick, "oldmaid-7.8", "offer out of turn", "it with a card from the right, or with the last one"
            )
        has_counted = player.check_count(num_cards)
        self._check_pairs(player)  # before the count: a pair that the table has not heard of is in no count
        if not has_counted:
            self._blame(player.nick, "oldmaid-7.2", f"num_cards {num_cards}", f"{len(player.hand)}")
        if not player.hand and not player.is_out:
            self._blame(player.nick, "oldmaid-7.12", "offer with no cards, and no out_of_cards", "out_of_cards before")
        self._check_neighbour(player, other, "oldmaid-7.9")
        player.offer = ObservedOffer(other.nick, num_cards)

    def _check_pairs(self, player: Observed) -> None:
        if player.pair is not None:
            self._blame(
                player.nick, "oldmaid-5.11", f"the pair of {card_name(player.pair[0])} kept", "to throw it away at once"
            )

    def _check_neighbour(self, player: Observed, other: Observed, clause: str) -> None:
        if not player.may_ask(other.nick, self._nicks):
            self._blame(player.nick, clause, f"{other.nick!r} for a left neighbour", "the next one who is in")

    def _check_pick(self, player: Observed, giver: Observed, position: int) -> None:
        offer = giver.offer
        if player.nick in giver.unreachable_nicks:
            return  # the picker cannot know yet that the offer is void
        if offer is None or offer.to_nick != player.nick or not offer.is_accepted or offer.picked_position is not None:
            self._blame(
                player.nick, "oldmaid-7.7", f"pick from {giver.nick!r}, who has offered nothing", "offer, your_turn"
            )
            return
        highest = offer.num_cards - 1 if self._strict else offer.num_cards
        if not 0 <= position <= highest:
            self._blame(player.nick, "oldmaid-7.4", f"card_num {position}", f"0 to {offer.num_cards - 1}")
        offer.picked_position = position

    def _check_offer_answer(self, player: Observed, offerer: Observed, offer: ObservedOffer, result: str) -> None:
        """Check the answer to an offer: ok, out or error (oldmaid-7.2, oldmaid-7.9)."""
        player.is_deck_empty = True
        if result == "error":
            offerer.end_turn()
            return
        if (result == "out") == bool(player.hand):
            found = f"{result} with {len(player.hand)} cards"
            self._blame(player.nick, "oldmaid-7.9", found, "ok with cards, out without")
        if result == "out":
            offerer.out_nicks.add(player.nick)
            offerer.outs_in_turn.add(player.nick)
            offerer.offer = None
        elif offer.num_cards:
            offer.is_accepted = True
        else:
            self._move_turn(player, offerer)

    def _move_turn(self, player: Observed, offerer: Observed) -> None:
        offerer.end_turn()
        player.turn = "offer"

    def _check_given_card(self, player: Observed, picker: Observed, card: Card | None) -> None:
        """Check the card that a player gives after a pick (oldmaid-7.5)."""
        offer = player.offer
        if (
            offer is None
            or offer.to_nick != picker.nick
            or offer.picked_position is None
            or card is None
            or card not in player.hand
        ):
            found = f"{player.nick!r} gives {'no card' if card is None else card_name(card)}"
            self._blame(player.nick, "oldmaid-7.5", found, "a card of his own, when he is asked for one")
        if card is not None:
            player.hand.discard(card)
            picker.hand.add(card)
            picker.last_received = card, player
        self._move_turn(picker, player)

    def _check_refused_pick(self, player: Observed, picker: Observed) -> None:
        """Check the refusal of a pick, which is right only for a wrong pick (oldmaid-7.6, oldmaid-7.7)."""
        offer = player.offer
        if offer is None or offer.to_nick != picker.nick or offer.picked_position is None:
            return
        if 0 <= offer.picked_position < offer.num_cards:
            self._blame(player.nick, "oldmaid-7.5", "an error to a pick", "the card")
            self.turn_lost = True  # the picker may take the turn without a card (oldmaid-7.15)
        offer.picked_position = None
