"""Ways in which servers of hold'em depart from the document all along: named once, and read as what they mean."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final

from msgspec import DecodeError
from msgspec.json import decode, encode
from msgspec.structs import replace

from croupier.conformance.diagnosis.dialect import AND
from croupier.conformance.holdem.requests import Answer
from croupier.conformance.holdem.schema import KEYS
from croupier.rooms.holdem.cards import NUMBERS
from croupier.rooms.holdem.wire import Dialect

type Tree = Callable[[dict[str, Any]], dict[str, Any]]
"""An object of JSON as it came in, as the document has it out."""

type Mend = Callable[[str, Answer], Answer]
"""A request (its method and path) and the answer as it came in, the answer as the document has it out."""

PARTS: Final = frozenset({"hole", "flop", "turn", "river"})

WINNER: Final = frozenset({"PlayerID", "Hand"})
"""The keys of dialect hspe-go that look like others."""

MAKING: Final = re.compile(r"POST /(?:users|games|games/[^/]+/players|games/[^/]+/players/[^/]+/acts)/?(?:\?.*)?")
"""The requests of which 201 tells that all is well."""

GUIDS: Final = re.compile(r"POST /(?:users|games|games/[^/]+/players)/?(?:\?.*)?")
"""The requests that are answered with a GUID."""

IT: Final = "it "
"""What a cause begins with."""


def plain(key: str) -> str:
    """A key without what different ways to spell it have between its words."""
    return re.sub(r"[\W_]", "", key).lower()


KNOWN: Final[Mapping[str, str]] = {
    plain(key): key for key in (*PARTS, *(name for keys in KEYS.values() for name in keys))
}
WHOLE: Final = frozenset(key for keys in KEYS.values() for key, kind in keys.items() if kind is int)
TRUTHS: Final = frozenset(key for keys in KEYS.values() for key, kind in keys.items() if kind is bool)


@dataclass(frozen=True)
class Habit:
    """A way to answer. `told` says it in words behind "it"; `trees` mend what JSON says, and `mends` whole answers.

    A server with a `dialect` speaks that.
    """

    told: str
    trees: tuple[Tree, ...] = ()
    mends: tuple[Mend, ...] = ()
    dialect: Dialect | None = None

    def read(self, asked: str, answer: Answer) -> Answer:
        """What is meant by the answer to a request (its method and path); a refusal is what it is."""
        if answer.status >= 300:
            return answer
        for mend in self.mends:
            answer = mend(asked, answer)
        if not self.trees or not answer.body:
            return answer
        try:
            before = decode(answer.body)
        except (DecodeError, RecursionError):
            return answer
        found = encode(reduce(_mended, self.trees, before))
        return answer if found == encode(before) else replace(answer, body=found)

    def __add__(self, other: "Habit") -> "Habit":
        """Both at the same time."""
        return Habit(
            f"{self.told}{AND}{other.told}",
            self.trees + other.trees,
            self.mends + other.mends,
            other.dialect or self.dialect,
        )


def _mended(found: Any, tree: Tree) -> Any:
    """JSON with every object mended."""
    if isinstance(found, dict):
        return tree({key: _mended(value, tree) for key, value in found.items()})
    return [_mended(one, tree) for one in found] if isinstance(found, list) else found


def _keys(found: dict[str, Any]) -> dict[str, Any]:
    return found if found.keys() <= WINNER else {KNOWN.get(plain(key), key): value for key, value in found.items()}


def _values(names: frozenset[str], change: Callable[[Any], Any]) -> Tree:
    """The values of some keys."""
    return lambda found: {key: change(value) if key in names else value for key, value in found.items()}


def _read_text(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value) else value


def _read_float(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_truth(value: Any) -> Any:
    return {0: False, 1: True, "0": False, "1": True, "false": False, "true": True}.get(
        value.lower() if isinstance(value, str) else value if isinstance(value, int) else "", value
    )


def _cards(change: Callable[[str], str]) -> Tree:
    """Every card that is none as it stands."""

    def mend(found: Any) -> Any:
        if not isinstance(found, list) or not all(isinstance(card, str) for card in found):
            return found
        return [card if card in NUMBERS else change(card) for card in found]

    return _values(PARTS, mend)


def _made(asked: str, answer: Answer) -> Answer:
    return replace(answer, status=201) if answer.status == 200 and MAKING.fullmatch(asked) else answer


def _quoted(asked: str, answer: Answer) -> Answer:
    body = answer.body.strip()
    bare = GUIDS.fullmatch(asked) and re.fullmatch(rb"[0-9A-Za-z-]+", body)
    return replace(answer, body=b'"%s"' % body) if bare else answer


PUBLISHED: Final = Habit("speaks dialect hspe-go, that of the published server", dialect="hspe-go")
RESPELT: Final = Habit("spells its keys otherwise than the document", trees=(_keys,))

HABITS: Final[Sequence[Habit]] = (
    PUBLISHED,
    RESPELT,
    Habit("writes numbers as text", trees=(_values(WHOLE, _read_text),)),
    Habit("writes numbers with a decimal point", trees=(_values(WHOLE, _read_float),)),
    Habit("writes a truth as something else than true or false", trees=(_values(TRUTHS, _read_truth),)),
    Habit("writes the ten as 10", trees=(_cards(lambda card: card.replace("10", "T")),)),
    Habit("writes cards in small letters", trees=(_cards(str.upper),)),
    Habit("writes the GUID without quotes: that is no JSON", mends=(_quoted,)),
    Habit("answers 200 where 201 is due", mends=(_made,)),
)
"""The habits that are known."""


def named(cause: str) -> Habit | None:
    """The habit that a cause has named (`it writes numbers as text`); None where it is another cause."""
    words = {habit.told: habit for habit in HABITS}
    found = [words.get(part) for part in cause.removeprefix(IT).split(AND)]
    habits = [habit for habit in found if habit is not None]
    return reduce(add, habits) if len(habits) == len(found) else None
