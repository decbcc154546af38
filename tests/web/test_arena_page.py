"""The page of a tournament: the report of the arena, again and again while it is played."""

import re

import httpx
import pytest

from croupier.arena.plan import Plan
from croupier.arena.report.page import SECTIONS, file_of
from croupier.arena.report.summary import Report, headline
from croupier.arena.runner import SerialRunner
from croupier.arena.tournament import Tournament
from croupier.web.arena_page import ArenaPage
from croupier.web.arena_server import ArenaServer
from tests.net.raw_client import Run
from tests.web.app_fixture import Browser, stream

PLAN = Plan("kuhn", ("equilibrium", "random"), pairs=400, seed=1, duplicate=True)


@pytest.fixture(scope="module")
def played() -> Tournament:
    tournament = Tournament(PLAN)
    for _ in tournament.play(SerialRunner(PLAN)):
        pass
    return tournament


def test_the_page_is_the_report_while_it_is_played_and_at_the_end(run: Run, played: Tournament) -> None:
    async def main() -> None:
        page, tallies = ArenaPage(PLAN), played.series[0, 1].tallies
        browser = Browser(page.app)
        start = (await browser.get(page.path)).text
        assert "0 of 1 pairings are over; 0 hands" in start
        assert "Only the intervals at the end are valid." in start
        async with stream(page.app, browser, f"{page.path}/events") as viewer:
            page.note([((0, 1), tallies[:2])])
            await page.publish_changes()
            await viewer.wait_for(b"0 of 1 pairings are over; 400 hands")
            assert b'"say":"equilibrium ' in viewer.body
            page.note([((0, 1), tallies[2:])])
            page.finish()
            await page.run()
            await viewer.wait_for(b"event: end")
            assert b'"say":"The tournament is over."' in viewer.body
        shown = (await browser.get(page.path)).text
        assert "1 of 1 pairings are over; 800 hands" in shown
        assert "data-events" not in shown
        assert not re.search(r"<style|\bstyle=|<script(?! type=.module)", shown), "the policy forbids them"
        assert headline(Report.of(played)) in shown
        assert [each for each in SECTIONS if f'<section id="{each}"' in shown] == [*SECTIONS]
        download = await browser.get(f"{page.path}/results.html")
        assert download.text == file_of(page.feed.snapshot.title, page.feed.snapshot.sections)
        assert download.text.count("<svg") == 2
        assert "attachment" in download.headers["content-disposition"]

    run(main())


def test_only_those_who_know_the_secret_find_the_tournament(run: Run) -> None:
    async def main() -> None:
        page = ArenaPage(PLAN)
        for path in ("/", "/arena", "/arena/x", "/arena/x/events", "/arena/x/results.html"):
            response = await Browser(page.app).get(path)
            assert response.status_code == 404
            assert page.path not in response.text
        assert ArenaPage(PLAN).path != page.path

    run(main())


def test_an_interrupted_tournament_ends_the_streams(run: Run) -> None:
    async def main() -> None:
        page = ArenaPage(PLAN)
        browser = Browser(page.app)
        async with stream(page.app, browser, f"{page.path}/events") as viewer:
            page.end()
            await viewer.wait_for(b"event: end")
        assert "The tournament is over." in (await browser.get(page.path)).text

    run(main())


@pytest.mark.extended
def test_a_process_serves_the_page_until_it_is_closed(played: Tournament) -> None:
    with ArenaServer(PLAN) as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/arena/[\w-]{22}", server.url)
        for series in played.series.values():
            server.show(series)
        server.finish()
        address = server.url
        with httpx.stream("GET", f"{address}/events", timeout=60) as response:
            assert "1 of 1 pairings are over; 800 hands" in "".join(response.iter_text())
        with pytest.raises(OSError, match="address already in use"):
            ArenaServer(PLAN, int(address.split("/")[2].partition(":")[2]))
        assert not server.is_lost
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)


def test_a_lost_page_does_not_stop_the_tournament(played: Tournament) -> None:
    with ArenaServer(PLAN) as server:
        server._process.kill()
        server._process.join()
        server.show(played.series[0, 1])
        server.finish()
        assert server.is_lost
