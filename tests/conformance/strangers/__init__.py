"""Servers and clients of the house games that share no code with croupier: correct programs in every reading.

A program runs as a process on a real socket. One role of each game uses threads and blocking sockets, the other asyncio
streams. What the documents leave open is a choice on the command line, and CHOICES has the values that are all correct.
"""

import random
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent

ROLES: Final = ("server", "client")

type Choices = Mapping[str, object]

_TIMES: Final = {
    "pieces": ("flight", "message", "byte"),
    "pause": (0.0, 0.0, 0.02),
}
_SERVERS: Final = {
    **_TIMES,
    "rest": (0.0, 0.0, 0.1),
    "idle": (0.0, 60.0, 5.0),
    "move": (0.0, 5.0),
    "garbage": ("late", "early"),
    "close": ("drain", "plain"),
}
_LETTERS: Final = {"letters": ("upper", "lower", "mixed")}
_CLIENTS: Final = {**_TIMES, "games": (1, 3, 12), "status": (0, 1), "check": ("no", "yes")}

CHOICES: Final[Mapping[tuple[str, str], Mapping[str, Sequence[object]]]] = {
    ("kuhn", "server"): {
        **_SERVERS,
        **_LETTERS,
        "coins": (10, 3, 2, 1000, 2**31 - 1),
        "style": ("equilibrium", "random", "bold", "meek"),
        "spaces": ("accept", "refuse"),
        "quotes": ("accept", "refuse"),
    },
    ("kuhn", "client"): {
        **_CLIENTS,
        **_LETTERS,
        "seats": ("both", "first", "second", "random"),
        "style": ("random", "bold", "meek"),
        "ahead": ("no", "no", "game", "all"),
        "sessions": ("one", "one", "game"),
        "leave": ("disc", "disc-close", "close"),
    },
    ("sevenhalf", "server"): {
        **_SERVERS,
        **_LETTERS,
        "bet": ("100", "1", str(2**30 - 1), "100,1,7"),
        "limit": (2**30 - 1, 1000),
        "once": ("no", "no", "yes"),
        "cards": ("lower", "upper", "mixed"),
        "words": ("plain", "none", "long", "lookalike"),
        "spaces": ("accept", "refuse"),
        "dialect": ("document", "document", "lenient"),
    },
    ("sevenhalf", "client"): {
        **_CLIENTS,
        **_LETTERS,
        "target": (0, 1, 9, 15, 30),
        "ante": ("small", "large", "never", "twice"),
        "ahead": ("no", "no", "draw", "game", "all"),
        "late_pass": ("no", "yes"),
        "complains": ("no", "yes"),
        "again": ("no", "yes"),
        "leave": ("close", "half"),
    },
    ("blackjack", "server"): {
        **_SERVERS,
        "money": (1000, 1, 0, 2**31 - 1),
        "decks": (1, 1, 2, 6),
        "ten": ("T", "X", "10", "digits"),
        "char_bytes": (2, 2, 1),
        "goodbye": ("whole", "bare"),
    },
    ("blackjack", "client"): {
        **_CLIENTS,
        "stake": ("small", "one", "half", "all"),
        "target": (0, 4, 17, 21),
        "surrenders": (0.1, 0.0, 1.0),
        "char_bytes": (2, 2, 1),
        "tens": ("all", "T"),
        "ahead": ("no", "no", "bet", "round", "all"),
        "leave": ("wait", "stop", "close"),
    },
}
"""The values of each choice by game and role, the default first; a value that stands twice is drawn twice as often."""


DEPARTURES: Final[Mapping[str, Sequence[object]]] = {
    "once": ("yes",),
    "late_pass": ("yes",),
    "ten": ("X", "10", "digits"),
    "goodbye": ("bare",),
}
"""The values that the rulings only tolerate: the tester reports them as NON-STRICT."""


def is_strict(choices: Choices) -> bool:
    """Whether the document itself allows all of these choices."""
    return not any(value in DEPARTURES.get(name, ()) for name, value in choices.items())


def command(room: str, role: str, choices: Choices | None = None) -> str:
    """Return the command of a program: `command("kuhn", "server", {"coins": 3})`. Placeholders are the tester's."""
    place = ["{host}", "{port}"] if role == "client" else ["{port}"]
    words = [sys.executable, "-S", str(FOLDER / f"{room}_{role}.py")]
    given = [f"--choice {name}={value}" for name, value in (choices or {}).items()]
    return " ".join([*map(shlex.quote, words), *place, *given])


def tester_options(choices: Choices) -> list[str]:
    """Return the options of `croupier check` for settings that the tester must know."""
    options = []
    if choices.get("dialect") == "lenient":
        options += ["--dialect", "lenient"]
    if choices.get("char_bytes") == 1:
        options += ["--dialect", "char8"]
    if choices.get("decks", 1) != 1:
        options += ["--decks", str(choices["decks"])]
    return options


def draw_choices(room: str, role: str, seed: int) -> dict[str, object]:
    """Return a value of each choice, drawn with a seed."""
    rng = random.Random(f"{room} {role} {seed}")
    drawn = {name: rng.choice(values) for name, values in CHOICES[room, role].items()}
    return _possible(drawn) | {"seed": seed}


def readings(room: str, role: str) -> Iterator[dict[str, object]]:
    """Combinations of choices in which every value of each choice comes up, all defaults first."""
    axes = CHOICES[room, role]
    for number in range(max(map(len, axes.values()))):
        yield _possible({name: values[number % len(values)] for name, values in axes.items()})


def _possible(choices: dict[str, object]) -> dict[str, object]:
    """Return the choices without the combination that does not exist: two digits in a character of one byte."""
    if choices.get("char_bytes") == 1 and choices.get("ten") == "digits":
        return choices | {"ten": "T"}
    return choices
