"""The matrix as an HTML page: every cell links to its verdict and dialogue, without scripts."""

from collections.abc import Iterator, Mapping
from typing import Final

from croupier.conformance.matrix.cells import LOOKS, Cell, CellKind
from croupier.conformance.matrix.standings import Results
from croupier.core.html_page import html_text, page
from croupier.core.plural import format_count
from croupier.version import __version__

STYLESHEET: Final = """
body { max-width: none; margin: 2rem; }
h2 { margin-top: 2.5rem; }
td, th { border: 1px solid var(--line); padding: 0.25rem 0.5rem; }
thead th { vertical-align: bottom; }
th { text-align: left; font-weight: normal; white-space: nowrap; } td, th.client { text-align: center; }
th.client span { display: inline-block; writing-mode: vertical-rl; transform: rotate(180deg); }
dd, .cell p { white-space: pre-wrap; overflow-wrap: anywhere; }
td a { text-decoration: none; display: block; white-space: nowrap; } td.none { opacity: 0.4; }
.cell { display: none; position: fixed; inset: 5vh 5vw; overflow: auto; padding: 1rem 1.5rem; z-index: 1;
  background: var(--paper); border: 2px solid currentColor; border-radius: 0.5rem; }
.cell:target { display: block; } .close { float: right; }
pre .wrong { font-weight: bold; text-decoration: underline wavy; }
@media print { .cell { display: block; position: static; break-inside: avoid; } .close { display: none; } }
"""


def cell_label(cell: Cell) -> str:
    """A cell in a few characters: who is to blame, its sign, and the section of the broken clause."""
    finding = cell.finding
    who = "".join(name[0].upper() for name in sorted(finding.blame, reverse=True))
    section = finding.clause.rpartition("-")[2] if finding.kind is CellKind.BROKE else ""
    return f"{who}{LOOKS[finding.kind].sign}{section}"


def legend() -> Iterator[str]:
    """The meaning of the signs."""
    yield from (f"{LOOKS[kind].sign} {kind.value}" for kind in CellKind)
    yield "S the server's fault"
    yield "C the client's fault"


def html(results: Results) -> str:
    """The page of a class."""
    more = "" if results.is_complete else ", more to come"
    title = f"{len(results.submissions)} submissions, {len(results.cells):,} cells{more}"
    rules = " ".join(look.rule(f".{kind.name}") for kind, look in LOOKS.items())
    return page(title, f"{STYLESHEET}{rules}", _body(results))


def _body(results: Results) -> Iterator[str]:
    signs = html_text("; ".join(legend()))
    yield f"<p>{signs}. A row is a server, a column a client. croupier {html_text(__version__)}.</p>"
    numbers = {cell.position: number for number, cell in enumerate(results.cells)}
    for room, title in results.titles.items():
        yield f"<h2>{html_text(title)}</h2>"
        yield from _table(results, room, numbers)
    if faults := _faults(results):
        yield "<h2>Cannot be used</h2>\n<dl>"
        yield from (f"<dt>{html_text(each)}</dt><dd>{html_text(fault)}</dd>" for each, fault in faults.items())
        yield "</dl>"
    for number, cell in enumerate(results.cells):
        yield from _cell(number, cell, results.names)


def _faults(results: Results) -> Mapping[str, str]:
    """What is wrong with the submissions that cannot be used, by their names; also if that was found by using them."""
    found = {each.id: [each.faults] for each in results.submissions if each.faults}
    for cell in results.cells:
        if cell.finding.kind is CellKind.UNUSABLE:
            notes = found.setdefault(cell.server if "server" in cell.finding.blame else cell.client, [])
            if cell.finding.note not in "; ".join(notes):
                notes.append(cell.finding.note)
    return {results.names.get(each, each): "; ".join(notes) for each, notes in sorted(found.items())}


def _table(results: Results, room: str, numbers: Mapping[tuple[str, str, str], int]) -> Iterator[str]:
    found = {cell.position: cell for cell in results.cells if cell.room == room}
    servers = [each for each in results.submissions if any(server == each.id for _, server, _ in found)]
    clients = [each for each in results.submissions if any(client == each.id for _, _, client in found)]
    yield '<div class="wide"><table>\n<thead><tr><th>server \\ client</th><th>score</th>'
    yield "".join(f'<th class="client" scope="col"><span>{html_text(each.name)}</span></th>' for each in clients)
    yield "</tr></thead>\n<tbody>"
    for server in servers:
        row = f'<tr><th scope="row">{html_text(server.name)}</th><td>{results.score(server, "server", room)}</td>'
        for client in clients:
            place = (room, server.id, client.id)
            row += _entry(found[place], numbers[place]) if place in found else '<td class="none">?</td>'
        yield row + "</tr>"
    yield "<tr><th>score</th><td></td>"
    yield "".join(f"<td>{results.score(each, 'client', room)}</td>" for each in clients)
    yield "</tr>\n</tbody></table></div>"


def _entry(cell: Cell, number: int) -> str:
    finding = cell.finding
    note = html_text(finding.note or f"{finding.kind.value}: {format_count(cell.games, 'game')}")
    label = html_text(cell_label(cell))
    return f'<td><a class="{finding.kind.name}" href="#c{number}" title="{note}">{label}</a></td>'


def _cell(number: int, cell: Cell, names: Mapping[str, str]) -> Iterator[str]:
    finding, games = cell.finding, format_count(cell.games, "game")
    server, client = (html_text(names.get(each, each)) for each in (cell.server, cell.client))
    note = finding.note or f"{games} {'is' if cell.games == 1 else 'are'} over, and nothing is broken"
    verdict = f'<strong class="{finding.kind.name}">{LOOKS[finding.kind].sign} {finding.kind.value}</strong>'
    counts = f"{format_count(cell.connections, 'conversation')}, {format_count(cell.messages, 'message')}"
    yield f'<section class="cell" id="c{number}"><a class="close" href="#">close</a>'
    yield f"<h2>{html_text(cell.room)}: client of {client} at server of {server}</h2>"
    yield f"<p>{verdict}: {html_text(note)}.</p>"
    yield f"<p>{games}, {counts}, {cell.seconds:.1f} s.</p>"
    if finding.dialogue:
        lines = [html_text(str(line)) for line in finding.dialogue]
        if finding.clause:
            lines[-1] = f"<span class='wrong'>{lines[-1]}</span>"
        yield f"<pre>{'\n'.join(lines)}</pre>"
    if cell.stderr:
        yield f"<pre>{html_text(cell.stderr)}</pre>"
    yield "</section>"
