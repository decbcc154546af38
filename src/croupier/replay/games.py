"""Replays of records that list what happened: Old Maid, games against a house, deal records, transcripts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import convert
from msgspec.structs import replace

from croupier.core.deal_record import DealGap, DealPromise, DealRecordEntry, DealSeed
from croupier.core.plural import format_count
from croupier.core.presentation import SeatStatus, SeatView, TableView, Text, listed, text, verbatim
from croupier.core.rules import Seat
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.recording.game_records import GameRecord
from croupier.replay.house_games import actor_of_move, describe_move, house_result, house_table
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.presenter import OldMaidPresenter
from croupier.rooms.oldmaid.table.persistence import ActionKind, OldMaidRecord

HOUSE_GAME_PARTIES: Final = ("player", "house")

WITHDRAWALS: Final[Mapping[str, Text]] = {
    "out": text("{name} has no cards left."),
    "gone": text("{name} is gone."),
}
"""How a player of Old Maid leaves the game, by the action."""


def oldmaid_replay(record: OldMaidRecord, title: str) -> GameReplay:
    """Return a game of Old Maid as its table saw it; the cards that players pass to each other are not recorded."""
    return GameReplay(title, [*_oldmaid_steps(record)], record.nicks)


def _oldmaid_steps(record: OldMaidRecord) -> Iterator[ReplayStep]:
    game = OldMaidGame(record.nicks)

    def step(note: Text, actor: str = "") -> ReplayStep:
        return ReplayStep(note, replace(game.table, announcements=(note,)), actor)

    yield step(text("{players} sit down.", players=listed(map(verbatim, record.nicks))))
    for action, seat, *cards in record.course:
        if type(seat) is not int or not 0 <= seat < len(record.nicks):
            raise ValueError(f"found the seat {seat!r}; allowed: 0 to {len(record.nicks) - 1}")
        nick = record.nicks[seat]
        match action:
            case "drew":
                note = text("{name} draws {cards}.", cards=" ".join(map(str, cards)))
            case "threw":
                note = text("{name} discards {cards}.", cards=" and ".join(map(str, cards)))
            case "out" | "gone":
                note = WITHDRAWALS[action]
            case _:
                raise ValueError(f"found {action!r} in a game of Old Maid; allowed: drew, threw, out, gone")
        game.follow(action, seat)
        yield step(note.fill(name=verbatim(nick)), nick)
    yield step(oldmaid_result(None if record.void else record.ranking[-1]))


class OldMaidGame:
    """The public state of a game of Old Maid: the cards drawn and pairs laid down by seat, and the players out or away.

    Players pass cards to each other directly, so after the deal nobody but they know how many cards each of them has.
    """

    def __init__(self, nicks: Sequence[str]) -> None:
        self.nicks = nicks
        self.drawn_counts = [0] * len(nicks)
        self.pair_counts = [0] * len(nicks)
        self.states: dict[Seat, SeatStatus] = {}

    def follow(self, action: ActionKind, seat: Seat) -> None:
        """Note an action of a seat."""
        match action:
            case "drew":
                self.drawn_counts[seat] += 1
            case "threw":
                self.pair_counts[seat] += 1
            case "out":
                self.states.setdefault(seat, "out")
            case "gone":
                self.states.setdefault(seat, "away")

    @property
    def table(self) -> TableView:
        """The table as everybody may see it."""
        seats = (
            SeatView(
                name=verbatim(nick),
                caption=text("pairs laid down: {pairs}", pairs=self.pair_counts[seat]),
                status=self.states.get(seat, ""),
            )
            for seat, nick in enumerate(self.nicks)
        )
        status = text("Cards in the deck: {count}", count=len(CARD_NAMES) - sum(self.drawn_counts))
        return TableView(title=OldMaidPresenter.title, seats=tuple(seats), status=status)


def oldmaid_result(loser: str | None) -> Text:
    """Return how a game of Old Maid has ended: with a loser, or void."""
    if loser is None:
        return text("The game is void.")
    return text("The game is over: {name} has lost.", name=verbatim(loser))


def house_game_replay(game: GameRecord) -> GameReplay:
    """Return a game against a house: its cards in the order of the deal, and its actions."""
    title = f"{game.room}/{game.table}/{game.number}"
    head = [f"The client plays as P_{game.seat + 1}."] if game.room == "kuhn" else []  # a bank has one seat
    return GameReplay(title, [*_house_steps(game)], HOUSE_GAME_PARTIES, head)


def _house_steps(game: GameRecord) -> Iterator[ReplayStep]:
    def step(note: Text, done_count: int, actor: str = "", *, is_over: bool = False) -> ReplayStep:
        table = house_table(game, done_count, is_over=is_over)
        return ReplayStep(note, table and replace(table, announcements=(note,)), actor)

    yield step(text("Cards, in the order of the deal: {cards}.", cards=" ".join(game.cards)), 0)
    for at in range(1, len(game.done) + 1):
        yield step(describe_move(game, at), at, actor_of_move(game, at))
    yield step(house_result(game.net), len(game.done), is_over=True)


def deal_step(fields: Mapping[str, Any]) -> ReplayStep:
    """Return a line of a deal record as a step. Raises ValueError."""
    entry: DealRecordEntry = convert(fields, DealRecordEntry)
    if isinstance(entry, DealGap):
        lost = f"{format_count(entry.tables, 'table')} and {format_count(entry.lines, 'line')} of other tables"
        return ReplayStep(f"{entry.room}: {lost} are missing")
    place = f"{entry.room} table {entry.table}"
    if isinstance(entry, DealPromise):
        return ReplayStep(f"{place}: the dealer commits to {entry.commitment[:16]}...")
    if isinstance(entry, DealSeed):
        return ReplayStep(f"{place}: the seed was {entry.server_seed[:16]}...")
    nets = " ".join(f"{each:+d}" for each in ((entry.net,) if isinstance(entry.net, int) else entry.net))
    return ReplayStep(f"{place}, hand {entry.hand}: {' '.join(entry.cards) or 'no card is shown'}; {nets}")


ACTION_TEXTS: Final = {
    "left": text("{peer} disconnects."),
    "dropped": text("The house disconnects {peer}."),
    "settled": text("A game is settled: {text} for {peer}."),
    "pass": text("{text} seconds pass."),
    "halted": text("The room closes{text}."),
}
"""What happens in the lines of a transcript that are no messages."""


def transcript_replay(transcript: Transcript) -> GameReplay:
    """Return a transcript as a replay: its messages and events."""
    head = [f"{name}: {value}" for name, value in transcript.head.items() if name not in {"title", "clause"}]
    steps = [ReplayStep(f"{transcript.title} ({', '.join(transcript.clauses)})")]
    steps += [ReplayStep(line_text(line)) for line in transcript.lines]
    return GameReplay(transcript.name, steps, head=head)


def line_text(line: TranscriptLine) -> Text:
    """Describe a line of a transcript."""
    match line.kind:
        case ">":
            described = text("{peer} sends {text}")
        case "<":
            described = text("{peer} receives {text}")
        case kind:
            described = ACTION_TEXTS[kind]
    return described.fill(peer=line.peer, text=line.text)
