"""Writes the dealer's record: promises, hands and seeds (docs/fair-deal.md)."""

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from croupier.core.record import Entry, Hand, Promise, Seed, encode
from croupier.core.talk import Commit, Effect, Event, Finished, Reveal, Settle


class Deals:
    """A tap on one room. `dealt` tells the cards of a state in the order in which they were dealt.

    `decks` is how many times the room's pack is shuffled together.
    """

    def __init__(self, room: str, file: BinaryIO, dealt: Callable[[Any], Sequence[str]], decks: int = 1) -> None:
        self._room = room
        self._file = file
        self._dealt = dealt
        self._decks = decks

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Write what the effects say about the deal, before any of them is performed."""
        for effect in effects:
            match effect:
                case Settle(peer, hand, _, net, state):
                    self._write(Hand(self._room, peer, hand, [*self._dealt(state)], net))
                case Finished(deal, nets, state):
                    self._write(Hand(self._room, deal, 1, [*self._dealt(state)], nets))
                case Commit(peer, algorithm, commitment):
                    self._write(Promise(self._room, peer, algorithm, commitment.hex(), self._decks))
                case Reveal(peer, _, server_seed, client_seed, hands):
                    self._write(Seed(self._room, peer, server_seed.hex(), client_seed.hex(), hands))
                case _:
                    pass

    def _write(self, entry: Entry) -> None:
        self._file.write(encode(entry) + b"\n")
        self._file.flush()
