"""Observer that writes the deals of a room to the dealer's record: promises, hands and seeds (docs/fair-deal.md)."""

from collections.abc import Callable, Sequence
from typing import Any

from croupier.core.deal_record import DealPromise, DealSeed, DealtHand
from croupier.core.session import Commit, Effect, Event, HandFinished, Reveal, Settle
from croupier.observers.deal_file import DealFile


class DealRecorder:
    """Writes the deals of one room to the dealer's record.

    `dealt_cards` returns the cards of a final state in the order in which they were dealt, and `moves` the moves of a
    game against the house. `decks` is the number of packs that are shuffled together. As an observer, it tries to write
    all entries and then raises the first error.
    """

    name = "--deals"

    def __init__(
        self,
        room: str,
        deal_file: DealFile,
        dealt_cards: Callable[[Any], Sequence[str]],
        decks: int = 1,
        moves: Callable[[Any], Sequence[str]] | None = None,
    ) -> None:
        self._room = room
        self._deal_file = deal_file
        self._dealt_cards = dealt_cards
        self._decks = decks
        self._moves = moves
        self._promise_errors: dict[int, Exception | None] = {}

    def write_promises(self, effects: Sequence[Effect[Any]]) -> bool:
        """Write the promises among effects that are not performed yet; return whether there are any.

        They are not written again when the observer is called with the effects; their errors are raised then.
        """
        commits = [effect for effect in effects if type(effect) is Commit]
        for commit in commits:
            self._promise_errors[commit.peer] = self._try_write(self._promise_entry(commit))
        return bool(commits)

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Write the entries of the effects, before any of them is performed."""
        first_error: Exception | None = None
        for effect in effects:
            if type(effect) is Commit and effect.peer in self._promise_errors:
                error = self._promise_errors.pop(effect.peer)
            elif (entry := self._entry(effect)) is not None:
                error = self._try_write(entry)
            else:
                continue
            first_error = first_error or error
        if first_error is not None:
            raise first_error

    def _try_write(self, entry: DealPromise | DealtHand | DealSeed) -> Exception | None:
        try:
            self._deal_file.add(entry)
        except Exception as error:  # whatever the error, a hand that waits for its promise must go on
            return error
        return None

    def _promise_entry(self, commit: Commit) -> DealPromise:
        return DealPromise(self._room, commit.peer, commit.algorithm, commit.commitment.hex(), self._decks)

    def _entry(self, effect: Effect[Any]) -> DealPromise | DealtHand | DealSeed | None:
        match effect:
            case Settle(peer, hand, seat, net, state):
                cards = [*self._dealt_cards(state)]
                if self._moves is None:
                    return DealtHand(self._room, peer, hand, cards, net)
                return DealtHand(self._room, peer, hand, cards, net, seat, tuple(self._moves(state)))
            case HandFinished(deal, nets, state):
                return DealtHand(self._room, deal, 1, [*self._dealt_cards(state)], nets)
            case Commit():
                return self._promise_entry(effect)
            case Reveal(peer, _, server_seed, client_seed, hands):
                return DealSeed(self._room, peer, server_seed.hex(), client_seed.hex(), hands)
            case _:
                return None
