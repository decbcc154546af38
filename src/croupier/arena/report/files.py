"""The files of a report: tables for other programs, plots, and the page."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Final

from msgspec import to_builtins

from croupier.arena.report.page import html
from croupier.arena.report.plots import PLOTS, draw
from croupier.arena.report.summary import Report

PAGE_FILE: Final = "results.html"
PAIRS_FILE: Final = "results.csv"
STANDINGS_FILE: Final = "standings.csv"

PAIR_COLUMNS: Final = ("a", "b", "mean", "low", "high", "hands", "unit", "status")
METHOD_COLUMNS: Final = ("duplicate", "adjust", "statistic", "interval", "alpha")


def write_report(folder: Path, report: Report) -> None:
    """Write the page, the tables and the plots. Raises OSError, and ModuleNotFoundError without the extra `arena`."""
    (folder / PAIRS_FILE).write_text(pairs_csv(report), encoding="utf-8", newline="")
    (folder / STANDINGS_FILE).write_text(standings_csv(report), encoding="utf-8", newline="")
    for plot in PLOTS:
        (folder / f"{plot.name}.svg").write_bytes(draw(report, plot, "svg"))
        (folder / f"{plot.name}.png").write_bytes(draw(report, plot, "png"))
    (folder / PAGE_FILE).write_text(html(report), encoding="utf-8")


def pairs_csv(report: Report) -> str:
    """The results of all pairings as CSV (RFC 4180). The columns are the names in JSON."""
    rows = []
    for pair in report.result.pairs:
        row = {name: getattr(pair, name) for name in PAIR_COLUMNS}
        row |= {name: getattr(pair.method, name) for name in METHOD_COLUMNS}
        row |= {f"faults_{name}": count for name, count in pair.fault_counts.items()}
        rows.append(row)
    return _csv((*PAIR_COLUMNS, *METHOD_COLUMNS, "faults_a", "faults_b"), rows)


def standings_csv(report: Report) -> str:
    """The places of all bots as CSV, the first bot first."""
    rows = [{"place": place, **to_builtins(each)} for place, each in enumerate(report.standings, 1)]
    return _csv([*rows[0]], rows)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    output = StringIO()
    writer = csv.DictWriter(output, columns)
    writer.writeheader()
    writer.writerows(rows)
    return output.getvalue()
