"""The pages of a replay: what the templates show of it at each step."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from croupier.core.linear import purse_and_score, table_content
from croupier.core.presentation import TableView, Text, new_items, sentences, text, verbatim
from croupier.core.transcript import TranscriptLine
from croupier.replay.games import ACTION_TEXTS
from croupier.web.frames import FrameView, sender_name

CLIENT_TEXTS: Final = {**ACTION_TEXTS, "settled": text("The game is settled: {text} for you.")}
"""What happens in the lines that are no messages, if there is one client."""

EVENT_NOTATIONS: Final = {
    "left": "* left {peer}",
    "dropped": "* dropped {peer}",
    "settled": "* settled {peer} {text}",
    "pass": "* {text} seconds pass",
    "halted": "* halted{text}",
}
"""How transcripts write these lines."""


class RecordedMessage(NamedTuple):
    """A message that is a step of a recorded game, or a part of one. The bytes are empty if they are not recorded.

    It is sent by the player who acts, or if it `is_reply` by the house, the server or the table.
    """

    text: str
    data: bytes
    clause: str = ""
    is_reply: bool = False


type StepMessages = Mapping[int, Sequence[RecordedMessage]]
"""The messages of the steps of a recorded game, by the number of the step."""


class Moment(Struct, frozen=True):
    """One step of a replay: a message, an event or a move, and the table after it. A move has no text but its `note`.

    `party` is the index of who sent it among the parties of the replay, None for an event without a sender. `at` is its
    place on the time-line, `note` what it means.
    """

    frame: FrameView
    party: int | None
    at: float
    note: Text | None
    table: TableView


class Mark(Struct, frozen=True):
    """A dot on the time-line; see `Moment`."""

    party: int | None
    at: float
    text: str


class ReplayPage(Struct, frozen=True, kw_only=True):
    """A recorded game or a transcript, from the table before its first step.

    `parties` are the senders, in the order of the rows of the time-line. `has_messages` is false for moves, which have
    no bytes; `remark` says what the record leaves open. `deal` is the address of the page on which the deal can be
    verified, "" if it cannot be.
    """

    room: str
    title: str
    parties: Sequence[str]
    start: TableView
    moments: Sequence[Moment]
    start_note: Text | None = None
    has_messages: bool = True
    remark: Text | None = None
    deal: str = ""

    def table(self, step: int) -> TableView:
        """Return the table after a number of steps."""
        return self.moments[step - 1].table if step else self.start

    def note(self, step: int) -> Text | None:
        """Return what the last of a number of steps means."""
        return self.moments[step - 1].note if step else self.start_note

    def context(self, step: int, translate: Callable[[Text], str]) -> Mapping[str, Any]:
        """Return the variables of the templates after a number of steps."""
        frames = [_frame(moment, number, translate) for number, moment in enumerate(self.moments, start=1)]
        return {
            "title": self.title,
            "deal": self.deal,
            "has_messages": self.has_messages,
            "remark": self.remark,
            "table": self.table(step),
            "frames": frames,
            "step": step,
            "steps": len(self.moments),
            "parties": [*map(sender_name, self.parties)],
            "marks": [
                Mark(moment.party, moment.at, frame.text) for moment, frame in zip(self.moments, frames, strict=True)
            ],
            "note": self.note(step),
            "clause": self.moments[step - 1].frame.clause if step else "",
        }

    def lines(self) -> Iterator[Text]:
        """Yield the record as lines of text: each step, its message, what it means, and the table if it has changed."""
        yield verbatim(self.title)
        if self.remark is not None:
            yield self.remark
        table: TableView | None = None
        for step in range(len(self.moments) + 1):
            yield from (verbatim(""), text("Step {number} of {count}", number=step, count=len(self.moments)))
            if step:
                yield from _message_lines(self.moments[step - 1].frame)
            if (note := self.note(step)) is not None:
                yield note
            if (after := self.table(step)) != table:
                table = after
                yield from table_content(table)
                yield from purse_and_score(table)


def _message_lines(frame: FrameView) -> Iterator[Text]:
    """Yield a message with its clause; nothing for a move."""
    if frame.text:
        details = verbatim(f"{frame.text} ({frame.clause})" if frame.clause else frame.text)
        yield text("{name}: {details}", name=frame.sender_name, details=details) if frame.sender else details


def _frame(moment: Moment, number: int, translate: Callable[[Text], str]) -> FrameView:
    """Return the frame of a moment, with what it means in place of a text that it does not have."""
    frame_text = moment.frame.text
    if not frame_text and moment.note is not None:
        frame_text = translate(moment.note)
    return replace(moment.frame, text=frame_text, number=number)


def note_between(before: TableView, after: TableView) -> Text | None:
    """Return in one text what has been announced between two views of a table, and how the game has ended if it has."""
    added = [*new_items(before.announcements, after.announcements)]
    if after.is_over and not before.is_over and after.status is not None:
        added.append(after.status)
    return sentences(added)


class Followed(NamedTuple):
    """What a line of a transcript shows: its text and bytes, the clause, what it means, and the table after it."""

    text: str
    data: bytes
    clause: str
    note: Text | None
    table: TableView


def follow_event(line: TranscriptLine, table: TableView, texts: Mapping[str, Text] = ACTION_TEXTS) -> Followed:
    """Return what a line shows that is no message: one of the `ACTION_TEXTS`."""
    notation = EVENT_NOTATIONS[line.kind].format(peer=line.peer, text=line.text)
    return Followed(notation, b"", "", texts[line.kind].fill(peer=line.peer, text=line.text), table)
