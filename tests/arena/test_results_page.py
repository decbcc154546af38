"""The page of results says what was found in a sentence, in tables and in plots, and is one file without scripts."""

import csv
import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest

from croupier.arena.leaks import Gain, Trial
from croupier.arena.plan import Plan
from croupier.arena.report.curves import MAX_POINTS, bankroll
from croupier.arena.report.files import pairs_csv, standings_csv, write_report
from croupier.arena.report.page import html
from croupier.arena.report.plots import BANKROLLS, PLOTS, STANDINGS, Plot, draw, inline, short_name, styles
from croupier.arena.report.summary import Report, Unit, command, format_interval, headline
from croupier.arena.runner import SerialRunner
from croupier.arena.series import Series
from croupier.arena.tally import Tally, moments_of
from croupier.arena.tournament import Tournament
from croupier.cli.arena_report import leak_texts
from tests.arena import bots

FILE = Path(bots.__file__)
BOTS = ("equilibrium", "book:always-bet", "random")
PLAN = Plan("kuhn", BOTS, pairs=1000, seed=2, duplicate=True, adjust="kuhn-random-1")


def report_of(plan: Plan) -> Report:
    tournament = Tournament(plan)
    for _ in tournament.play(SerialRunner(plan)):
        pass
    return Report.of(tournament)


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(PLAN)


class Page(HTMLParser):
    """The elements, the addresses and the text of a page. All elements that can be must be closed."""

    VOID = frozenset({"meta", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.addresses: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src", "xlink:href"}]
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_headline_is_what_a_person_would_say() -> None:
    plan = Plan("kuhn", BOTS[:2], pairs=5000, seed=1, duplicate=True, adjust="kuhn-random-1")
    assert headline(report_of(plan)) == "equilibrium beats book:always-bet by 0.11 coins a hand (95%: 0.10 to 0.12)"


def test_the_headline_says_when_it_may_be_luck() -> None:
    plan = Plan("kuhn", ("equilibrium", "equilibrium:1/6"), pairs=200, seed=1)
    assert headline(report_of(plan)) == (
        "equilibrium leads equilibrium:1/6 by 0.08 coins a hand, which may be luck (95%: −0.05 to 0.21)"
    )


def test_the_headline_of_several_bots_names_the_best(report: Report) -> None:
    assert headline(report).startswith("equilibrium beats all others, by 0.14 coins a hand on average (95%: 0.1")
    more = Plan("kuhn", (*BOTS, "book:never-bet"), pairs=500, seed=2, duplicate=True)
    assert headline(report_of(more)).startswith("book:always-bet wins most: 0.4")


@pytest.mark.extended
def test_a_forfeit_is_the_headline_and_a_row() -> None:
    found = report_of(Plan("kuhn", (f"{FILE}:Illegal", "random"), pairs=200, seed=1))
    assert headline(found) == f"{FILE}:Illegal forfeits against random"
    assert found.standings[-1].forfeits == 1
    assert "forfeits" in Page(html(found)).text


@pytest.mark.extended
def test_the_page_needs_no_other_host_and_no_script(report: Report) -> None:
    page = Page(html(report))
    assert "script" not in page.elements
    assert page.elements.count("svg") == len(PLOTS)
    assert all(address.startswith("#") for address in page.addresses)
    assert "url(http" not in html(report)


def test_the_page_has_all_bots_all_pairings_and_their_leaks(report: Report) -> None:
    text = Page(html(report)).text
    for expected in (*BOTS, "strength", "calls with J facing a bet", command(PLAN), report.result.plan):
        assert expected in text
    for pair in report.result.pairs:
        assert f"{pair.mean:+.3f}".replace("-", "−") in text or f"{pair.mean:+.4f}".replace("-", "−") in text


@pytest.mark.extended
def test_plots_have_texts_for_readers_who_do_not_see_them(report: Report) -> None:
    assert len(re.findall(r'<figure role="img" aria-label="[^"]{20,}">', html(report))) == len(PLOTS)


def test_names_of_bots_are_text_in_the_page_and_in_plots() -> None:
    name = "script:BET,CAL"
    plan = Plan("kuhn", (name, "random"), pairs=200, seed=1)
    tournament = Tournament(plan)
    tournament.series[0, 1] = series_of(plan, 1)
    hostile = '_<script>alert("$x^2$")</script>\x1b[2J'
    found = Report.of(tournament)
    renamed = Report(
        Plan("kuhn", (hostile, "random"), pairs=200, seed=1),
        type(found.result)("", "kuhn", 1, found.result.pairs, found.result.standings),
        found.series,
    )
    page = Page(html(renamed))
    assert "script" not in page.elements
    assert "\x1b" not in page.text
    assert "$x^2$" in page.text
    for plot in PLOTS:
        assert draw(renamed, plot, "svg")


def series_of(plan: Plan, chunks: int) -> Series:
    series = Series(plan, (0, 1))
    for number in range(chunks):
        series.add(number, Tally(2, plain=moments_of([(0.5, 1), (number % 3 - 0.5, 1)])))
    return series


def test_a_bankroll_is_the_running_sum_and_its_bounds_are_the_interval() -> None:
    plan = Plan("kuhn", BOTS[:2], pairs=300, seed=1)
    series = series_of(plan, 3)
    points = bankroll(series, Unit("coins", 1))
    assert [(point.hands, point.won) for point in points] == [(0, 0), (4, 0.0), (8, 2.0), (12, 6.0)]
    interval = series.interval()
    assert points[-1][2:] == pytest.approx((12 * interval.low, 12 * interval.high))
    assert points[-1].mirrored()[1:] == pytest.approx((-6, -12 * interval.high, -12 * interval.low))
    assert bankroll(series, Unit("bb", 100))[-1].won == pytest.approx(0.06)


def test_a_long_bankroll_has_few_points_and_the_last() -> None:
    series = series_of(Plan("kuhn", BOTS[:2], pairs=100_300, seed=1), 1003)
    points = bankroll(series, Unit("coins", 1))
    assert len(points) <= MAX_POINTS + 2
    assert points[-1].hands == 4012


def test_a_bankroll_begins_where_there_is_an_interval() -> None:
    plan = Plan("kuhn", ("random", "script:BET,CAL"), pairs=300, seed=1)
    assert [point.hands for point in bankroll(series_of(plan, 3), Unit("coins", 1))] == [0, 8, 12]


def test_curves_differ_without_their_colours() -> None:
    assert len({style[1:] for style in styles(28)}) == 28


@pytest.mark.extended
@pytest.mark.parametrize("plot", PLOTS, ids=[plot.name for plot in PLOTS])
def test_plots_are_the_same_every_time(report: Report, plot: Plot) -> None:
    assert draw(report, plot, "svg") == draw(report, plot, "svg")
    assert draw(report, plot, "png").startswith(b"\x89PNG")


def test_plots_in_the_page_have_the_colour_of_its_text(report: Report) -> None:
    element = inline(report, STANDINGS)
    assert "currentColor" in element
    assert "#000000" not in element


@pytest.mark.extended
def test_plots_in_the_page_need_no_style(report: Report) -> None:
    """The policy of the web app forbids styles in elements. Ids that are there twice would be those of both plots."""
    elements = [inline(report, plot) for plot in PLOTS]
    assert not re.search(r"<style|\bstyle=|\bfont=", "".join(elements))
    assert 'stroke-width="0.8"' in elements[0]
    ids = [found for element in elements for found in re.findall(r'\bid="([^"]*)"', element)]
    assert len(ids) == len({*ids})


def test_before_the_first_hand_the_headline_names_the_game() -> None:
    tournament = Tournament(PLAN)
    next(tournament.play(SerialRunner(PLAN)))
    found = Report.of(tournament)
    assert headline(found) == "3 bots play kuhn"
    assert "…" in Page(html(found)).text


def test_csv_has_the_numbers_of_json(report: Report) -> None:
    rows = [*csv.DictReader(StringIO(pairs_csv(report)))]
    pairs = json.loads(report.result.to_json())["pairs"]
    for row, pair in zip(rows, pairs, strict=True):
        assert (row["a"], row["b"], float(row["mean"]), float(row["low"])) == (
            pair["a"],
            pair["b"],
            pair["mean"],
            pair["low"],
        )
        assert (row["adjust"], row["hands"], row["faults_a"]) == ("kuhn-random-1", "2000", "0")
    places = [*csv.DictReader(StringIO(standings_csv(report)))]
    assert [(row["place"], row["bot"]) for row in places] == [
        (str(place), each.bot) for place, each in enumerate(report.standings, 1)
    ]


@pytest.mark.extended
def test_all_files_are_written(report: Report, tmp_path: Path) -> None:
    write_report(tmp_path, report)
    assert {path.name for path in tmp_path.iterdir()} == {
        "results.csv",
        "results.html",
        "standings.csv",
        "standings.svg",
        "standings.png",
        "bankrolls.svg",
        "bankrolls.png",
    }
    assert all(path.stat().st_size for path in tmp_path.iterdir())


@pytest.mark.extended
def test_a_gauntlet_has_one_panel_and_a_round_robin_one_for_each_bot(report: Report) -> None:
    gauntlet = report_of(Plan("kuhn", BOTS, pairs=200, seed=1, schedule="gauntlet"))
    assert len(BANKROLLS.make(gauntlet).axes) == 1
    assert [axes.get_title() for axes in BANKROLLS.make(report).axes] == [each.bot for each in report.standings]


def test_long_names_are_cut_in_plots() -> None:
    name = f"/home/{'long/' * 20}mine.py:Careful"
    assert short_name(name).endswith("mine.py:Careful")
    assert len(short_name(name)) == 40


def test_the_command_repeats_the_tournament() -> None:
    plan = Plan("kuhn", ("a b.py:C", "random"), pairs=50, seed=3, until_sure=True, schedule="swiss", adjust="x")
    assert command(plan) == (
        "croupier arena kuhn 'a b.py:C' random --hands 100 --adjust --until-sure --schedule swiss --seed 3"
    )


@pytest.mark.extended
def test_the_page_of_a_bank_game_says_that_bots_play_alone() -> None:
    found = report_of(Plan("sevenhalf", ("exact", "book"), pairs=400, seed=1, duplicate=True, adjust="bank-best-1"))
    assert headline(found).startswith("exact beats book by 0.01")
    assert "Each bot plays alone against the bank" in Page(html(found)).text


def test_an_interval_of_no_width_has_two_decimals() -> None:
    found = report_of(Plan("kuhn", ("book:always-bet", "book:never-bet"), pairs=200, seed=1))
    assert headline(found) == "book:always-bet beats book:never-bet by 1.00 coins a hand (95%: 1.00 to 1.00)"


def test_estimated_leaks_have_intervals_and_a_better_choice() -> None:
    plan = Plan("holdem", ("tight", "caller"), pairs=2000, seed=1, leaks=True, chunk_pairs=2000)
    calls = Trial(
        1000, {"a fold": Gain(1000, 2000.0, 5000.0, 1.0), "a raise by the pot": Gain(1000, 10.0, 5000.0, 9.0)}
    )
    tally = Tally(2000, plain=moments_of([(0.5, 1000), (-0.5, 1000)]), trials=({}, {"calls <with> K": calls}))
    tournament = Tournament(plan)
    tournament.add((0, 1), 0, tally)
    found = Report.of(tournament)
    page = Page(html(found)).text
    (pair,) = found.result.pairs
    assert not pair.leaks["a"]
    (line,) = pair.leaks["b"]
    for expected in ("calls <with> K", "caller against tight", "a fold", "costs, bb per 100 hands", "Estimates."):
        assert expected in page
    assert format_interval(line.low, line.high, 1) in page
    assert "--leaks" in command(plan)
    low, high = line.low, line.high
    assert [*leak_texts(pair)] == [
        "caller against tight would win more with other choices:",
        f"  calls <with> K: costs 1.0 bb per 100 hands ({low:.1f} to {high:.1f}); better: a fold",
    ]
