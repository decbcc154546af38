"""Judges a cell: the first departure from the protocol, tolerated or not, is charged; its consequences are not."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from croupier.conformance.conversation import Conversation, ConversationMonitor, DialogueLine, Fault
from croupier.conformance.matrix.cells import CellFinding, CellKind, ProgramEnd
from croupier.conformance.report.summary import END_NAMES, ShownLine, hexadecimal, show_line
from croupier.conformance.tap.connection import TappedConnection
from croupier.conformance.tap.transcript import safe_text, tolerance_sentences
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer

MAX_DIALOGUE_LINES: Final = 24
"""At most this many of the last lines of a dialogue are kept."""


def judge_cell(
    connections: Sequence[TappedConnection],
    server: ProgramEnd,
    client: ProgramEnd,
    goodbyes: Collection[object],
    new_strict: Callable[[], Conversation],
) -> CellFinding:
    """Return the finding about some conversations of a client with a server, and about the end of both programs.

    `goodbyes` are the messages with which either of them ends a conversation. `new_strict` makes a conversation that
    tolerates nothing.
    """
    for connection in connections:
        if connection.conversation.faults:
            return _broken_clause(connection.conversation, server, new_strict())
    for finding in _failures(connections, server, client, goodbyes):
        return _with_dialogue(connections, finding, new_strict())

    def tolerated(side: Peer) -> set[str]:
        return {clause for connection in connections for clause in connection.conversation.tolerated(side)}

    return CellFinding(
        CellKind.WELL,
        note="; ".join(tolerance_sentences(tolerated, END_NAMES)),
        dialogue=_dialogue(connections[-1].conversation) if connections else (),
    )


def _broken_clause(conversation: ConversationMonitor, server: ProgramEnd, strict: Conversation) -> CellFinding:
    fault = conversation.faults[0]
    side, violation = fault.verdict.party, fault.verdict.violation
    note = f"the {END_NAMES[side]} breaks {safe_text(str(violation))}"
    if server.has_crashed:
        note += f"; the server has ended ({server.description})"
    first = _departure_of_other(conversation.lines[: fault.line_count], strict, END_NAMES[side])
    if first is not None:
        return _charged(conversation, first, note)
    kind = CellKind.BROKE
    if side == HOUSE and server.has_crashed and violation.kind is FoundKind.CLOSED:
        kind = CellKind.CRASHED
    elif side == HOUSE and violation.kind is FoundKind.SILENCE:
        kind = CellKind.HUNG
    return CellFinding(kind, (END_NAMES[side],), violation.clause, note, _dialogue(conversation, fault.line_count))


def _with_dialogue(connections: Sequence[TappedConnection], finding: CellFinding, strict: Conversation) -> CellFinding:
    """A finding with its dialogue, or about an earlier departure of the other program, which has caused it."""
    if not connections:
        return finding
    conversation = connections[-1].conversation
    first = _departure_of_other(conversation.lines, strict, *finding.blame)
    if first is not None and finding.kind is not CellKind.CHATTY:
        return _charged(conversation, first, finding.note)
    return replace(finding, dialogue=_dialogue(conversation))


def _departure_of_other(lines: Sequence[DialogueLine], strict: Conversation, role: str) -> tuple[int, Fault] | None:
    """The first fault in these lines by a strict judge, after how many, if it is not of the program with this role."""
    for count, line in enumerate(lines, start=1):
        if faults := strict.on_data(line.side, line.data, line.at):
            return None if END_NAMES[faults[0].verdict.party] == role else (count, faults[0])
    return None


def _charged(conversation: ConversationMonitor, first: tuple[int, Fault], consequence: str) -> CellFinding:
    """The finding about a tolerated departure that has caused something worse at the other end."""
    line_count, fault = first
    who, violation = END_NAMES[fault.verdict.party], fault.verdict.violation
    note = f"the {who} departs first from {safe_text(str(violation))}; then {consequence}"
    return CellFinding(CellKind.BROKE, (who,), violation.clause, note, _dialogue(conversation, line_count))


def _failures(
    connections: Sequence[TappedConnection], server: ProgramEnd, client: ProgramEnd, goodbyes: Collection[object]
) -> Iterator[CellFinding]:
    """Yield what is wrong if no clause was broken; the worst comes first."""
    if server.has_crashed:
        yield _blamed(CellKind.CRASHED, HOUSE, f"has ended ({server.description})")
    for connection in connections:
        if not connection.has_reached_target and connection.note:
            yield _blamed(CellKind.UNHEARD, HOUSE, f"takes no connection any more ({connection.note})")
    if client.has_crashed:
        yield _blamed(CellKind.CRASHED, CLIENT, f"has ended ({client.description})")
    if not connections:
        reason = "within its time" if client.is_out_of_time else "before it ended"
        yield _blamed(CellKind.ABSENT, CLIENT, f"has not connected {reason}")
        return
    if client.is_out_of_time and not client.was_active:
        over = connections[-1].closed_sides[:1] == [HOUSE]
        yield _blamed(CellKind.HUNG, CLIENT, "goes on when the house has closed" if over else "sends nothing more")
    if not any(connection.conversation.games for connection in connections):
        if client.is_out_of_time:
            yield _blamed(CellKind.IDLE, CLIENT, "has not finished a game within its time")
        yield _blamed(
            CellKind.IDLE, _ended_by(connections[-1], goodbyes), "has ended every conversation before a game was over"
        )
    for side, end in ((HOUSE, server), (CLIENT, client)):
        if end.has_written_too_much:
            yield _blamed(CellKind.CHATTY, side, "has written more output than --max-output-bytes allows")


def _blamed(kind: CellKind, side: Peer, note: str) -> CellFinding:
    return CellFinding(kind, (END_NAMES[side],), note=f"the {END_NAMES[side]} {note}")


def _ended_by(connection: TappedConnection, goodbyes: Collection[object]) -> Peer:
    """The side that ended a conversation: with the first goodbye, or else the first close; by default the client."""
    goodbye_sides = (line.side for line in connection.conversation.lines if line.message in goodbyes)
    return next(goodbye_sides, connection.closed_sides[0] if connection.closed_sides else CLIENT)


def _dialogue(conversation: ConversationMonitor, line_count: int | None = None) -> tuple[ShownLine, ...]:
    """The last of the first `line_count` lines, or of all of them and the beginnings of messages after them."""
    end = len(conversation.lines) if line_count is None else line_count
    lines = [show_line(line) for line in conversation.lines[max(0, end - MAX_DIALOGUE_LINES) : end]]
    if end == len(conversation.lines):
        unread = ((END_NAMES[side], conversation.incomplete(side)) for side in (CLIENT, HOUSE))
        lines += [ShownLine(who, "… no whole message", hexadecimal(rest)) for who, rest in unread if rest]
    return tuple(lines)
