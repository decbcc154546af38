"""The base class of private tables at which the client plays against the bank."""

from croupier.core.bank import CHANCE, BankNode, BankRules, BankState
from croupier.core.dealer import Dealer, Deck
from croupier.core.private_table import PrivateTable, Purse
from croupier.core.rules import Seat
from croupier.core.session import Peer, Timeouts


class BankTable[M](PrivateTable[M, BankState]):
    """A private table with a shoe. See `PrivateTable`.

    The cards come from the house's own deck, so it follows the nodes of the rules without checking moves.
    """

    __slots__ = ("_deck", "_rules", "_shoe")

    def __init__(self, peer: Peer, dealer: Dealer, timeouts: Timeouts, rules: BankRules, purse: Purse) -> None:
        super().__init__(peer, dealer, timeouts, purse)
        self._rules = rules
        self._shoe = rules.shoe
        self._deck: Deck

    def _start_game(self, bet: int) -> None:
        """Stake the bet and shuffle a new deck."""
        self._stake_coins(bet)
        self._deck = self._dealer.next_deck(len(self._shoe))

    def _draw_cards(
        self, node: BankNode, bet: int, cards: tuple[str, ...] = (), receivers: tuple[Seat, ...] = ()
    ) -> BankState:
        """Draw while it is chance's turn, from this node on; the cards before it are given with their receivers."""
        deck, shoe = self._deck, self._shoe
        while node.turn is CHANCE:
            card = shoe[next(deck)]
            cards += (card,)
            receivers += node.card_receivers
            node = node.successors[card]
        return BankState(node, cards, receivers, bet)
