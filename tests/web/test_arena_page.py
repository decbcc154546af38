"""The page of a tournament: the report of the arena, again and again while it is played."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from croupier.arena.plan import Plan
from croupier.arena.record import Record
from croupier.arena.report.page import SECTIONS, file_of
from croupier.arena.report.summary import Report, headline
from croupier.arena.runner import Job, SerialRunner
from croupier.arena.tournament import Tournament
from croupier.web.arena_page import make_report
from croupier.web.arena_server import ArenaPages, ArenaServer
from tests.net.raw_client import Run
from tests.processes import PATIENCE
from tests.web.app_fixture import Browser, stream

pytestmark = pytest.mark.usefixtures("prompt_follower")

PLAN = Plan("kuhn", ("equilibrium", "random"), pairs=400, seed=1, duplicate=True)


@pytest.fixture(scope="module")
def played() -> Tournament:
    tournament = Tournament(PLAN)
    for _ in tournament.play(SerialRunner(PLAN)):
        pass
    return tournament


def write_record(folder: Path, played: Tournament) -> None:
    """Write the record of the tournament, as the arena does."""
    record = Record(folder, PLAN)
    for pairing, series in played.series.items():
        for chunk, tally in enumerate(series.tallies):
            record.add(Job(pairing, chunk), tally)
    record.write_results(played.result())
    record.close()


@pytest.mark.extended
def test_the_page_is_the_report_while_it_is_played_and_at_the_end(run: Run, tmp_path: Path, played: Tournament) -> None:
    async def main() -> None:
        pages = ArenaPages(PLAN, tmp_path / "out")
        browser = Browser(pages.app)
        start = (await browser.get(pages.path)).text
        assert "0 of 1 pairings are over; 0 hands" in start
        assert "Only the intervals at the end are valid." in start
        async with stream(pages.app, browser, f"{pages.path}/events") as viewer:
            following = asyncio.create_task(pages.run())
            write_record(tmp_path / "out", played)
            await viewer.wait_for(b"event: end")
            assert b"1 of 1 pairings are over; 800 hands" in viewer.body
            assert b'"say":"The tournament is over."' in viewer.body
            assert not pages.is_lost
            following.cancel()
            await asyncio.wait([following])
        shown = (await browser.get(pages.path)).text
        assert "1 of 1 pairings are over; 800 hands" in shown
        assert "data-events" not in shown
        assert not re.search(r"<style|\bstyle=|<script(?! type=.module)", shown), "the policy forbids them"
        assert headline(Report.of(played)) in shown
        assert [each for each in SECTIONS if f'<section id="{each}"' in shown] == [*SECTIONS]
        download = await browser.get(f"{pages.path}/results.html")
        made = make_report(played)
        assert download.text == file_of(made.title, made.sections)
        assert download.text.count("<svg") == 2
        assert "attachment" in download.headers["content-disposition"]

    run(main())


def test_only_those_who_know_the_secret_find_the_tournament(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        pages = ArenaPages(PLAN, tmp_path)
        for path in ("/", "/arena", "/arena/x", "/arena/x/events", "/arena/x/results.html"):
            response = await Browser(pages.app).get(path)
            assert response.status_code == 404
            assert pages.path not in response.text
        assert ArenaPages(PLAN, tmp_path).path != pages.path

    run(main())


def test_an_interrupted_tournament_ends_the_streams(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        pages = ArenaPages(PLAN, tmp_path)
        browser = Browser(pages.app)
        async with stream(pages.app, browser, f"{pages.path}/events") as viewer:
            pages.end()
            await viewer.wait_for(b"event: end")
        assert "The tournament is over." in (await browser.get(pages.path)).text

    run(main())


@pytest.mark.extended
def test_the_page_is_served_until_it_is_closed(tmp_path: Path, played: Tournament) -> None:
    with ArenaServer(PLAN, tmp_path / "out") as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/arena/[\w-]{22}", server.url)
        write_record(tmp_path / "out", played)
        address = server.url
        with httpx.stream("GET", f"{address}/events", timeout=PATIENCE) as response:
            assert "1 of 1 pairings are over; 800 hands" in "".join(response.iter_text())
        with pytest.raises(OSError, match="address already in use"):
            ArenaServer(PLAN, tmp_path, int(address.split("/")[2].partition(":")[2]))
        assert not server.is_lost
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


@pytest.mark.extended
def test_a_page_whose_folder_cannot_be_read_is_lost(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "plan.json").write_text("no plan")
        pages = ArenaPages(PLAN, tmp_path)
        async with asyncio.timeout(PATIENCE):
            await pages.run()
        assert pages.is_lost
        assert "0 of 1 pairings are over; 0 hands" in (await Browser(pages.app).get(pages.path)).text

    run(main())
