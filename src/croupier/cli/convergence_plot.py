"""Draws how the bounds of a game's value approach each other, with matplotlib (the extra `arena`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from croupier.arena.report.plots import BLUE, VERMILION, new_figure
from croupier.strategy.best_response import Checkpoint, ValueBounds

GREY = "#555555"

MAX_LINEAR_ITERATIONS = 100
"""The axis of more iterations is logarithmic."""

SIZE_INCHES = (8.0, 7.0)


class Convergence(NamedTuple):
    """The checkpoints of a method, and what its iterations are called."""

    method: str
    unit: str
    checkpoints: Sequence[Checkpoint]


def plot_convergence(title: str, run: Convergence, value: ValueBounds, path: Path) -> None:
    """Draw a run to a file, whose ending is the format (.svg, .png, .pdf): the bounds above, their distance below.

    `value` is what the linear program proves, drawn as horizontal lines. Raises ValueError on an unknown ending, and
    ModuleNotFoundError if matplotlib is not installed.
    """
    figure = new_figure(*SIZE_INCHES)
    allowed = sorted(figure.canvas.get_supported_filetypes())
    if path.suffix.removeprefix(".") not in allowed:
        raise ValueError(f"found the plot {str(path)!r}; allowed: a file that ends with .{', .'.join(allowed)}")
    bounds, distance = figure.subplots(2, 1, sharex=True)
    iterations = [point.iterations for point in run.checkpoints]
    lows, highs = [point.low for point in run.checkpoints], [point.high for point in run.checkpoints]
    bounds.fill_between(iterations, lows, highs, color=GREY, alpha=0.15, linewidth=0)
    bounds.plot(iterations, highs, color=VERMILION, marker="v", markersize=4, label="upper bound")
    bounds.plot(iterations, lows, color=BLUE, marker="^", markersize=4, label="lower bound")
    bounds.axhline(float(value.low), color="black", linestyle="--", linewidth=1, label="bounds by the linear program")
    bounds.axhline(float(value.high), color="black", linestyle="--", linewidth=1)
    scale = "log" if iterations[-1] > MAX_LINEAR_ITERATIONS else "linear"
    bounds.set(title=f"{title}: {run.method}", ylabel="value to the first seat (coins)", xscale=scale)
    bounds.legend()
    widths = [high - low for low, high in zip(lows, highs, strict=True)]
    distance.plot(iterations, widths, color="black", marker="o", markersize=4)
    distance.set(xlabel=run.unit, ylabel="upper − lower bound (nash_conv, coins)", yscale="log")
    for axes in (bounds, distance):
        axes.grid(visible=True, color=GREY, alpha=0.25)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
