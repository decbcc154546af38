"""Judges how the players of Old Maid pass the turn on: `your_turn`, offers and picks (docs/protocols/oldmaid.md, 7)."""

from collections.abc import Callable, Mapping

from croupier.rooms.oldmaid.cards import NUMBERS, Card
from croupier.rooms.oldmaid.ring.observed import Held, Known, told
from croupier.rooms.oldmaid.table.game import CARDS, Game
from croupier.rooms.oldmaid.wire import Offer, Pick, Reply, Request, Standing, YourTurn


class Passing:
    """What players say to each other in one game; `blame` is told who breaks which clause, what was found and allowed.

    `torn` says that the turn may have been lost with somebody.
    """

    def __init__(
        self,
        game: Game,
        players: Mapping[str, Known],
        blame: Callable[[str, str, object, str], None],
        *,
        strict: bool = False,
    ) -> None:
        self.torn = False
        self._game = game
        self._nicks = tuple(players)
        self._blame = blame
        self._strict = strict
        players[self._nicks[0]].turn = "draw"

    def lost(self, known: Known, other: Known) -> None:
        """A player cannot reach another one any more."""
        if known.miss(other):
            self.torn = True

    def drawing(self, known: Known) -> None:
        """A player asks the table for a card."""
        if known.turn != "draw" and not self._excuses(known):
            self._blame(known.nick, "oldmaid-4.3", "draw without a turn", "it behind your_turn")

    def asked(self, known: Known, other: Known, request: Request) -> None:
        """A player asks another one something."""
        match request:
            case YourTurn():
                if known.drawn or (known.turn != "pass" and not self._excuses(known)):
                    clause = "oldmaid-4.9" if known.drawn else "oldmaid-4.7"
                    self._blame(known.nick, clause, "your_turn from who cannot pass it on", "it after one's card")
                self._check_pairs(known)
                self._check_left(known, other, "oldmaid-4.7")
                known.turn = None
            case Offer(num_cards):
                self._offered(known, other, num_cards)
            case Pick(position):
                self._picked(known, other, position)
            case _:
                self._blame(known.nick, "oldmaid-8.6", f"{request} to a player", "your_turn, offer, pick")

    def answered(self, known: Known, asker: Known, request: Request, answer: Reply | Standing) -> None:
        """A player answers what another one has asked."""
        match request, answer:
            case YourTurn(), Reply("ok"):
                if known.drawn or (known.turn is not None and not self._excuses(known)):
                    self._blame(known.nick, "oldmaid-4.11", "ok to a turn too many", "an error")
                known.turn = "draw"
            case Offer(), Reply("ok" | "out" | "error"):
                if asker.offer is not None and asker.offer.to == known.nick:  # otherwise it comes too late
                    self._decided(known, asker, asker.offer, answer.result)
            case Pick(), Reply("ok", card=tuple(spelt)):
                self._gave(known, asker, NUMBERS.get(spelt))
            case Pick(), Reply("error"):
                self._kept(known, asker)
            case _, Reply("error"):
                pass
            case _:
                self._blame(known.nick, "oldmaid-2.3", f"{answer} as the answer to {request}", "an answer to it")

    def _excuses(self, known: Known) -> bool:
        """Whether somebody may take it that it is his turn when it is not."""
        return self.torn or known.excused

    def _offered(self, known: Known, other: Known, num_cards: int) -> None:
        if self._game.drawn < CARDS:
            self._blame(
                known.nick, "oldmaid-7.1", f"offer with {CARDS - self._game.drawn} cards in the deck", "your_turn"
            )
        elif known.turn != "offer" and not self._excuses(known):
            self._blame(
                known.nick, "oldmaid-7.8", "offer out of turn", "it with a card from the right, or with the last one"
            )
        if not known.count(num_cards):
            self._blame(known.nick, "oldmaid-7.2", f"num_cards {num_cards}", f"{len(known.hand)}")
        self._check_pairs(known)
        if not known.hand and not known.out:
            self._blame(known.nick, "oldmaid-7.12", "offer with no cards, and no out_of_cards", "out_of_cards before")
        self._check_left(known, other, "oldmaid-7.9")
        known.offer = Held(other.nick, num_cards)

    def _check_pairs(self, known: Known) -> None:
        if known.pair is not None:
            self._blame(
                known.nick, "oldmaid-5.11", f"the pair of {told(known.pair[0])} kept", "to throw it away at once"
            )

    def _check_left(self, known: Known, other: Known, clause: str) -> None:
        if not known.may_ask(other.nick, self._nicks):
            self._blame(known.nick, clause, f"{other.nick!r} for a left neighbour", "the next one who is in")

    def _picked(self, known: Known, giver: Known, position: int) -> None:
        offer = giver.offer
        if known.nick in giver.skipped:
            return  # he cannot know it yet
        if offer is None or offer.to != known.nick or not offer.taken or offer.picked is not None:
            self._blame(
                known.nick, "oldmaid-7.7", f"pick from {giver.nick!r}, who has offered nothing", "offer, your_turn"
            )
            return
        most = offer.num_cards - 1 if self._strict else offer.num_cards
        if not 0 <= position <= most:
            self._blame(known.nick, "oldmaid-7.4", f"card_num {position}", f"0 to {offer.num_cards - 1}")
        offer.picked = position

    def _decided(self, known: Known, offerer: Known, offer: Held, result: str) -> None:
        """A player says whether he is in, when he is offered a hand (oldmaid-7.2, oldmaid-7.9)."""
        known.drawn = True
        if result == "error":
            offerer.offer = offerer.turn = None
            return
        if (result == "out") == bool(known.hand):
            found = f"{result} with {len(known.hand)} cards"
            self._blame(known.nick, "oldmaid-7.9", found, "ok with cards, out without")
        if result == "out":
            offerer.outside.add(known.nick)
            offerer.offer = None
        elif offer.num_cards:
            offer.taken = True
        else:
            self._turn_to(known, offerer)

    def _turn_to(self, known: Known, offerer: Known) -> None:
        offerer.offer = offerer.turn = None
        known.turn = "offer"

    def _gave(self, known: Known, picker: Known, card: Card | None) -> None:
        """A player gives a card of his (oldmaid-7.5)."""
        offer = known.offer
        if offer is None or offer.to != picker.nick or offer.picked is None or card is None or card not in known.hand:
            found = f"{known.nick!r} gives {'no card' if card is None else told(card)}"
            self._blame(known.nick, "oldmaid-7.5", found, "a card of his own, when he is asked for one")
        if card is not None:
            known.hand.discard(card)
            picker.hand.add(card)
            picker.got = card, known
        self._turn_to(picker, known)

    def _kept(self, known: Known, picker: Known) -> None:
        """A player refuses a pick: he has to if it was wrong (oldmaid-7.6, oldmaid-7.7)."""
        offer = known.offer
        if offer is None or offer.to != picker.nick or offer.picked is None:
            return
        if 0 <= offer.picked < offer.num_cards:
            self._blame(known.nick, "oldmaid-7.5", "an error to a pick", "the card")
            self.torn = True  # the picker may take the turn without a card (oldmaid-7.15)
        offer.picked = None
