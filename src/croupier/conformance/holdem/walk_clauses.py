"""The clauses that random hands check."""

from collections.abc import Mapping
from typing import Final

WALK_CLAUSES: Final[Mapping[str, str]] = {
    "holdem-2.2": "Every new user gets a GUID",
    "holdem-3.5": "Players who join play from the beginning of the next hand",
    "holdem-3.10": "Players who leave are no longer at the table",
    "holdem-3.11": "The bets of players who leave stay in the pots",
    "holdem-3.13": "Players without chips leave the game",
    "holdem-4.1": "Every valid act is accepted",
    "holdem-4.4": "A malformed act changes nothing",
    "holdem-4.5": "A bet adds its amount",
    "holdem-4.6": "Every player may fold in turn",
    "holdem-4.7": "Every invalid bet folds the hand",
    "holdem-4.8": "A negative bet is invalid",
    "holdem-4.9": "A bet above the player's wealth is invalid",
    "holdem-4.10": "A bet below the amount to call is invalid",
    "holdem-4.11": "A raise below the minimum is invalid",
    "holdem-4.13": "An act out of turn is refused",
    "holdem-5.3": "Every Game has its keys and types",
    "holdem-5.4": "Every card is spelled as in the document",
    "holdem-5.5": "The board has the cards of each round",
    "holdem-5.6": "Players see their own hole cards only",
    "holdem-5.7": "Every Player has its keys and types",
    "holdem-5.8": "The table lists the players of the hand",
    "holdem-5.9": "Every player has the right state",
    "holdem-5.10": "Every turn has the total to match",
    "holdem-5.11": "Every turn has an expiry of its own",
    "holdem-5.13": "Every pot lists the players who have paid into it",
    "holdem-5.14": "Players who have folded are still listed in the pots",
    "holdem-5.15": "There is one pot, and a side pot for each all-in that needs one",
    "holdem-5.17": "No chip is made or lost",
    "holdem-5.19": "No pot of a running hand is empty",
    "holdem-5.20": "Players who have joined during a hand are not in the table yet",
    "holdem-6.1": "No card is dealt twice",
    "holdem-6.2": "The button moves to the next player",
    "holdem-6.3": "Both blinds are posted in every hand",
    "holdem-6.4": "With two players, the button acts first before the flop and last after it",
    "holdem-6.5": "The board grows, and its cards do not change",
    "holdem-6.6": "The first player to act is the right one",
    "holdem-6.7": "A round is over when all players have acted and bet the same",
    "holdem-6.8": "The minimum raise is the last full raise",
    "holdem-6.11": "A bet that no player can call is returned",
    "holdem-6.12": "Side pots have the right sizes",
    "holdem-6.13": "The last player in the hand wins everything",
    "holdem-6.14": "The best hand wins",
    "holdem-6.15": "Equal hands share a pot",
}
"""The clauses that walks check, with the title of the case for each."""

FORM_CLAUSES: Final = frozenset(
    {"holdem-2.2", "holdem-3.10", "holdem-5.3", "holdem-5.4", "holdem-5.5", "holdem-5.7", "holdem-5.11", "holdem-4.4"}
)
"""Clauses about form, which every response is checked against."""
