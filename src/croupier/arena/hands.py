"""The hands of a tournament: its chunks are played again, which gives the same ones, and become the rows of a dataset.

Nothing but results is kept while bots play. Hands that are played again count only if they have the recorded results.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from croupier.arena.game import Chunk, ReplayedHand, find_game
from croupier.arena.plan import Pairing, source_digest
from croupier.arena.play import make_chunk
from croupier.arena.players import Forfeit
from croupier.arena.record import RecordFollower
from croupier.arena.series import Series
from croupier.arena.tally import Moments, moments_of
from croupier.clients.contestants import parse_contestant
from croupier.recording.dataset_rows import holdem_row
from croupier.recording.dataset_writers import DatasetFormat, Row
from croupier.recording.datasets import Source
from croupier.rooms import HOUSE_ROOMS, ROOMS, find_room


class RecordedTournament:
    """The tournament in a folder. Raises OSError, and ValueError if its hands cannot be played again."""

    def __init__(self, folder: Path) -> None:
        record = RecordFollower(folder)
        self.plan = record.plan
        contestants = [parse_contestant(find_room(self.plan.room), bot) for bot in self.plan.bots]
        for contestant, digest in zip(contestants, self.plan.sources, strict=True):
            if contestant.is_program:
                raise ValueError(f"found the program {contestant.text!r}, whose hands cannot be played again")
            if source_digest(contestant) != digest:
                raise ValueError(f"found another version of {contestant.text!r} than that which has played")
        self._series: dict[Pairing, Series] = {}
        for each in record.read():
            self._series.setdefault(each.pairing, Series(self.plan, each.pairing)).add(each.chunk, each.tally)

    @property
    def source(self) -> Source:
        """Where the hands come from, for the data sheet of a dataset."""
        plan = self.plan
        deals = " with the same deals in both seats" if plan.duplicate else ""
        return Source(
            room=plan.room,
            title=f"Hands of a tournament: {ROOMS[plan.room].title}",
            chosen=f"all hands that count in the tournament {plan.digest}",
            order="in the order of the pairings and of the hands in them",
            made=f"Played by bots in croupier arena{deals}, and again for this dataset, with the same results.",
            seed=f"All cards and the randomness of the bots follow from the seed {plan.seed}.",
            people="Names are those of programs; a path may contain the name of a person.",
            is_tournament=True,
        )

    def rows(self, dataset_format: DatasetFormat) -> Iterator[Row]:
        """The rows of all hands that count. Raises ValueError if a chunk has other results than before."""
        for pairing, series in sorted(self._series.items()):
            for number, tally in enumerate(series.tallies):
                if tally.forfeit is None:
                    yield from self._chunk_rows(make_chunk(self.plan, pairing, number), tally.plain, dataset_format)

    def _chunk_rows(self, chunk: Chunk, expected: Moments, dataset_format: DatasetFormat) -> Iterator[Row]:
        seatings = _play_again(chunk, expected)
        if seatings is None:
            first, second = chunk.names(0)
            raise ValueError(
                f"chunk {chunk.number} of {first} v {second} has other results when it is played again: a bot draws "
                "randomness from elsewhere than `luck`"
            )
        for seating, hands in enumerate(seatings):
            for number, hand in enumerate(hands, chunk.first_hand(seating)):
                yield self._row(chunk.pairing, number, hand, dataset_format)

    def _row(self, pairing: Pairing, number: int, hand: ReplayedHand, dataset_format: DatasetFormat) -> Row:
        game = {"table": f"{pairing[0]}-{pairing[1]}", "number": number, "players": [*hand.players]}
        room = HOUSE_ROOMS.get(self.plan.room)
        if room is None:
            return holdem_row(hand.state, game, dataset_format)
        cards, done = [*room.dealt_cards(hand.state)], [*room.commands(hand.state)]
        return {**game, "net": [*hand.net], "cards": cards, "done": done}


def _play_again(chunk: Chunk, expected: Moments) -> Sequence[Sequence[ReplayedHand]] | None:
    """The hands of both seatings; None if they have other results than before."""
    game = find_game(chunk.plan.room)
    try:
        seatings = [game.replay(chunk, seating) for seating in (0, 1)]
    except Forfeit:
        return None
    pairs = zip(*seatings, strict=True)
    return seatings if moments_of((one.value + other.value, 1) for one, other in pairs) == expected else None
