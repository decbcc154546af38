"""Minds: ways to choose a move from what a seat may know, and nothing else."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple, Protocol

from croupier.core.dealer import WORD_VALUES, Luck


class Bot[V, M](Protocol):
    """Chooses one of the legal moves, given a seat's view of the game. `luck` is all the randomness it has."""

    def choose(self, view: V, legal: Sequence[M], luck: Luck) -> M: ...  # noqa: D102 -- told above


class BotSpec[V, M](NamedTuple):
    """A named way to play: what it does in a few words, how to make its mind, and how to read an argument, if any.

    `examples` are some arguments that it takes. `remembers`: its minds change as they play: each table needs its own.
    """

    description: str
    make: Callable[..., Bot[V, M]]
    parse_argument: Callable[[str], object] | None = None
    examples: Sequence[str] = ()
    is_stateful: bool = False


def bot_factory[V, M](specs: Mapping[str, BotSpec[V, M]], text: str) -> Callable[[], Bot[V, M]]:
    """The minds that `NAME` or `NAME:ARGUMENT` asks for, one a call. Raises ValueError."""
    name, colon, argument = text.partition(":")
    style = specs.get(name)
    if style is None or (colon and style.parse_argument is None):
        raise ValueError(f"found the mind {text!r}; allowed: {', '.join(specs)}")
    try:
        given = (style.parse_argument(argument),) if colon and style.parse_argument else ()
        first = style.make(*given)
    except (ValueError, ZeroDivisionError, TypeError) as error:
        examples = ", ".join(f"{name}:{example}" for example in style.examples)
        missing = isinstance(error, TypeError) and not argument
        told = "an argument is missing" if missing else str(error)
        if "allowed" not in told:
            told = f"{told}; allowed: {examples}"
        raise ValueError(f"found the mind {text!r}: {told}") from None
    return (lambda: style.make(*given)) if style.is_stateful else (lambda: first)


class RandomBot:
    """Chooses each legal move with the same probability."""

    def choose[M](self, view: Hashable, legal: Sequence[M], luck: Luck) -> M:  # noqa: ARG002 -- a mind that looks at nothing
        """Draw one of the legal moves."""
        return legal[luck.below(len(legal))]


class PolicyBot[V: Hashable, M]:
    """Chooses by a table: for every view, the exact probability of each move.

    When the table wants a move that is not legal (because it cannot be paid), the rest of its row decides, in
    proportion; when nothing is left of the row, the first legal move.
    """

    def __init__(self, table: Mapping[V, Mapping[M, Fraction]]) -> None:
        self._rows = {view: self._row(view, chances) for view, chances in table.items()}

    def choose(self, view: V, legal: Sequence[M], luck: Luck) -> M:
        """Draw a move from the view's row."""
        row = self._rows[view]
        move = row[luck.below(len(row))]
        if move in legal:
            return move
        left = [move for move in row if move in legal] or legal[:1]
        return left[luck.below(len(left))]

    @staticmethod
    def _row(view: V, chances: Mapping[M, Fraction]) -> tuple[M, ...]:
        """Each move as many times as its probability has parts of the whole, so that an equal draw is the right one."""
        if sum(chances.values()) != 1 or min(chances.values()) < 0:
            raise ValueError(f"{view}: found the probabilities {chances}; allowed: none below 0, and 1 in all")
        whole = lcm(*(chance.denominator for chance in chances.values()))
        if whole > WORD_VALUES:
            raise ValueError(f"{view}: found probabilities in parts of {whole}; allowed: {WORD_VALUES}")
        return tuple(move for move, chance in chances.items() for _ in range(int(chance * whole)))


def script_parser[M: str](moves: Iterable[M]) -> Callable[[str], tuple[M, ...]]:
    """Reads the argument of a script: some of these moves, with commas between, in letters of either case."""
    allowed = {move.upper(): move for move in moves}

    def read(argument: str) -> tuple[M, ...]:
        words = [word.strip() for word in argument.upper().split(",")]
        if not allowed.keys() >= {*words}:
            raise ValueError(f"found {argument!r}; allowed: {', '.join(allowed.values())}, with commas between")
        return tuple(allowed[word] for word in words)

    return read


class ScriptedBot[M]:
    """Plays moves laid out beforehand, in turn and cyclically; one that is not legal when its turn comes is passed."""

    def __init__(self, moves: Sequence[M]) -> None:
        self._moves = moves
        self._next = 0

    def choose(self, view: Hashable, legal: Sequence[M], luck: Luck) -> M:  # noqa: ARG002 -- the script knows
        """The next move of the script that is legal; the first legal move when none of it is."""
        for _ in self._moves:
            move = self._moves[self._next % len(self._moves)]
            self._next += 1
            if move in legal:
                return move
        return legal[0]
