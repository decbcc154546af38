"""`croupier serve --tournament DIR` shows the tournament in a folder, live while it is played."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace
from starlette.applications import Starlette

from croupier.arena.plan import Plan
from croupier.arena.record import Record
from croupier.arena.runner import Job, SerialRunner
from croupier.arena.tournament import Tournament
from tests.net.raw_client import Run
from tests.processes import PATIENCE, Serving, croupier
from tests.web.app_fixture import Browser, serve, stream

pytestmark = pytest.mark.usefixtures("prompt_follower")

PLAN = Plan("kuhn", ("equilibrium", "random"), pairs=400, seed=1, duplicate=True)
JOBS = [Job((0, 1), chunk) for chunk in range(PLAN.chunks)]


async def page_with(app: Starlette, text: str) -> str:
    """Reload the page of the tournament until it has a text: another process reads the folder."""
    async with asyncio.timeout(PATIENCE):
        while text not in (page := (await Browser(app).get("/tournament")).text):
            await asyncio.sleep(0.2)
    return page


@pytest.mark.extended
def test_a_tournament_is_shown_while_it_is_played_and_so_is_the_next_one(run: Run, tmp_path: Path) -> None:
    """The file of a bot is neither needed nor run."""
    folder = tmp_path / "out"
    tallies = dict(SerialRunner(PLAN).run(JOBS))

    async def main() -> None:
        async with serve(tournament=folder) as app:
            browser = Browser(app)
            assert '<a href="/tournament">Tournament</a>' in (await browser.get("/")).text
            for path in ("", "/events", "/results.html"):
                response = await browser.get(f"/tournament{path}")
                assert response.status_code == 404
                assert "No tournament has begun yet." in response.text
            record = Record(folder, replace(PLAN, bots=("equilibrium", "no-such-file.py:Bot")))
            record.add(JOBS[1], tallies[JOBS[1]])
            record.add(JOBS[0], tallies[JOBS[0]])
            await page_with(app, "0 of 1 pairings are over; 400 hands")
            async with stream(app, browser, "/tournament/events") as viewer:
                for job in JOBS[2:]:
                    record.add(job, tallies[job])
                await page_with(app, "1 of 1 pairings are over; 800 hands")
                await viewer.wait_for(b"1 of 1 pairings are over; 800 hands")
                assert b"no-such-file.py:Bot" in viewer.body
                tournament = Tournament(PLAN, tallies)
                [*tournament.play(SerialRunner(PLAN))]
                record.write_results(tournament.result())
                assert "data-events" not in await page_with(app, "The tournament is over.")
                await viewer.wait_for(b"event: end")
            record.close()
            download = await browser.get("/tournament/results.html")
            assert "attachment" in download.headers["content-disposition"]
            assert download.text.count("<svg") == 2

            for file in folder.iterdir():
                file.unlink()
            Record(folder, replace(PLAN, bots=("random", "equilibrium"))).close()
            assert "data-events" in await page_with(app, "0 of 1 pairings are over; 0 hands")

    run(main())


@pytest.mark.extended
def test_a_folder_that_cannot_be_read_is_logged(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("no plan")
    with Serving("kuhn", "--port", 0, "--web-port", 0, "--tournament", tmp_path, "--journal", "off", ready=2) as server:
        server.wait_for_event("the tournament cannot be shown")
        assert httpx.get(f"http://127.0.0.1:{server.ports['web']}/tournament", timeout=PATIENCE).status_code == 404
        assert server.stop() == 0


def test_there_is_no_tournament_unless_it_is_configured(run: Run) -> None:
    async def main() -> None:
        async with serve() as app:
            assert (await Browser(app).get("/tournament")).status_code == 404
            assert "/tournament" not in (await Browser(app).get("/")).text

    run(main())


@pytest.mark.extended
def test_a_server_shows_what_the_arena_writes(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    options = ("--tournament", folder, "--journal", "off")
    with Serving("kuhn", "--port", 0, "--web-port", 0, *options, ready=2) as server:
        done = croupier("arena", "kuhn", "equilibrium", "random", "--hands", 400, "--out", folder)
        assert done.returncode == 0, done.stderr
        url = f"http://127.0.0.1:{server.ports['web']}/tournament"
        with httpx.Client(timeout=PATIENCE) as client:
            while (page := client.get(url)).status_code == 404 or "1 of 1 pairings" not in page.text:
                assert server.running
            with client.stream("GET", f"{url}/events") as response:
                assert "event: end" in "".join(response.iter_text())
        assert re.search(r"equilibrium .* random", page.text)
        assert server.stop() == 0


def test_a_tournament_needs_a_web_app(tmp_path: Path) -> None:
    done = croupier("serve", "kuhn", "--port", 0, "--tournament", tmp_path)
    assert done.returncode == 2
    assert "found --tournament without a web app; allowed: both" in done.stderr
