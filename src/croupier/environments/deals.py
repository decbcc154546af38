"""The hands of an environment, one after the other: the seed fixes all of them."""

from croupier.environments.encoding import EncodedGame, EncodedHand
from croupier.simulation import new_seed


class Deals:
    """Deals hand after hand. `number` counts them since the last seed, which is unpredictable if none was given."""

    def __init__(self, game: EncodedGame) -> None:
        self._game = game
        self.seed: int | None = None
        self.number = 0

    def next_hand(self, seed: int | None) -> EncodedHand:
        """The next hand; with a seed, the first one of that seed."""
        if seed is not None or self.seed is None:
            self.seed = new_seed(seed)
            self.number = 0
        self.number += 1
        return self._game.deal(self.seed, self.number)
