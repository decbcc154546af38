"""Bots: strategies that choose a move from what their seat can see."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import lcm
from typing import NamedTuple, Never, Protocol, runtime_checkable

from croupier.core.bot_files import BotFile
from croupier.core.dealer import WORD_VALUES, Luck
from croupier.core.errors import IllegalMove
from croupier.core.python_files import describe_error, error_line


class Bot[V, M](Protocol):
    """Chooses one of the legal moves, given a seat's view of the game. `luck` is its only source of randomness.

    Example:
        >>> from croupier import simulate
        >>> class Caller(Bot):
        ...     def choose(self, view, legal, luck):
        ...         return "CAL" if "CAL" in legal else legal[0]
        >>> caller, other = simulate("kuhn", Caller(), "equilibrium", games=100, seed=1)
        >>> caller.mean == -other.mean
        True
    """

    def choose(self, view: V, legal: Sequence[M], luck: Luck) -> M: ...  # noqa: D102 -- see the class


@runtime_checkable
class MixedBot[V, M](Bot[V, M], Protocol):
    """A bot that publishes the probabilities of its moves. The arena draws its moves from them.

    Example:
        >>> class Coin(MixedBot):
        ...     def policy(self, view, legal):
        ...         return dict.fromkeys(legal, Fraction(1, len(legal)))
        ...     def choose(self, view, legal, luck):
        ...         return legal[luck.below(len(legal))]
        >>> isinstance(Coin(), MixedBot)
        True
    """

    def policy(self, view: V, legal: Sequence[M]) -> Mapping[M, Fraction]:
        """The probability of each legal move; moves that are absent have the probability 0."""
        ...


class BotSpec[V, M](NamedTuple):
    """A kind of bot: a short description, how to make one, and how to parse its argument, if it takes one.

    `examples` lists some valid arguments. `is_stateful` means that a bot changes as it plays, so that each table needs
    its own.
    """

    description: str
    make: Callable[..., Bot[V, M]]
    parse_argument: Callable[[str], object] | None = None
    examples: Sequence[str] = ()
    is_stateful: bool = False


def choose_legal[V, M](bot: Bot[V, M], view: V, legal: Sequence[M], luck: Luck) -> M:
    """The move that a bot chooses. Raises IllegalMove if it is not legal."""
    move = bot.choose(view, legal, luck)
    if move not in legal:
        raise IllegalMove(repr(move), legal)
    return move


def is_bot_error(error: BaseException) -> bool:
    """Whether an exception is an illegal move of a bot, or was raised in a user's file."""
    return isinstance(error, IllegalMove) or error_line(error) is not None


def bot_failure(error: BaseException) -> str:
    """Why a bot has failed, without anything that only the bot may know: the move, or the text of its exception."""
    if isinstance(error, IllegalMove):
        return f"an illegal move; allowed: {', '.join(map(str, error.allowed))}"
    return describe_error(error, message=False)


class FailedBot:
    """Stands for a bot that cannot be made: every decision raises the error."""

    def __init__(self, error: BaseException) -> None:
        self._error = error
        self._traceback = error.__traceback__

    def choose(self, view: object, legal: Sequence[object], luck: Luck) -> Never:  # noqa: ARG002 -- it cannot choose
        """Raise the error."""
        raise self._error.with_traceback(self._traceback)


def make_bot[V, M](make: Callable[[], Bot[V, M]]) -> Bot[V, M]:
    """A bot for a server, which goes on if the bot cannot be made: it fails at its first decision."""
    try:
        return make()
    except (Exception, SystemExit) as error:
        return FailedBot(error)


def bot_factory[V, M](specs: Mapping[str, BotSpec[V, M]], text: str) -> Callable[[], Bot[V, M]]:
    """A factory of the bots that `text` names: `NAME`, `NAME:ARGUMENT`, `FILE.py:CLASS` or `FILE.py:CLASS:ARGUMENT`.

    Stateless built-in bots are shared. Raises ValueError if there is no such bot, if the argument is missing or
    invalid, and if the file cannot be used.
    """
    name, colon, argument = text.partition(":")
    spec = specs.get(name)
    if spec is None and (file := BotFile.parse(text)):
        return file.factory()
    if spec is None or (colon and spec.parse_argument is None):
        raise ValueError(f"found the bot {text!r}; allowed: {', '.join([*specs, 'FILE.py:CLASS'])}")
    try:
        arguments = (spec.parse_argument(argument),) if colon and spec.parse_argument else ()
        first = spec.make(*arguments)
    except (ValueError, ZeroDivisionError, TypeError) as error:
        examples = ", ".join(f"{name}:{example}" for example in spec.examples)
        is_missing = isinstance(error, TypeError) and not argument
        reason = "an argument is missing" if is_missing else str(error)
        if "allowed" not in reason:
            reason = f"{reason}; allowed: {examples}"
        raise ValueError(f"found the bot {text!r}: {reason}") from None
    return (lambda: spec.make(*arguments)) if spec.is_stateful else (lambda: first)


def find_bot[V, M](specs: Mapping[str, BotSpec[V, M]], bot: Bot[V, M] | str) -> Bot[V, M]:
    """A bot as it is, or the one that a text names: see `bot_factory`. Raises ValueError if it is no bot."""
    if isinstance(bot, str):
        return bot_factory(specs, bot)()
    if isinstance(bot, type):
        raise ValueError(f"found the class {bot.__name__}; allowed: an object, {bot.__name__}()")  # noqa: TRY004 -- as for names
    return bot


class RandomBot:
    """Chooses each legal move with the same probability."""

    def choose[M](self, view: Hashable, legal: Sequence[M], luck: Luck) -> M:  # noqa: ARG002 -- it ignores the view
        """Draw one of the legal moves."""
        return legal[luck.below(len(legal))]

    def policy[M](self, view: Hashable, legal: Sequence[M]) -> Mapping[M, Fraction]:  # noqa: ARG002 -- as above
        """The same probability for each legal move."""
        return dict.fromkeys(legal, Fraction(1, len(legal)))


def lottery[M](chances: Mapping[M, Fraction]) -> tuple[M, ...]:
    """Repeat each move in proportion to its probability, so that a uniform draw has the right distribution.

    Raises ValueError if the probabilities are negative, do not sum to 1, or have a common denominator above 65,536.

    >>> lottery({"BET": Fraction(1, 3), "CHK": Fraction(2, 3)})
    ('BET', 'CHK', 'CHK')
    """
    if sum(chances.values()) != 1 or min(chances.values()) < 0:
        raise ValueError(f"found the probabilities {chances}; allowed: none below 0, and 1 in all")
    whole = lcm(*(chance.denominator for chance in chances.values()))
    if whole > WORD_VALUES:
        raise ValueError(f"found probabilities in parts of {whole}; allowed: {WORD_VALUES}")
    return tuple(move for move, chance in chances.items() for _ in range(int(chance * whole)))


class PolicyBot[V: Hashable, M]:
    """Plays a behaviour strategy: a table with the exact probability of each move at each view.

    When it draws a move that is not legal (because the purse cannot pay for it), it draws again among the legal moves
    of the row, in proportion; when the row has none, it plays the first legal move.

    Raises ValueError if the probabilities of a row are negative, do not sum to 1, or have a common denominator above
    65,536.
    """

    def __init__(self, table: Mapping[V, Mapping[M, Fraction]]) -> None:
        self._table = table
        self._rows = {view: self._row(view, chances) for view, chances in table.items()}

    def choose(self, view: V, legal: Sequence[M], luck: Luck) -> M:
        """Draw a move from the view's row."""
        row = self._rows[view]
        move = row[luck.below(len(row))]
        if move in legal:
            return move
        left = [move for move in row if move in legal] or legal[:1]
        return left[luck.below(len(left))]

    def policy(self, view: V, legal: Sequence[M]) -> Mapping[M, Fraction]:
        """The view's row, in proportion among the legal moves."""
        row = self._table[view]
        chances = {move: chance for move, chance in row.items() if move in legal}
        if len(chances) == len(row):
            return row
        whole = sum(chances.values())
        return {move: chance / whole for move, chance in chances.items()} if whole else {legal[0]: Fraction(1)}

    @staticmethod
    def _row(view: V, chances: Mapping[M, Fraction]) -> tuple[M, ...]:
        try:
            return lottery(chances)
        except ValueError as error:
            raise ValueError(f"{view}: {error}") from None


def script_parser[M: str](moves: Iterable[M]) -> Callable[[str], tuple[M, ...]]:
    """A parser of a script: comma-separated moves out of `moves`, in any case. It raises ValueError for other words.

    >>> script_parser(["CHK", "BET"])("bet, chk")
    ('BET', 'CHK')
    """
    return partial(_read_script, {move.upper(): move for move in moves})


def _read_script[M: str](allowed: Mapping[str, M], argument: str) -> tuple[M, ...]:
    words = [word.strip() for word in argument.upper().split(",")]
    if not allowed.keys() >= {*words}:
        raise ValueError(f"found {argument!r}; allowed: {', '.join(allowed.values())}, with commas between")
    return tuple(allowed[word] for word in words)


class ScriptedBot[M]:
    """Plays the moves of a script in order, over and over, and skips moves that are not legal."""

    def __init__(self, moves: Sequence[M]) -> None:
        self._moves = moves
        self._next = 0

    def choose(self, view: Hashable, legal: Sequence[M], luck: Luck) -> M:  # noqa: ARG002 -- the script ignores the view
        """The next move of the script that is legal; the first legal move when none of it is."""
        for _ in self._moves:
            move = self._moves[self._next % len(self._moves)]
            self._next += 1
            if move in legal:
                return move
        return legal[0]
