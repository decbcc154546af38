"""The page of a class: live cells, what is hidden, and who can open it."""

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from croupier.conformance.matrix.cells import LOOKS, Cell, CellFinding, CellKind
from croupier.conformance.matrix.matrix import MatrixPlan
from croupier.conformance.matrix.programs import PairingTerms
from croupier.conformance.matrix.submission import Submission, reference_submission
from croupier.conformance.report.summary import ShownLine
from croupier.rooms import HOUSE_ROOMS
from croupier.web.class_server import ClassPages, serve_class, shuffle_students
from croupier.web.class_view import ClassPrivacy
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import Browser, stream
from tests.web.browser.gallery import WEB

NAMES = ("Ada", "Bob & Co", "Cid")
COMMANDS = {room: {"server": "s {port}", "client": "c {port}"} for room in ("kuhn", "blackjack")}
BROKEN = CellFinding(
    CellKind.BROKE,
    ("server",),
    "kuhn-4.1",
    "the server breaks kuhn-4.1: found silence",
    (ShownLine("client", "STRT P_1", "53 54"),),
)
UNHEARD = CellFinding(CellKind.UNHEARD, ("server",), note="the server does not listen: /home/bob/server.py, line 7")


def class_plan(rooms: Sequence[str] = ("kuhn",)) -> MatrixPlan:
    students = [Submission(name.split()[0].lower(), name, Path("x"), "", COMMANDS) for name in NAMES]
    return MatrixPlan(
        terms=[PairingTerms(room=HOUSE_ROOMS[room]) for room in rooms],
        submissions=[*students, reference_submission()],
        output_folder=Path("x"),
    )


def cell(server: str, client: str, finding: CellFinding = CellFinding(CellKind.WELL), **more: Any) -> Cell:
    return Cell("kuhn", server, client, "", finding, games=2, connections=1, messages=9, **more)


class Class:
    """The pages of a class whose matrix does what the test says."""

    def __init__(self, privacy: ClassPrivacy = ClassPrivacy(), plan: MatrixPlan | None = None) -> None:
        self.pages = ClassPages(plan or class_plan(), privacy)
        self.matrix: Any = SimpleNamespace(cells=[], building=[], running=[])
        self.browser = Browser(self.pages.app)
        self.path = f"{self.pages.path}/kuhn"

    def publish(self, *cells: Cell, building: Sequence[str] = (), running: Sequence[tuple[str, str, str]] = ()) -> None:
        self.matrix.cells.extend(cells)
        self.matrix.building, self.matrix.running = [*building], [*running]
        self.pages.note(self.matrix)
        self.pages.publish()

    async def page(self, path: str = "") -> str:
        response = await self.browser.get(f"{self.path}{path}")
        assert response.status_code == 200, response.text
        return response.text

    async def status(self, path: str) -> int:
        return (await self.browser.get(path)).status_code


def part(page: str, part_id: str) -> str:
    """What a cell of the table says to a screen reader."""
    found = re.search(rf'<td[^>]* id="{part_id}">(.*?)</td>', page)
    assert found
    hidden = re.search('class="unseen">([^<]*)<', found[1])
    return hidden[1] if hidden else found[1]


def test_the_page_shows_the_cells_as_they_are_now(run: Run) -> None:
    async def main() -> None:
        shown = Class()
        assert part(await shown.page(), "c-1-1") == "not played yet"
        shown.publish(building=["bob"])
        assert "Building: Bob &amp; Co" in await shown.page()
        shown.publish(cell("ada", "ada"), cell("ada", "bob", BROKEN), running=[("kuhn", "bob", "cid")])
        page = await shown.page()
        assert part(page, "c-1-1") == "plays well"
        assert part(page, "c-1-2") == "broke a clause, kuhn-4.1, the server&#39;s fault"
        assert part(page, "c-2-3") == "is played now"
        assert (part(page, "server-1"), part(page, "client-2")) == ("50", "")
        assert "2 of 16 cells" in page
        assert "data-events" in page
        shown.pages.end()
        page = await shown.page()
        assert "The run is over." in page
        assert "data-events" not in page

    run(main())


def test_the_stream_replaces_cells_and_announces_tenths(run: Run) -> None:
    async def main() -> None:
        shown = Class()
        await shown.page()
        async with stream(shown.pages.app, shown.browser, f"{shown.path}/events") as viewer:
            shown.publish(cell("ada", "ada"))
            await viewer.wait_for(b"1 of 16 cells")
            assert b'"say":""' in viewer.body
            shown.publish(cell("ada", "bob", BROKEN))
            await viewer.wait_for("S§4.1".encode())
            assert b'"say":"2 of 16 cells"' in viewer.body
            shown.pages.end()
            await viewer.wait_for(b"event: end")
            assert b'"say":"The run is over."' in viewer.body

    run(main())


def test_a_cell_opens_its_causes(run: Run) -> None:
    async def main() -> None:
        shown = Class()
        shown.publish(cell("ada", "bob", BROKEN, stderr="<Traceback>"))
        page = await shown.page("/1/2")
        assert "Client of Bob &amp; Co at the server of Ada" in page
        assert BROKEN.note in page
        assert 'href="/protocols/kuhn#kuhn-4.1"' in page
        assert "STRT P_1" in page
        assert "&lt;Traceback&gt;" in page
        assert await shown.status("/protocols/kuhn") == 200
        for other in ("/2/1", "/9/9", "/1/x"):
            assert await shown.status(f"{shown.path}{other}") == 404

    run(main())


def test_only_those_who_know_the_id_find_the_class(run: Run) -> None:
    async def main() -> None:
        shown = Class()
        for path in ("/", "/class", "/class/x", "/class/x/kuhn", "/class/x/kuhn/events", "/class/x/report.html"):
            response = await Browser(shown.pages.app).get(path)
            assert response.status_code == 404
            assert shown.pages.path not in response.text
            assert 'href="/"' not in response.text
        response = await shown.browser.get(shown.pages.path)
        assert response.headers["location"] == shown.path
        assert Class().pages.path != shown.pages.path

    run(main())


def test_the_report_can_be_downloaded(run: Run) -> None:
    async def main() -> None:
        shown = Class()
        shown.publish(cell("ada", "bob", BROKEN))
        assert f'href="{shown.pages.path}/report.html"' in await shown.page()
        report = await shown.browser.get(f"{shown.pages.path}/report.html")
        assert "attachment" in report.headers["content-disposition"]
        assert "S§4.1" in report.text

    run(main())


def test_an_anonymous_class_has_numbers_for_names(run: Run) -> None:
    async def main() -> None:
        shown = Class(ClassPrivacy(is_anonymous=True))
        shown.publish(cell("ada", "bob", BROKEN, stderr="Bob was here"), cell("bob", "ada", UNHEARD), building=["cid"])
        pages = [await shown.page(path) for path in ("", "/1/2", "/2/1")]
        async with stream(shown.pages.app, shown.browser, f"{shown.path}/events") as viewer:
            await viewer.wait_for(b"event: table")
        for text in (*pages, viewer.body.decode()):
            assert not re.search("Ada|Bob|Cid|/home/", text)
        assert "Building: number 3" in pages[0]
        assert "croupier" in pages[0]
        assert BROKEN.note in pages[1]
        assert "never listened" in pages[2]
        assert await shown.status(f"{shown.pages.path}/report.html") == 404

    run(main())


def test_cells_of_other_students_stay_closed_if_their_tests_are_hidden(run: Run) -> None:
    async def main() -> None:
        shown = Class(ClassPrivacy(is_anonymous=True, opens_own_only=True))
        shown.publish(cell("ada", "bob", BROKEN), cell("croupier", "bob"))
        page = await shown.page()
        assert part(page, "c-1-2") == "broke a clause, kuhn-4.1, the server&#39;s fault"
        assert f"{shown.path}/1/2" not in page
        assert f"{shown.path}/4/2" in page
        assert await shown.status(f"{shown.path}/1/2") == 404
        assert "plays well" in await shown.page("/4/2")

    run(main())


def test_students_are_shuffled_and_keep_their_cells() -> None:
    plan = class_plan()
    orders = {tuple(each.id for each in shuffle_students(plan).submissions) for _ in range(100)}
    assert len(orders) > 1
    assert all({*order[:3]} == {"ada", "bob", "cid"} and order[3] == "croupier" for order in orders)


def test_every_room_has_a_page(run: Run) -> None:
    async def main() -> None:
        shown = Class(plan=class_plan(["kuhn", "blackjack"]))
        shown.publish(cell("ada", "ada"))
        page = await shown.page()
        assert f'<a href="{shown.pages.path}/blackjack">' in page
        assert "0 of 16 cells" in (await shown.browser.get(f"{shown.pages.path}/blackjack")).text
        assert await shown.status(f"{shown.pages.path}/oldmaid") == 404

    run(main())


def test_settings_are_kept_and_lead_back_to_the_page(run: Run) -> None:
    async def main() -> None:
        shown = Class()
        await shown.page()
        address = f"http://127.0.0.1:8000{shown.path}"
        response = await shown.browser.post("/language", {"locale": "ca"}, referer=address)
        assert response.headers["location"] == shown.path
        assert "Classe: " in await shown.page()

    run(main())


def test_the_page_is_served_on_loopback_with_a_cookie_of_its_own(run: Run) -> None:
    async def main() -> None:
        async with (
            serve_class(class_plan(), ClassPrivacy(), 0) as (pages, url),
            httpx.AsyncClient(follow_redirects=True, timeout=TIMEOUT_SECONDS) as client,
        ):
            assert re.fullmatch(rf"http://127\.0\.0\.1:[0-9]+{pages.path}", url)
            response = await client.get(url)
            assert "Class: Kuhn poker" in response.text
            assert response.headers["content-security-policy"].startswith("default-src 'none'")
            port = url.split("/")[2].partition(":")[2]
            assert [*client.cookies] == [f"croupier-class-{port}"]

    run(main())


def test_the_style_sheet_has_the_colours_of_the_report() -> None:
    rules = (WEB / "static" / "style.css").read_text()
    for kind, look in LOOKS.items():
        assert look.rule(f'[data-kind="{kind.name}"]') in rules


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("kind", CellKind)
def test_signs_can_be_read_on_panels_and_pages(kind: CellKind) -> None:
    """Axe does not measure the contrast of signs."""
    rules = (WEB / "static" / "style.css").read_text()
    for surface in ("--bg", "--panel"):
        found = re.search(rf"{surface}: light-dark\((#[0-9a-f]{{6}}), (#[0-9a-f]{{6}})\)", rules)
        assert found
        for colour, ground in zip((LOOKS[kind].light, LOOKS[kind].dark), found.groups(), strict=True):
            darker, lighter = sorted((luminance(colour), luminance(ground)))
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5
