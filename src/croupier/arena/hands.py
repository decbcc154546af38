"""The hands of a tournament: its chunks are played again, which gives the same ones, and become the rows of a dataset.

Nothing but results is kept while bots play. Hands that are played again count only if they have the recorded results.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from croupier.arena.game import Chunk, find_game
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


class PlayedHand(NamedTuple):
    """A hand that is over: the state of the game, the bots by seat, and what each has won, in coins or chips.

    `value` is what the hand adds to the value of its pair of hands, which is a result of the first bot.
    """

    state: Any
    players: tuple[str, ...]
    net: tuple[int, ...]
    value: float


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
            first, second = (self.plan.bots[bot] for bot in chunk.pairing)
            raise ValueError(
                f"chunk {chunk.number} of {first} v {second} has other results when it is played again: a bot draws "
                "randomness from elsewhere than `luck`"
            )
        for seating, hands in enumerate(seatings):
            for number, hand in enumerate(hands, chunk.first_hand(seating)):
                yield self._row(chunk.pairing, number, hand, dataset_format)

    def _row(self, pairing: Pairing, number: int, hand: PlayedHand, dataset_format: DatasetFormat) -> Row:
        game = {"table": f"{pairing[0]}-{pairing[1]}", "number": number, "players": [*hand.players]}
        room = HOUSE_ROOMS.get(self.plan.room)
        if room is None:
            return holdem_row(hand.state, game, dataset_format)
        cards, done = [*room.dealt_cards(hand.state)], [*room.commands(hand.state)]
        return {**game, "net": [*hand.net], "cards": cards, "done": done}


def _play_again(chunk: Chunk, expected: Moments) -> Sequence[Sequence[PlayedHand]] | None:
    """The hands of both seatings; None if they have other results than before."""
    play = REPLAYS[chunk.plan.room]
    try:
        seatings = [play(chunk, seating) for seating in (0, 1)]
    except Forfeit:
        return None
    pairs = zip(*seatings, strict=True)
    return seatings if moments_of((one.value + other.value, 1) for one, other in pairs) == expected else None


def _names(chunk: Chunk, seating: int) -> tuple[str, ...]:
    """The bots by seat in a seating."""
    first, second = (chunk.plan.bots[bot] for bot in chunk.pairing)
    return (first, second) if seating == 0 else (second, first)


def _play_kuhn(chunk: Chunk, seating: int) -> Sequence[PlayedHand]:
    from croupier.arena.kuhn import play_seating

    names = _names(chunk, seating)
    ends = play_seating(chunk, seating).ends
    return [PlayedHand(end, names, end.payoff, end.payoff[seating] / 2) for end in ends]


def _play_bank(chunk: Chunk, seating: int) -> Sequence[PlayedHand]:
    from croupier.arena.bank import BankGame
    from croupier.core.bank import SIMULATED_BET

    game: object = find_game(chunk.plan.room)
    assert isinstance(game, BankGame)
    player = chunk.player(seating, seating, game.default_moves)
    name = _names(chunk, seating)[:1]
    bet = SIMULATED_BET if seating == 0 else -SIMULATED_BET  # results are compared
    hands: list[PlayedHand] = []
    player.finished = hands
    for cards in game.deal_shoes(chunk, seating):
        state = game.play_out(player, cards)
        net = game.rules.payoff(state)[0]
        hands.append(PlayedHand(state, name, (net,), net / bet))
    return hands


def _play_holdem(chunk: Chunk, seating: int) -> Sequence[PlayedHand]:
    from croupier.arena.holdem import HoldemGame, deals_of

    game: object = find_game(chunk.plan.room)
    assert isinstance(game, HoldemGame)
    played = game.play_seating(chunk, seating, deals_of(chunk, seating), keeps_hands=True)
    names = _names(chunk, seating)
    hands = [each.hand for each in played.hands]
    return [
        PlayedHand(hand, names, hand.payoff(), 100 / 2 / hand.stakes.big_blind * hand.payoff()[seating])
        for hand in hands
    ]


REPLAYS: Final[Mapping[str, Callable[[Chunk, int], Sequence[PlayedHand]]]] = {
    "kuhn": _play_kuhn,
    "sevenhalf": _play_bank,
    "blackjack": _play_bank,
    "holdem": _play_holdem,
}
"""How the hands of a seating of a chunk are played again, by room."""
