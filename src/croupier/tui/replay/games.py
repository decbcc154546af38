"""Games that are told without playing them again: Old Maid, games against a house, dealers' records, transcripts."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, convert

from croupier.core.plural import counted
from croupier.core.transcript import Line, Transcript
from croupier.rooms.oldmaid.cards import NAMES
from croupier.rooms.oldmaid.table.persistence import Record
from croupier.tui.replay.steps import Step, Story, columns


def of_oldmaid(record: Record, title: str) -> Story:
    """A game of Old Maid as its table has seen it: nobody knows what the players pass to each other."""
    return Story(title, [*_maids(record)])


def _maids(record: Record) -> Iterator[Step]:
    drawn, thrown, out = 0, [0] * len(record.nicks), dict[int, str]()

    def step(told: str) -> Step:
        rows = [["player", "pairs", ""]]
        rows += [[nick, str(thrown[seat]), out.get(seat, "")] for seat, nick in enumerate(record.nicks)]
        return Step(told, [*columns(rows), f"Cards in the deck: {len(NAMES) - drawn}"])

    yield step(f"{', '.join(record.nicks)} sit down.")
    for what, seat, *cards in record.course:
        if type(seat) is not int or not 0 <= seat < len(record.nicks):
            raise ValueError(f"found the seat {seat!r}; allowed: 0 to {len(record.nicks) - 1}")
        nick = record.nicks[seat]
        match what:
            case "drew":
                drawn += 1
                yield step(f"{nick} draws {' '.join(map(str, cards))}.")
            case "threw":
                thrown[seat] += 1
                yield step(f"{nick} throws {' and '.join(map(str, cards))} away.")
            case "out":
                out[seat] = "out"
                yield step(f"{nick} has no cards any more.")
            case "gone":
                out[seat] = "gone"
                yield step(f"{nick} is gone.")
            case _:
                raise ValueError(f"found {what!r} in a game of Old Maid; allowed: drew, threw, out, gone")
    yield step("The game is void." if record.void else f"The game is over: {record.ranking[-1]} has lost.")


class Game(Struct, frozen=True):
    """What is read of a game against a house, as `croupier hands` exports it."""

    room: str
    table: str
    number: int
    seat: int
    net: int
    cards: tuple[str, ...]
    done: tuple[str, ...]


def of_house(found: Mapping[str, Any]) -> Story:
    """A game against a house: its cards in the order of the deal, and what was done. Raises ValueError."""
    game = convert(found, Game)
    cards = f"The cards, in the order of the deal: {' '.join(game.cards)}."
    shows = [f"Cards: {' '.join(game.cards)}", f"The client has seat {game.seat}."]
    steps = [Step(cards, shows)]
    for at, deed in enumerate(game.done, start=1):
        steps.append(Step(f"{deed}.", [*shows, f"Done: {' '.join(game.done[:at])}"]))
    verb = f"wins {game.net}" if game.net > 0 else f"loses {-game.net}" if game.net else "neither wins nor loses"
    steps.append(Step(f"The client {verb}.", [*shows, f"Done: {' '.join(game.done)}"]))
    return Story(f"{game.room}/{game.table}/{game.number}", steps)


class Promise(Struct, frozen=True, tag_field="deal", tag="promise"):
    """Of a dealer's record: before the first hand."""

    room: str
    table: int
    commitment: str


class Hand(Struct, frozen=True, tag_field="deal", tag="hand"):
    """Of a dealer's record: a hand that is over."""

    room: str
    table: int
    hand: int
    cards: tuple[str, ...]
    net: int | tuple[int, ...]


class Seed(Struct, frozen=True, tag_field="deal", tag="seed"):
    """Of a dealer's record: the seed."""

    room: str
    table: int
    server_seed: str


class Missing(Struct, frozen=True, tag_field="deal", tag="missing"):
    """Of a dealer's record: what could not be written."""

    room: str
    tables: int = 0
    lines: int = 0


def of_deal(found: Mapping[str, Any]) -> Step:
    """A line of a dealer's record. Raises ValueError."""
    entry: Promise | Hand | Seed | Missing = convert(found, Promise | Hand | Seed | Missing)
    if isinstance(entry, Missing):
        lost = f"{counted(entry.tables, 'table')} and {counted(entry.lines, 'line')} of other tables"
        return Step(f"{entry.room}: {lost} are missing")
    place = f"{entry.room} table {entry.table}"
    if isinstance(entry, Promise):
        return Step(f"{place}: the dealer promises {entry.commitment[:16]}...")
    if isinstance(entry, Seed):
        return Step(f"{place}: the seed was {entry.server_seed[:16]}...")
    nets = " ".join(f"{each:+d}" for each in ((entry.net,) if isinstance(entry.net, int) else entry.net))
    return Step(f"{place}, hand {entry.hand}: {' '.join(entry.cards) or 'no card is shown'}; {nets}")


type Deed = Literal["left", "dropped", "settled", "pass", "halted"]

DEEDS: Final[Mapping[str, str]] = {
    "left": "{peer} hangs up.",
    "dropped": "The house ends the conversation with {peer}.",
    "settled": "A game is settled: {text} for {peer}.",
    "pass": "{text} seconds pass.",
    "halted": "The room closes{text}.",
}


def of_paper(paper: Transcript) -> Story:
    """A transcript: who says what, and what happens."""
    shows = [f"{name}: {value}" for name, value in paper.head.items() if name not in {"title", "clause"}]
    steps = [Step(f"{paper.title} ({', '.join(paper.clauses)})", shows)]
    steps += [Step(_line(line), shows) for line in paper.lines]
    return Story(paper.name, steps)


def _line(line: Line) -> str:
    if line.kind == ">":
        return f"{line.peer} says {line.text}"
    if line.kind == "<":
        return f"{line.peer} hears {line.text}"
    return DEEDS[line.kind].format(peer=line.peer, text=line.text)
