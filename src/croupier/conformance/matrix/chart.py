"""The matrix as an HTML page: every cell links to its verdict and dialogue, without scripts."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from croupier.conformance.matrix.cells import SIGNS, Cell, CellKind
from croupier.conformance.matrix.standings import score
from croupier.conformance.matrix.submission import Submission
from croupier.core.plural import format_count
from croupier.version import __version__

COLOURS: Final[Mapping[CellKind, tuple[str, str]]] = {
    CellKind.WELL: ("#0060a8", "#6fb8ff"),
    CellKind.BROKE: ("#b03a00", "#ff8f57"),
    CellKind.HUNG: ("#8a2a73", "#f09bd6"),
    CellKind.CRASHED: ("#a00020", "#ff8a8a"),
    CellKind.UNHEARD: ("#5d5d5d", "#a8a8a8"),
    CellKind.ABSENT: ("#5d5d5d", "#a8a8a8"),
    CellKind.IDLE: ("#7a5c00", "#e8c454"),
    CellKind.CHATTY: ("#006b5b", "#5fd3bd"),
    CellKind.UNUSABLE: ("#5d5d5d", "#a8a8a8"),
}
"""The colour of each kind in light and in dark mode."""

STYLESHEET: Final = """
:root { color-scheme: light dark; --line: #8886; --paper: light-dark(#fff, #181818); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; background: var(--paper); }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } .wide { overflow-x: auto; }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: 0.25rem 0.5rem; }
thead th { vertical-align: bottom; } thead th.client { writing-mode: vertical-rl; transform: rotate(180deg); }
th { text-align: left; font-weight: normal; white-space: nowrap; } td { text-align: center; }
td a { text-decoration: none; display: block; white-space: nowrap; } td.none { opacity: 0.4; }
.cell { display: none; position: fixed; inset: 5vh 5vw; overflow: auto; padding: 1rem 1.5rem; z-index: 1;
  background: var(--paper); border: 2px solid currentColor; border-radius: 0.5rem; }
.cell:target { display: block; } .close { float: right; }
pre { font: 0.875rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre .data { opacity: 0.7; } pre .wrong { font-weight: bold; text-decoration: underline wavy; }
@media print { .cell { display: block; position: static; break-inside: avoid; } .close { display: none; } }
"""


def cell_label(cell: Cell) -> str:
    """A cell in a few characters: who is to blame, its sign, and the section of the broken clause."""
    finding = cell.finding
    who = "".join(name[0].upper() for name in sorted(finding.blame, reverse=True))
    section = finding.clause.rpartition("-")[2] if finding.kind is CellKind.BROKE else ""
    return f"{who}{SIGNS[finding.kind]}{section}"


def legend() -> Iterator[str]:
    """The meaning of the signs."""
    yield from (f"{SIGNS[kind]} {kind.value}" for kind in CellKind)
    yield "S the server's fault"
    yield "C the client's fault"


def html(
    cells: Sequence[Cell], submissions: Sequence[Submission], rooms: Mapping[str, str], *, is_complete: bool
) -> str:
    """The page. `rooms` maps names to titles; `is_complete`: no cell is left to play."""
    return "\n".join(_page(cells, submissions, rooms, is_complete=is_complete)) + "\n"


def _page(
    cells: Sequence[Cell], submissions: Sequence[Submission], rooms: Mapping[str, str], *, is_complete: bool
) -> Iterator[str]:
    title = f"{len(submissions)} submissions, {len(cells):,} cells{'' if is_complete else ', more to come'}"
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{STYLESHEET}{''.join(map(_rule, CellKind))}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    yield f"<p>{escape('; '.join(legend()))}. A row is a server, a column a client. croupier {escape(__version__)}.</p>"
    numbers = {cell.position: number for number, cell in enumerate(cells)}
    for room, name in rooms.items():
        own = [cell for cell in cells if cell.room == room]
        yield f"<h2>{escape(name)}</h2>"
        yield from _table(room, own, submissions, numbers)
    if faults := [each for each in submissions if each.faults]:
        yield "<h2>Cannot be used</h2>\n<dl>"
        yield from (f"<dt>{escape(each.id)}</dt><dd>{escape(each.faults)}</dd>" for each in faults)
        yield "</dl>"
    names = {each.id: each.name for each in submissions}
    for number, cell in enumerate(cells):
        yield from _cell(number, cell, names)
    yield "</body>\n</html>"


def _rule(kind: CellKind) -> str:
    light, dark = COLOURS[kind]
    return f".{kind.name} {{ color: light-dark({light}, {dark}); }} "


def _table(
    room: str, cells: Sequence[Cell], submissions: Sequence[Submission], numbers: Mapping[tuple[str, str, str], int]
) -> Iterator[str]:
    servers = [each for each in submissions if any(cell.server == each.id for cell in cells)]
    clients = [each for each in submissions if any(cell.client == each.id for cell in cells)]
    found = {cell.position: cell for cell in cells}
    yield '<div class="wide"><table>\n<thead><tr><th>server \\ client</th><th>score</th>'
    yield (
        "".join(f'<th class="client" scope="col">{escape(each.name)}</th>' for each in clients)
        + "</tr></thead>\n<tbody>"
    )
    for server in servers:
        row = f'<tr><th scope="row">{escape(server.name)}</th><td>{score(cells, server, "server", room)}</td>'
        for client in clients:
            place = (room, server.id, client.id)
            row += _entry(found[place], numbers[place]) if place in found else '<td class="none">?</td>'
        yield row + "</tr>"
    yield "<tr><th>score</th><td></td>"
    yield (
        "".join(f"<td>{score(cells, each, 'client', room)}</td>" for each in clients) + "</tr>\n</tbody></table></div>"
    )


def _entry(cell: Cell, number: int) -> str:
    note = escape(cell.finding.note or f"{cell.finding.kind.value}: {format_count(cell.games, 'game')}")
    return (
        f'<td><a class="{cell.finding.kind.name}" href="#c{number}" title="{note}">{escape(cell_label(cell))}</a></td>'
    )


def _cell(number: int, cell: Cell, names: Mapping[str, str]) -> Iterator[str]:
    finding = cell.finding
    server, client = (escape(names.get(each, each)) for each in (cell.server, cell.client))
    yield f'<section class="cell" id="c{number}"><a class="close" href="#">close</a>'
    yield f"<h2>{escape(cell.room)}: client of {client} at server of {server}</h2>"
    note = (
        escape(finding.note)
        or f"{format_count(cell.games, 'game')} {'is' if cell.games == 1 else 'are'} over, and nothing is broken"
    )
    yield f'<p><strong class="{finding.kind.name}">{SIGNS[finding.kind]} {finding.kind.value}</strong>: {note}.</p>'
    summary = ", ".join(
        (
            format_count(cell.games, "game"),
            format_count(cell.connections, "conversation"),
            format_count(cell.messages, "message"),
        )
    )
    yield f"<p>{summary}, {cell.seconds:.1f} s.</p>"
    if finding.dialogue:
        last = len(finding.dialogue) - 1 if finding.clause else -1
        lines = (
            f"<span{" class='wrong'" if at == last else ''}>{escape(f'{line.side:<6}')} "
            f"{'→' if line.side == 'client' else '←'} {escape(line.words)}</span>"
            f"{f"  <span class='data'>{line.data}</span>" if line.data else ''}"
            for at, line in enumerate(finding.dialogue)
        )
        yield f"<pre>{chr(10).join(lines)}</pre>"
    if cell.stderr:
        yield f"<pre>{escape(cell.stderr)}</pre>"
    yield "</section>"
