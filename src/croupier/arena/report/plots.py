"""The plots of a report, with matplotlib (the extra `arena`)."""

from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import cycle, islice
from math import ceil
from re import DOTALL, findall, sub
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from croupier.arena.report.curves import Point, bankroll
from croupier.arena.report.summary import Report
from croupier.core.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#010203"
"""The colour of text and axes, a black that nothing else has: on a page it becomes the colour of the text there."""

BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
COLOURS: Final = (BLUE, VERMILION, "#009E73", "#CC79A7", INK, "#E69F00", "#56B4E9")
"""Colours of M. Okabe and K. Ito, which people with any colour vision can tell apart; those of low contrast last."""

LINES: Final = ("-", "--", "-.", ":")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
"""Curves differ in their lines and markers, too: for prints in grey, and more curves than colours."""

MARKERS_PER_CURVE: Final = 8
PANEL_INCHES: Final = (6.0, 3.6)
PANELS_PER_ROW: Final = 2
MAX_HAND_TICKS: Final = 5
MAX_PANELS: Final = 12
MAX_NAME_CHARS: Final = 40
DOTS_PER_INCH: Final = 144

ALL_STROKES: Final = 'stroke-linejoin="round" stroke-linecap="butt"'
"""What the style sheet of matplotlib's files says of all elements."""


class Style(NamedTuple):
    """The look of a curve."""

    colour: str
    line: str
    marker: str


def styles(count: int) -> Sequence[Style]:
    """Looks that differ from each other.

    >>> len(set(styles(28)))
    28
    """
    return [Style(*each) for each in islice(zip(cycle(COLOURS), cycle(LINES), cycle(MARKERS)), count)]


def draw(report: Report, plot: "Plot", form: Literal["svg", "png"], *, is_transparent: bool = False) -> bytes:
    """A plot as a file, with one ink, text as text, and no formulas in the names of bots.

    Raises ModuleNotFoundError if matplotlib is not installed.
    """
    from matplotlib import rc_context

    fixed: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": plot.name, "text.parse_math": False}
    inks = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
    look = {"font.size": 11, "axes.grid": True, "grid.alpha": 0.2, **dict.fromkeys(inks, INK)}
    output, metadata = BytesIO(), {"Date": None} if form == "svg" else None
    with rc_context(fixed | look):
        plot.make(report).savefig(output, format=form, dpi=DOTS_PER_INCH, transparent=is_transparent, metadata=metadata)
    return output.getvalue()


def inline(report: Report, plot: "Plot") -> str:
    """A plot as an element of a page, transparent and in the colour of its text."""
    text = draw(report, plot, "svg", is_transparent=True).decode()
    element = sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=DOTALL)
    return _without_styles(element).replace(INK, "currentColor")


def _without_styles(svg: str) -> str:
    """An element of SVG with attributes in place of styles, which a content security policy may forbid.

    Ids that nothing in it refers to are removed: two plots on a page have the same ones.
    """
    svg = sub(r"<style.*?</style>", "", svg, flags=DOTALL)
    svg = svg.replace("<svg ", f"<svg {ALL_STROKES} ", 1)
    svg = sub(r' style="([^"]*)"', lambda found: _attributes(found[1]), svg)
    known = {*findall(r'(?:href="#|url\(#)([^")]+)', svg)}
    return sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in known else "", svg)


def _attributes(style: str) -> str:
    """The declarations of a style as attributes.

    >>> _attributes("fill: none; stroke-width: 0.8")
    ' fill="none" stroke-width="0.8"'
    """
    declarations = (declaration.partition(":") for declaration in style.split(";") if declaration.strip())
    return "".join(f' {name.strip()}="{value.strip()}"' for name, _, value in declarations)


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, which needs no display. Raises ModuleNotFoundError if matplotlib is not installed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure((width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plot_standings(report: Report) -> "Figure":
    """The mean winnings of all bots and their strengths, with intervals: the first bot on top."""
    figure = new_figure(2 * PANEL_INCHES[0] - 1, 1.6 + 0.42 * len(report.standings))
    winnings, strengths = figure.subplots(1, 2, sharey=True)
    for place, each in enumerate(report.standings):
        if each.mean is not None:
            _dot(winnings, place, each.mean, each.low, each.high)
        _dot(strengths, place, each.strength, each.strength_low, each.strength_high)
    names = [short_name(each.bot) for each in report.standings]
    winnings.set_yticks(range(len(names)), names)
    winnings.set_ylim(len(names) - 0.5, -0.5)
    winnings.set(xlabel=f"mean winnings ({report.unit})")
    strengths.set(xlabel="strength (log odds)")
    for axes in (winnings, strengths):
        axes.axvline(0, color=INK, linewidth=1)
    return figure


def _dot(axes: "Axes", place: int, value: float, low: float | None, high: float | None) -> None:
    """A value with its interval."""
    if low is not None and high is not None:
        axes.plot([low, high], [place, place], color=BLUE, linewidth=2, marker="|", markersize=9)
    axes.plot([value], [place], color=VERMILION, marker="o", markersize=7)


def plot_bankrolls(report: Report) -> "Figure":
    """The bankrolls of all bots, a panel for each with a curve for each of its opponents."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    shown = _panels(report)
    columns = min(PANELS_PER_ROW, len(shown))
    rows = ceil(len(shown) / columns)
    width, height = (PANEL_INCHES[0] * 1.6, PANEL_INCHES[1] * 1.2) if columns == 1 else PANEL_INCHES
    figure = new_figure(width * columns, height * rows)
    panels = figure.subplots(rows, columns, squeeze=False)
    looks = styles(len(report.plan.bots))
    for axes, bot in zip(panels.flat, shown, strict=False):
        for pairing, series in sorted(report.series.items()):
            if bot in pairing:
                points = bankroll(series, report.unit)
                opponent = sum(pairing) - bot
                curve = points if pairing[0] == bot else [point.mirrored() for point in points]
                _curve(axes, curve, looks[opponent], f"v {short_name(report.plan.bots[opponent])}")
        axes.xaxis.set_major_locator(MaxNLocator(MAX_HAND_TICKS))  # more labels would overlap
        axes.xaxis.set_major_formatter(FuncFormatter(lambda hands, _: f"{hands:,.0f}"))
        axes.axhline(0, color=INK, linewidth=1)
        axes.set(title=short_name(report.plan.bots[bot]), xlabel="hands", ylabel=f"won ({report.unit.amount})")
        axes.legend(loc="best", fontsize="small", framealpha=0)
    for axes in panels.flat[len(shown) :]:
        axes.remove()
    return figure


def _panels(report: Report) -> Sequence[int]:
    """The bots that have a panel: if one has played in all pairings, it is enough; else the best ones."""
    bots = [each.index for each in report.standings]
    for bot in bots:
        if all(bot in pairing for pairing in report.series):
            return [bot]
    return bots[:MAX_PANELS]


def _curve(axes: "Axes", points: Sequence[Point], style: Style, label: str) -> None:
    hands, won, lows, highs = zip(*points, strict=True)
    axes.fill_between(hands, lows, highs, color=style.colour, alpha=0.15, linewidth=0)
    every = max(1, ceil(len(points) / MARKERS_PER_CURVE))
    (line,) = axes.plot(hands, won, color=style.colour, linestyle=style.line, marker=style.marker, markersize=5)
    line.set(label=label, markevery=every)


def short_name(bot: str) -> str:
    """The name of a bot in a plot: of a long one the end, where the name of its class is."""
    name = printable(bot)
    return name if len(name) <= MAX_NAME_CHARS else f"…{name[1 - MAX_NAME_CHARS :]}"


class Plot(NamedTuple):
    """A plot: the name of its files, and the function that makes it."""

    name: str
    make: "Callable[[Report], Figure]"


STANDINGS: Final = Plot("standings", plot_standings)
BANKROLLS: Final = Plot("bankrolls", plot_bankrolls)
PLOTS: Final = (STANDINGS, BANKROLLS)
