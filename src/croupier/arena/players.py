"""Players: bots at the table. A fault of a bot costs it the room's default move, and three in a chunk the pairing."""

import re
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence, Sized
from fractions import Fraction
from functools import lru_cache
from typing import Any

from croupier.arena.tally import Fault
from croupier.core.bots import Bot, MixedBot, lottery
from croupier.core.dealer import Luck
from croupier.core.python_files import MODULE_PREFIX, describe_error
from croupier.core.text import printable

MAX_FAULTS = 3
"""With as many faults in one chunk, a bot forfeits the pairing."""

NO_CALL = -1
"""What `calls` holds while no bot is called."""

MAX_REASON_CHARS = 200
LOCAL_NAME = re.compile(rf" at 0x[0-9a-fA-F]+|{MODULE_PREFIX}[0-9a-f]+\.")
"""What the text of an object has only in one process or for one path: its address, and the module of a bot's file."""


class Forfeit(Exception):
    """A bot cannot go on; `bot` is its index in the pairing."""

    def __init__(self, bot: int) -> None:
        super().__init__(bot)
        self.bot = bot


class Player[V, M]:
    """A bot in one seating of a chunk.

    `index` is 0 for the first bot of the pairing and 1 for the second, and `first_hand` the number of the first hand.
    `default_moves` has the moves that stand for a fault; the first that is legal counts. Faults are added to `faults`.
    `calls` is a cell of memory that shows another process which call of a bot goes on, so that it can see a bot that
    hangs: 2 · number of the call + index, or NO_CALL. A game sets `finished` to the hands of the seating that are over.
    """

    def __init__(
        self,
        make: Callable[[], Bot[V, M]],
        luck: Luck,
        *,
        index: int,
        first_hand: int,
        default_moves: Sequence[M],
        faults: list[Fault],
        calls: MutableSequence[int],
    ) -> None:
        self.index = index
        self.finished: Sized = ()
        self._first_hand = first_hand
        self._default_moves = default_moves
        self._faults = faults
        self._luck = luck
        self._calls = calls
        self._call = index
        calls[0] = index
        try:
            self._bot = make()
        except (Exception, SystemExit) as error:
            self._add_fault(describe_error(error))
            raise Forfeit(index) from None
        calls[0] = NO_CALL
        self.is_known = isinstance(self._bot, MixedBot)

    def choose(self, view: V, legal: Sequence[M]) -> M:
        """A legal move: the bot's, or the default if it has none. Raises Forfeit on the third fault."""
        calls = self._calls
        self._call = calls[0] = self._call + 2
        try:
            move: M = self._bot.choose(view, legal, self._luck)
            if move in legal:
                calls[0] = NO_CALL
                return move
            reason = _describe_illegal(move, legal)
        except (Exception, SystemExit) as error:
            reason = describe_error(error)
        return self._replace_move(reason, legal)

    def play(self, view: V, legal: Sequence[M], make_move: Callable[[M], bool]) -> None:
        """Let the bot choose, and make its move, or the default if `make_move` refuses it. Raises as `choose` does.

        `make_move` returns False for a move that is not legal: a game that checks moves anyway need not do it twice.
        """
        calls = self._calls
        self._call = calls[0] = self._call + 2
        try:
            move: M = self._bot.choose(view, legal, self._luck)
        except (Exception, SystemExit) as error:
            reason = describe_error(error)
        else:
            if make_move(move):
                calls[0] = NO_CALL
                return
            reason = _describe_illegal(move, legal)
        make_move(self._replace_move(reason, legal))

    def policy(self, view: V, legal: Sequence[M]) -> Mapping[M, Fraction]:
        """The probabilities that a known bot publishes; those of the default move if they are none. Raises Forfeit."""
        calls = self._calls
        self._call = calls[0] = self._call + 2
        try:
            assert isinstance(self._bot, MixedBot)
            chances: Mapping[M, Fraction] = self._bot.policy(view, legal)
            lot(tuple(chances.items()))
            illegal = [move for move in chances if move not in legal]
            if not illegal:
                calls[0] = NO_CALL
                return chances
            reason = f"a probability of the illegal move {illegal[0]!r}"
        except (Exception, SystemExit) as error:
            reason = describe_error(error)
        return {self._replace_move(reason, legal): Fraction(1)}

    def draw(self, moves: Sequence[Any]) -> Any:
        """Draw one of the items with the bot's randomness; all are equally likely."""
        return moves[self._luck.below(len(moves))]

    def _replace_move(self, reason: str, legal: Sequence[M]) -> M:
        self._calls[0] = NO_CALL
        self._add_fault(reason)
        if has_forfeited(self.index, self._faults):
            raise Forfeit(self.index)
        return next(move for move in self._default_moves if move in legal)

    def _add_fault(self, reason: str) -> None:
        self._faults.append(make_fault(self.index, self._first_hand + len(self.finished), reason))


def _describe_illegal(move: object, legal: Iterable[object]) -> str:
    try:
        return f"the illegal move {move!r}; allowed: {', '.join(map(str, legal))}"
    except (Exception, SystemExit) as error:
        return describe_error(error)


def make_fault(bot: int, hand: int, reason: str) -> Fault:
    """A fault with a reason of one short line."""
    return Fault(bot, hand, printable(LOCAL_NAME.sub("", reason), MAX_REASON_CHARS))


def has_forfeited(bot: int, faults: Sequence[Fault]) -> bool:
    """Whether the faults of a chunk cost a bot the pairing."""
    return sum(fault.bot == bot for fault in faults) >= MAX_FAULTS


@lru_cache(maxsize=1024)
def lot[M](chances: tuple[tuple[M, Fraction], ...]) -> tuple[M, ...]:
    """See `lottery`; cached, because bots publish the same probabilities again and again."""
    return lottery(dict(chances))
