"""Enters what is dealt in a room into the dealer's record: promises, hands and seeds (docs/fair-deal.md)."""

from collections.abc import Callable, Sequence
from typing import Any

from croupier.core.deal_record import Hand, Promise, Seed
from croupier.core.session import Commit, Effect, Event, Finished, Reveal, Settle
from croupier.observers.deal_file import Record


class Deals:
    """A tap on one room. `dealt` tells the cards of a state in the order in which they were dealt.

    `decks` is how many times the room's pack is shuffled together. `done` gives the moves of a game against a house. As
    a tap it raises the first error that kept an entry out of the record, when it has tried all entries.
    """

    name = "--deals"

    def __init__(
        self,
        room: str,
        record: Record,
        dealt: Callable[[Any], Sequence[str]],
        decks: int = 1,
        done: Callable[[Any], Sequence[str]] | None = None,
    ) -> None:
        self._room = room
        self._record = record
        self._dealt = dealt
        self._decks = decks
        self._done = done
        self._promised: dict[int, Exception | None] = {}

    def promise(self, effects: Sequence[Effect[Any]]) -> bool:
        """Write the promises among effects that are held back for now: whether there are any.

        When the effects are heard they are not written again; what went wrong is raised then.
        """
        commits = [effect for effect in effects if type(effect) is Commit]
        for commit in commits:
            self._promised[commit.peer] = self._tried(self._promise(commit))
        return bool(commits)

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Write what the effects say about the deal, before any of them is performed."""
        failed: Exception | None = None
        for effect in effects:
            if type(effect) is Commit and effect.peer in self._promised:
                error = self._promised.pop(effect.peer)
            elif (entry := self._entry(effect)) is not None:
                error = self._tried(entry)
            else:
                continue
            failed = failed or error
        if failed is not None:
            raise failed

    def _tried(self, entry: Promise | Hand | Seed) -> Exception | None:
        try:
            self._record.add(entry)
        except Exception as error:  # whatever it is, a hand that is held back goes on
            return error
        return None

    def _promise(self, commit: Commit) -> Promise:
        return Promise(self._room, commit.peer, commit.algorithm, commit.commitment.hex(), self._decks)

    def _entry(self, effect: Effect[Any]) -> Promise | Hand | Seed | None:
        match effect:
            case Settle(peer, hand, seat, net, state):
                cards = [*self._dealt(state)]
                if self._done is None:
                    return Hand(self._room, peer, hand, cards, net)
                return Hand(self._room, peer, hand, cards, net, seat, tuple(self._done(state)))
            case Finished(deal, nets, state):
                return Hand(self._room, deal, 1, [*self._dealt(state)], nets)
            case Commit():
                return self._promise(effect)
            case Reveal(peer, _, server_seed, client_seed, hands):
                return Seed(self._room, peer, server_seed.hex(), client_seed.hex(), hands)
            case _:
                return None
