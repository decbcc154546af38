"""Games that are told without playing them again: Old Maid, games against a house, dealers' records, transcripts."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, convert

from croupier.core.plural import format_count
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.tui.replay.steps import GameReplay, ReplayStep, align_columns


def oldmaid_replay(record: OldMaidRecord, title: str) -> GameReplay:
    """A game of Old Maid as its table has seen it: nobody knows what the players pass to each other."""
    return GameReplay(title, [*_oldmaid_steps(record)])


def _oldmaid_steps(record: OldMaidRecord) -> Iterator[ReplayStep]:
    drawn, thrown, out = 0, [0] * len(record.nicks), dict[int, str]()

    def step(told: str) -> ReplayStep:
        rows = [["player", "pairs", ""]]
        rows += [[nick, str(thrown[seat]), out.get(seat, "")] for seat, nick in enumerate(record.nicks)]
        return ReplayStep(told, [*align_columns(rows), f"Cards in the deck: {len(CARD_NAMES) - drawn}"])

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


class ParsedGame(Struct, frozen=True):
    """What is read of a game against a house, as `croupier hands` exports it."""

    room: str
    table: str
    number: int
    seat: int
    net: int
    cards: tuple[str, ...]
    done: tuple[str, ...]


def house_game_replay(fields: Mapping[str, Any]) -> GameReplay:
    """A game against a house: its cards in the order of the deal, and what was done. Raises ValueError."""
    game = convert(fields, ParsedGame)
    cards = f"The cards, in the order of the deal: {' '.join(game.cards)}."
    shows = [f"Cards: {' '.join(game.cards)}", f"The client has seat {game.seat}."]
    steps = [ReplayStep(cards, shows)]
    for at, deed in enumerate(game.done, start=1):
        steps.append(ReplayStep(f"{deed}.", [*shows, f"Done: {' '.join(game.done[:at])}"]))
    verb = f"wins {game.net}" if game.net > 0 else f"loses {-game.net}" if game.net else "neither wins nor loses"
    steps.append(ReplayStep(f"The client {verb}.", [*shows, f"Done: {' '.join(game.done)}"]))
    return GameReplay(f"{game.room}/{game.table}/{game.number}", steps)


class ParsedPromise(Struct, frozen=True, tag_field="deal", tag="promise"):
    """Of a dealer's record: before the first hand."""

    room: str
    table: int
    commitment: str


class ParsedHand(Struct, frozen=True, tag_field="deal", tag="hand"):
    """Of a dealer's record: a hand that is over."""

    room: str
    table: int
    hand: int
    cards: tuple[str, ...]
    net: int | tuple[int, ...]


class ParsedSeed(Struct, frozen=True, tag_field="deal", tag="seed"):
    """Of a dealer's record: the seed."""

    room: str
    table: int
    server_seed: str


class ParsedMissing(Struct, frozen=True, tag_field="deal", tag="missing"):
    """Of a dealer's record: what could not be written."""

    room: str
    tables: int = 0
    lines: int = 0


def deal_step(fields: Mapping[str, Any]) -> ReplayStep:
    """A line of a dealer's record. Raises ValueError."""
    entry: ParsedPromise | ParsedHand | ParsedSeed | ParsedMissing = convert(
        fields, ParsedPromise | ParsedHand | ParsedSeed | ParsedMissing
    )
    if isinstance(entry, ParsedMissing):
        lost = f"{format_count(entry.tables, 'table')} and {format_count(entry.lines, 'line')} of other tables"
        return ReplayStep(f"{entry.room}: {lost} are missing")
    place = f"{entry.room} table {entry.table}"
    if isinstance(entry, ParsedPromise):
        return ReplayStep(f"{place}: the dealer promises {entry.commitment[:16]}...")
    if isinstance(entry, ParsedSeed):
        return ReplayStep(f"{place}: the seed was {entry.server_seed[:16]}...")
    nets = " ".join(f"{each:+d}" for each in ((entry.net,) if isinstance(entry.net, int) else entry.net))
    return ReplayStep(f"{place}, hand {entry.hand}: {' '.join(entry.cards) or 'no card is shown'}; {nets}")


type TranscriptActionKind = Literal["left", "dropped", "settled", "pass", "halted"]

ACTION_TEXTS: Final[Mapping[str, str]] = {
    "left": "{peer} hangs up.",
    "dropped": "The house ends the conversation with {peer}.",
    "settled": "A game is settled: {text} for {peer}.",
    "pass": "{text} seconds pass.",
    "halted": "The room closes{text}.",
}


def transcript_replay(transcript: Transcript) -> GameReplay:
    """A transcript: who says what, and what happens."""
    shows = [f"{name}: {value}" for name, value in transcript.head.items() if name not in {"title", "clause"}]
    steps = [ReplayStep(f"{transcript.title} ({', '.join(transcript.clauses)})", shows)]
    steps += [ReplayStep(_line_text(line), shows) for line in transcript.lines]
    return GameReplay(transcript.name, steps)


def _line_text(line: TranscriptLine) -> str:
    if line.kind == ">":
        return f"{line.peer} says {line.text}"
    if line.kind == "<":
        return f"{line.peer} hears {line.text}"
    return ACTION_TEXTS[line.kind].format(peer=line.peer, text=line.text)
