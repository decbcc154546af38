"""Servers and clients that share no code with croupier: correct programs in every reading.

A program runs as a process, or in the process of a test (`tests.conformance.simulation`). One role of each house game
uses threads and blocking sockets, the other asyncio streams. What the documents leave open, and each permitted
setting, is an option: CHOICES and OPTIONS have the values that are all correct.
"""

import random
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent

HOUSE_GAMES: Final = ("kuhn", "sevenhalf", "blackjack")

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
        "ending": ("none", "none", "line"),
        "style": ("equilibrium", "random", "bold", "meek"),
        "spaces": ("accept", "refuse"),
        "quotes": ("accept", "refuse", "frame"),
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
        "ending": ("none", "none", "line"),
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

TURN: Final = "--turn-seconds 4"
"""One case waits for a turn to end, so turns are shorter than the document's 15 seconds."""

OPTIONS: Final[Mapping[tuple[str, str], Sequence[Sequence[str]]]] = {
    ("holdem", "server"): (
        ("", "--button random"),
        ("", "--big-blind-twice allowed"),
        ("", "--player-guid seat"),
        ("", "--guid upper"),
        (
            "",
            "--created slash",
            "--created unnamed",
            "--created game",
            "--created never",
            "--created never --games one",
        ),
        ("", "--parser loose"),
        ("", "--empty-games removed"),
        ("", "--minimum-raise own", "--minimum-raise wealth"),
        ("", "--short-raises single"),
        ("", "--unanswered-raises calls"),
        ("", "--dead-chips joined"),
        ("", "--idle-pots none"),
        ("", "--idle-turn null"),
        ("", "--idle-state called"),
        ("", "--all-in-state active"),
        ("", "--newcomers shown"),
        ("", "--expiry nanoseconds", "--expiry offset"),
        ("", "--list-login ignored"),
        ("", "--redirect 301", "--redirect 308"),
        ("", "--pause 0.5"),
        ("", "--json compact", "--json pretty"),
        ("", "--errors json", "--errors empty"),
        ("", "--methods routed"),
        ("", "--request-chunks refused"),
        ("", "--connection close"),
        ("", "--framing chunked", "--framing http10"),
        ("", "--small-blind 5 --big-blind 10", "--small-blind 25 --big-blind 75"),
        ("", "--stack 500"),
        ("", "--seats 6", "--seats 4", "--seats 3", "--seats 2"),
    ),
    ("holdem", "client"): (
        ("", "--style caller", "--style shover", "--style raiser"),
        ("", "--register late"),
        ("", "--game last", "--game own"),
        ("", "--queue leave"),
        ("", "--look list"),
        ("", "--sign needed"),
        ("", "--connection each"),
        ("", "--slashes never", "--slashes always"),
        ("", "--content-type text/plain"),
        ("", "--fold amount"),
        ("", "--body pretty", "--body reversed"),
        ("", "--poll 0.2"),
        ("", "--goodbye"),
    ),
    ("oldmaid", "server"): (
        ("--players 4", "--players 2", "--players 3", "--players 6", "--players 8"),
        ("--join-window 1", "--join-window 0.5", "--join-window 10"),
        ("", "--json compact", "--json reversed"),
        ("", "--ending none", "--ending crlf"),
        ("", "--errors bare", "--errors printed"),
        ("", "--garbage close"),
        ("", "--list njaal"),
        ("", "--early-out accepted"),
        ("", "--early-status empty"),
        ("", "--extra-keys"),
    ),
    ("oldmaid", "client"): (
        ("", "--listen named"),
        ("", "--json compact", "--json pretty"),
        ("", "--status-seconds 0.2", "--end stay"),
        ("", "--discards late"),
        ("", "--lost-turn wait"),
        ("", "--out again"),
        ("", "--pick-pause 0", "--pick-pause 0.1"),
    ),
}
"""The same for hold'em and Old Maid, as options of the command line."""

COMMANDS: Final = {
    ("holdem", "server"): f"holdem_server.py {{port}} {TURN}",
    ("holdem", "client"): "holdem_client.py --url {url} --user {user} --password {password}",
    ("oldmaid", "server"): "oldmaid_table.py {port}",
    ("oldmaid", "client"): "oldmaid_player.py {host} {port} {nick}",
    **{(room, "server"): f"{room}_server.py {{port}}" for room in HOUSE_GAMES},
    **{(room, "client"): f"{room}_client.py {{host}} {{port}}" for room in HOUSE_GAMES},
}
"""The programs, with the tester's placeholders, by game and role."""

PROGRAMS: Final = (*CHOICES, *OPTIONS)
"""Each program, as its game and its role."""

DEPARTURES: Final[Mapping[str, Sequence[object]]] = {
    "ending": ("line",),
    "once": ("yes",),
    "late_pass": ("yes",),
    "ten": ("X", "10", "digits"),
    "goodbye": ("bare",),
}
"""The values that the rulings only tolerate: the tester reports them as NON-STRICT."""


class Reading(NamedTuple):
    """How a program reads the document: its options, and those of `croupier check` for what the tester must know.

    `is_strict`: the document itself allows it, not only the rulings.
    """

    options: str = ""
    tester_options: Sequence[str] = ()
    is_strict: bool = True

    @classmethod
    def of(cls, choices: Choices) -> "Reading":
        """Return the reading of a program of a house game with these choices."""
        tester_options: list[str] = []
        if choices.get("dialect") == "lenient":
            tester_options += ["--dialect", "lenient"]
        if choices.get("char_bytes") == 1:
            tester_options += ["--dialect", "char8"]
        if choices.get("decks", 1) != 1:
            tester_options += ["--decks", str(choices["decks"])]
        is_strict = not any(value in DEPARTURES.get(name, ()) for name, value in choices.items())
        return cls(" ".join(f"--choice {name}={value}" for name, value in choices.items()), tester_options, is_strict)


def command(room: str, role: str, options: str = "") -> str:
    """Return the command of a program with these options."""
    return f"{shlex.join([sys.executable, '-S', str(FOLDER)])}/{COMMANDS[room, role]} {options}".rstrip()


def draw(room: str, role: str, seed: int) -> Reading:
    """Return a reading, drawn with a seed."""
    rng = random.Random(f"{room} {role} {seed}")
    if (room, role) in OPTIONS:
        return Reading(" ".join(filter(None, map(rng.choice, OPTIONS[room, role]))), is_strict=False)
    drawn = {name: rng.choice(values) for name, values in CHOICES[room, role].items()}
    return Reading.of(_possible(drawn) | {"seed": seed})


def readings(room: str, role: str) -> Iterator[Reading]:
    """Combinations of choices in which every value of each choice comes up, all defaults first."""
    if (room, role) in OPTIONS:
        axes: Sequence[Sequence[str]] = OPTIONS[room, role]
        for number in range(max(map(len, axes))):
            chosen = (values[min(number, len(values) - 1)] for values in axes)
            yield Reading(" ".join(filter(None, chosen)), is_strict=False)
        return
    choices = CHOICES[room, role]
    for number in range(max(map(len, choices.values()))):
        yield Reading.of(_possible({name: values[number % len(values)] for name, values in choices.items()}))


def _possible(choices: dict[str, object]) -> dict[str, object]:
    """Return the choices without the combination that does not exist: two digits in a character of one byte."""
    if choices.get("char_bytes") == 1 and choices.get("ten") == "digits":
        return choices | {"ten": "T"}
    return choices
