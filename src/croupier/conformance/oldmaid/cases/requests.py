"""What players ask a table wherever they are in a game: what it allows there, and what it refuses."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from croupier.conformance.case import Case, clause_id
from croupier.conformance.oldmaid.driven_game import Sitting
from croupier.conformance.oldmaid.findings import Broken, Chosen
from croupier.conformance.oldmaid.scripted_player import Guest, Said
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.table.game import CARDS
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, OutOfCards, Status


@dataclass(frozen=True, kw_only=True)
class TableCase(Case):
    """A case that is played at the table. With `free` only rulings of the project decide it: what fails is a choice.

    `alone`: nobody else may wait for a game meanwhile, for the case looks at who waits.
    """

    play: Callable[[Scene], Awaitable[None]]
    free: bool = False
    alone: bool = False


def case(
    clause: str,
    slug: str,
    title: str,
    play: Callable[[Scene], Awaitable[None]],
    *,
    free: bool = False,
    alone: bool = False,
) -> TableCase:
    """A case by the number of its clause: `4.3`."""
    name = clause_id("oldmaid", clause, slug)
    return TableCase(id=name, title=title, clause=f"oldmaid-{clause}", play=play, free=free, alone=alone)


class Place(NamedTuple):
    """Where somebody is in a game: who that is, and the game, None before it."""

    guest: Guest
    sitting: Sitting | None


async def _fresh(scene: Scene) -> Place:
    return Place(await scene.guest(), None)


async def _turn(scene: Scene) -> Place:
    sitting = await scene.sit()
    return Place(sitting.taker, sitting)


async def _elsewhere(scene: Scene) -> Place:
    sitting = await scene.sit()
    await sitting.draw(2 * len(sitting.guests) + 1)
    return Place(sitting.idler, sitting)


async def _drawn(scene: Scene) -> Place:
    sitting = await scene.sit()
    await sitting.draw()
    return Place(sitting.guests[-1], sitting)


async def _out(scene: Scene) -> Place:
    sitting = await scene.sit(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished))
    return Place(sitting.guests[sitting.game.finished[0]], sitting)


async def _over(scene: Scene) -> Place:
    sitting = await scene.sit()
    await sitting.draw()
    await sitting.play()
    return Place(sitting.guests[sitting.game.finished[0]], sitting)


class Situation(NamedTuple):
    """A place in a game, as titles tell it, and the way there."""

    name: str
    told: str
    lead: Callable[[Scene], Awaitable[Place]]


FRESH: Final = Situation("before-joining", "before joining", _fresh)
TURN: Final = Situation("in-turn", "when it is one's turn to draw", _turn)
ELSEWHERE: Final = Situation("out-of-turn", "when it is another's turn to draw", _elsewhere)
DRAWN: Final = Situation("all-drawn", "when all cards are drawn", _drawn)
OUT: Final = Situation("when-out", "when one is out of cards", _out)
OVER: Final = Situation("game-over", "when the game is over", _over)

PAIR: Final = Discard((("3", "spades"), ("3", "clubs")), "false")

ILLEGAL: Final[Sequence[tuple[str, str, Said, dict[Situation, str]]]] = (
    ("draw", "draw", Draw(), {FRESH: "4.6", ELSEWHERE: "4.3", DRAWN: "4.5", OUT: "4.5", OVER: "6.9"}),
    ("discard", "discard", PAIR, {FRESH: "5.9", TURN: "5.6", OUT: "5.9", OVER: "6.9"}),
    (
        "out-of-cards",
        "out_of_cards",
        OutOfCards(),
        {FRESH: "6.4", TURN: "6.2", ELSEWHERE: "6.2", OUT: "6.3", OVER: "6.9"},
    ),
    ("join", "join", Join("somebody-else"), {TURN: "3.14", ELSEWHERE: "3.14", DRAWN: "3.14"}),
)
"""What is right elsewhere, by its slug, name and message, and the clauses by which it is refused in a situation."""

FREE: Final = frozenset({("discard", OUT), ("out-of-cards", FRESH), ("discard", FRESH)})
"""What the document would let a table ignore, and only our rulings refuse."""


class Slip(NamedTuple):
    """Something that is no request: the clause, a slug, what it is for people, and its bytes.

    `ends`: a table may hang up behind it, for it cannot know where the next message begins.
    """

    clause: str
    slug: str
    told: str
    data: bytes
    ends: bool = False


def _said(**keys: object) -> bytes:
    return json.dumps(keys).encode() + b"\n"


SLIPS: Final = (
    Slip("8.3", "python-quotes", "a dictionary as Python prints it", b"{'cmd': 'status'}\n", ends=True),
    Slip("8.3", "printed-quotes", "the quotes of the document", "{“cmd”: “status”}\n".encode(), ends=True),
    Slip("8.3", "no-value", "a key without a value", b'{"cmd": }\n', ends=True),
    Slip("8.3", "words", "words", b"draw a card\n", ends=True),
    Slip("8.4", "array", "an array", b'["cmd", "status"]\n'),
    Slip("8.4", "string", "a string", b'"status"\n', ends=True),
    Slip("8.5", "empty-object", "an empty object", b"{}\n"),
    Slip("8.5", "no-cmd", "an object without cmd", _said(command="status")),
    Slip("8.5", "cmd-number", "a cmd that is a number", _said(cmd=7)),
    Slip("8.5", "cmd-null", "a cmd that is null", _said(cmd=None)),
    Slip("8.6", "unknown-cmd", "an unknown cmd", _said(cmd="deal")),
    Slip("8.6", "upper-case", "a cmd in capitals", _said(cmd="STATUS")),
    Slip("8.6", "offer-to-table", "offer to the table", _said(cmd="offer", num_cards=3)),
    Slip("8.6", "pick-at-table", "pick at the table", _said(cmd="pick", card_num=0)),
    Slip("8.6", "your-turn-to-table", "your_turn to the table", _said(cmd="your_turn")),
    Slip("8.7", "no-cards", "discard without cards", _said(cmd="discard", last_cards="false")),
    Slip("8.7", "cards-null", "discard with cards that are null", _said(cmd="discard", cards=None, last_cards="false")),
    Slip("8.7", "one-card", "discard with one card", _said(cmd="discard", cards=[["3", "spades"]], last_cards="false")),
    Slip(
        "8.7",
        "cards-as-text",
        "discard with cards as text",
        _said(cmd="discard", cards=["3 spades", "3 clubs"], last_cards="false"),
    ),
    Slip(
        "8.7",
        "value-number",
        "discard with a value that is a number",
        _said(cmd="discard", cards=[[3, "spades"], [3, "clubs"]], last_cards="false"),
    ),
    Slip(
        "2.5",
        "last-cards-word",
        "discard with another word for last_cards",
        _said(cmd="discard", cards=[["3", "spades"], ["3", "clubs"]], last_cards="perhaps"),
    ),
)

NICKLESS: Final = (
    Slip("8.7", "no-nick", "join without a nick", _said(cmd="join")),
    Slip("8.7", "nick-number", "join with a nick that is a number", _said(cmd="join", nick=7)),
    Slip("8.7", "nick-null", "join with a nick that is null", _said(cmd="join", nick=None)),
)


def _refusal(said: Said, clause: str, situation: Situation) -> Callable[[Scene], Awaitable[None]]:
    """Something that is refused where somebody is, and after that all goes on (oldmaid-8.1)."""

    async def play(scene: Scene) -> None:
        guest, sitting = await situation.lead(scene)
        await guest.refused(said, clause)
        if not await _goes_on(guest, sitting):
            raise Broken("oldmaid-8.1", "the end of the connection behind the error", "that it goes on")

    return play


def _slip(slip: Slip, situation: Situation) -> Callable[[Scene], Awaitable[None]]:
    async def play(scene: Scene) -> None:
        guest, sitting = await situation.lead(scene)
        await guest.refused(slip.data, f"oldmaid-{slip.clause}")
        if not await _goes_on(guest, sitting):
            if slip.ends:
                raise Chosen(f"it hangs up behind {slip.told}; ours goes on")
            raise Broken("oldmaid-8.1", f"the end of the connection behind {slip.told}", "that it goes on")

    return play


async def _goes_on(guest: Guest, sitting: Sitting | None) -> bool:
    """Whether the table still answers: everybody draws a card where that is right, or the status is asked for."""
    try:
        if sitting is not None and sitting.game.drawn < CARDS:
            await sitting.draw(min(CARDS, sitting.game.drawn + len(sitting.guests)), throw=False)
        else:
            await guest.say(Status(), judged=False)
            await guest.reaction()
    except Broken:
        if not guest.gone:
            raise
    return not guest.gone


def _unrefused(guest_of: Situation) -> Callable[[Scene], Awaitable[None]]:
    async def play(scene: Scene) -> None:
        guest, _ = await guest_of.lead(scene)
        await guest.granted(Status(), "oldmaid-6.7")

    return play


def cases() -> Sequence[TableCase]:
    """Every request in every situation in which it is refused; and every slip before a game and in one."""
    found = []
    for slug, name, said, clauses in ILLEGAL:
        for situation, number in clauses.items():
            title = f"{name} {situation.told} is refused, and changes nothing"
            play = _refusal(said, f"oldmaid-{number}", situation)
            found.append(
                case(
                    number,
                    f"{slug}-{situation.name}",
                    title,
                    play,
                    free=(slug, situation) in FREE,
                    alone=slug == "join",
                )
            )
    for slip in SLIPS:
        for situation in (FRESH, TURN):
            title = f"{slip.told[0].upper()}{slip.told[1:]} {situation.told} is answered with an error"
            found.append(case(slip.clause, f"{slip.slug}-{situation.name}", title, _slip(slip, situation)))
    for slip in NICKLESS:
        title = f"{slip.told[0].upper()}{slip.told[1:]} is answered with an error"
        found.append(case(slip.clause, slip.slug, title, _slip(slip, FRESH), alone=True))
    for situation in (TURN, ELSEWHERE, DRAWN, OUT, OVER):
        title = f"The status is told {situation.told}"
        found.append(case("6.7", f"status-{situation.name}", title, _unrefused(situation)))
    return found
