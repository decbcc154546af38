"""Streams: only the newest version is sent, a browser that is gone is noticed, and too many streams are parked."""

import asyncio
from collections.abc import Mapping
from functools import partial

import pytest
from starlette.responses import StreamingResponse

from croupier.core.presentation import TableView, text
from croupier.web.config import WebConfig
from croupier.web.feed import END, HEADERS, HEARTBEAT, PARKED, Feed, Snapshot, Subscription, format_event
from croupier.web.seats import news
from croupier.web.watching import DelayedFeed
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import Browser, Viewer, stream, web_app

VIEW = TableView(title=text("A table"), seats=())
SNAPSHOT = Snapshot(VIEW, (), 0.0)


@pytest.fixture(autouse=True)
def _same_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """All feeds are the instance `a`."""
    monkeypatch.setattr("croupier.web.feed.secrets.token_hex", lambda _: "a")


def make_feed() -> Feed[Snapshot]:
    return Feed(SNAPSHOT, lambda _, locale: {"felt": locale})


def view(subscription: Subscription, heartbeat_seconds: float = 60.0) -> Viewer:
    """A browser that reads a subscription."""
    response = StreamingResponse(subscription.events(heartbeat_seconds), headers=HEADERS)
    return Viewer(partial(response, {"type": "http"}))


def test_a_stream_starts_with_the_current_version_and_sends_the_next_ones(run: Run) -> None:
    async def main() -> None:
        feed = make_feed()
        viewer = view(feed.subscribe("en", ""))
        await viewer.wait_for(b'data: {"version":"a-1"')
        feed.publish(SNAPSHOT)
        await viewer.wait_for(b"id: a-2\n")
        assert viewer.body.startswith(b"retry: 1000\n\nid: a-1\nevent: table\n")
        headers = dict(viewer.messages[0]["headers"])
        assert headers[b"cache-control"] == b"no-store, no-transform"
        assert headers[b"x-accel-buffering"] == b"no"
        await viewer.leave()

    run(main())


def test_a_version_that_the_browser_has_is_not_sent_again(run: Run) -> None:
    async def main() -> None:
        feed = make_feed()
        viewer = view(feed.subscribe("en", "a-1"), heartbeat_seconds=0.001)
        await viewer.wait_for(HEARTBEAT)
        assert b"event: table" not in viewer.body
        await viewer.leave()

    run(main())


def test_a_browser_that_does_not_read_costs_nothing_and_gets_the_newest_version(run: Run) -> None:
    async def main() -> None:
        feed = make_feed()
        viewer = view(feed.subscribe("en", ""))
        await viewer.wait_for(b"a-1")
        viewer.reads.clear()
        for _ in range(2, 1500):
            feed.publish(SNAPSHOT)
            await asyncio.sleep(0)
        viewer.reads.set()
        await viewer.wait_for(b"id: a-1499\n")
        assert viewer.body.count(b"event: table") <= 3
        await viewer.leave()

    run(main())


def test_a_stream_ends_after_the_last_version(run: Run) -> None:
    async def main() -> None:
        feed = make_feed()
        viewer = view(feed.subscribe("en", ""))
        feed.publish(SNAPSHOT)
        feed.end()
        await asyncio.wait_for(viewer.task, TIMEOUT_SECONDS)
        assert viewer.body.endswith(format_event(feed.envelope("en")) + END)
        assert viewer.messages[-1]["more_body"] is False

    run(main())


def test_an_error_while_rendering_is_not_hidden(run: Run) -> None:
    async def main() -> None:
        def fail(found: Snapshot, locale: str) -> Mapping[str, str]:
            raise ValueError(locale)

        viewer = view(Feed(SNAPSHOT, fail).subscribe("en", ""))
        with pytest.raises(ValueError, match="en"):
            await viewer.task

    run(main())


def test_a_feed_is_rendered_once_for_each_locale(run: Run) -> None:
    async def main() -> None:
        rendered: list[str] = []

        def render(found: Snapshot, locale: str) -> Mapping[str, str]:
            rendered.append(f"{found.version} {locale}")
            return {}

        feed = Feed(SNAPSHOT, render)
        viewers = [view(feed.subscribe(locale, "")) for locale in ("en", "ca", "en", "en")]
        for viewer in viewers:
            await viewer.wait_for(b"a-1")
            await viewer.leave()
        assert rendered == ["a-1 en", "a-1 ca"]

    run(main())


def test_the_time_that_is_left_is_counted_without_rendering_again(run: Run) -> None:
    async def main() -> None:
        rendered: list[str] = []

        def render(found: Snapshot, locale: str) -> Mapping[str, str]:
            rendered.append(locale)
            return {}

        now = asyncio.get_running_loop().time()
        timed = TableView(title=text("A table"), seats=(), deadline=75.0)
        feed = Feed(Snapshot(timed, (), now - 25.0), render)
        for _ in range(500):
            before = asyncio.get_running_loop().time()
            left = feed.envelope("en").deadline
            assert left is not None
            after = asyncio.get_running_loop().time()
            assert before - 0.1 <= now + 50.0 - left <= after + 0.1, "it is rounded"
        assert rendered == ["en"]

    run(main())


def test_a_delayed_feed_shows_versions_in_order_and_leaves_out_the_oldest_if_there_are_too_many(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.web.watching.MAX_DELAYED", 3)

    async def main() -> None:
        feed = DelayedFeed(SNAPSHOT, lambda found, _: {"taken": f"at {found.taken_at:g}"}, 0.01)
        viewer = view(feed.subscribe("en", ""))
        await viewer.wait_for(b"a-1")
        for number in range(2, 7):
            feed.publish(Snapshot(VIEW, (), float(number)))
        assert feed.snapshot.version == "a-1"
        feed.end()
        await asyncio.wait_for(viewer.task, TIMEOUT_SECONDS)
        assert feed.snapshot.taken_at == 6
        assert viewer.body.endswith(END)
        assert b"at 2" not in viewer.body

    run(main())


def test_what_is_new_is_announced_once() -> None:
    dealt, bet, waiting = text("You are dealt the king."), text("The house bets."), text("Waiting.")
    first = TableView(title=text("A"), seats=(), announcements=(dealt,), blocked=waiting)
    second = TableView(title=text("A"), seats=(), announcements=(dealt, bet))
    third = TableView(title=text("A"), seats=(), announcements=(text("The house bets."),), status=waiting)
    assert [*news(None, first)] == [dealt, waiting]
    assert [*news(first, second)] == [bet]
    assert [*news(second, third)] == [bet, waiting], "it has bet again"


def test_announcements_are_not_repeated_when_the_oldest_ones_are_left_out() -> None:
    texts = tuple(text("Move {number}.", number=number) for number in range(13))
    before, after = (TableView(title=text("A"), seats=(), announcements=each) for each in (texts[:12], texts[1:]))
    assert [*news(before, after)] == [texts[12]]


# Through the app.


def test_a_fifth_stream_of_a_browser_parks_the_oldest(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            async with stream(app, browser) as oldest:
                others = [stream(app, browser) for _ in range(4)]
                for other in others:
                    viewer = await other.__aenter__()
                    await viewer.wait_for(b"event: table")
                await asyncio.wait_for(oldest.task, TIMEOUT_SECONDS)
                assert oldest.body.endswith(PARKED)
                assert app.state.streams.total == 4
                for other in others:
                    await other.__aexit__(None, None, None)
                assert app.state.streams.total == 0

    run(main())


def test_an_action_reaches_the_streams_of_all_tabs(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            async with stream(app, browser) as one, stream(app, browser, **{"last-event-id": browser.version}) as two:
                await one.wait_for(b"event: table")
                await browser.act("first")
                for viewer in (one, two):
                    await viewer.wait_for(f"id: {browser.version}\n".encode())
                assert two.body.count(b"event: table") == 1

    run(main())


def test_a_seat_is_kept_for_a_reconnect(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            for _ in range(2):
                async with stream(app, browser) as viewer:
                    await viewer.wait_for(b"event: table")
                assert (await browser.get(browser.table)).status_code == 200

    run(main())


def test_a_seat_is_given_up_after_the_time_for_a_reconnect(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig(reconnect_seconds=0.01)) as (app, endpoint):
            browser = await Browser(app).play()
            async with stream(app, browser) as viewer:
                await viewer.wait_for(b"event: table")
            await asyncio.wait_for(endpoint.wait_drained(), TIMEOUT_SECONDS)
            assert (await browser.get(browser.table)).status_code == 404

    run(main())


def test_leaving_ends_the_streams(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            async with stream(app, browser) as viewer:
                await viewer.wait_for(b"event: table")
                await browser.post(f"{browser.table}/leave")
                await asyncio.wait_for(viewer.task, TIMEOUT_SECONDS)
                assert viewer.body.endswith(END)
                assert b"You have left the table." in viewer.body

    run(main())


def test_head_opens_no_stream(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = await Browser(app).play()
            response = await browser.client.head(f"{browser.table}/events")
            assert (response.status_code, response.headers["content-type"]) == (
                200,
                "text/event-stream; charset=utf-8",
            )
            assert app.state.streams.total == 0

    run(main())


def test_the_number_of_all_streams_is_limited(run: Run) -> None:
    async def main() -> None:
        async with web_app(config=WebConfig(max_streams=1)) as (app, _):
            browser = await Browser(app).play()
            async with stream(app, browser) as first:
                await first.wait_for(b"event: table")
                assert (await browser.get(f"{browser.table}/events")).status_code == 503

    run(main())
