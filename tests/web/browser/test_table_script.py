"""What table.js does with a table: keys, numbers, the focus, announcements, and a server that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from croupier.core.presentation import text
from tests.web.browser.scripted_table import Answer, ScriptedTable
from tests.web.samples import HOLDEM, KUHN, LEAVE, OVER, SEVENHALF, action, pot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

pytestmark = pytest.mark.browser
CALL = replace(KUHN, actions=(action("call", "Call", "c", "a coin"), action("fold", "Fold", "f", "the pot"), LEAVE))
WAITING = replace(
    KUHN, seats=(KUHN.seats[0], replace(KUHN.seats[1], status="")), actions=(), blocked=text("Waiting for the house.")
)
LISTEN = """() => {
  const live = document.getElementById("live");
  window.said = [];
  new MutationObserver(() => live.textContent && window.said.push(live.textContent)).observe(live, { childList: true });
}"""


def open_table(page: Page, table: ScriptedTable, room: str = "kuhn") -> None:
    """Open the page of the table, and wait until its script runs."""
    table.room = room
    page.goto(table.address)
    while not table.opened_streams:
        page.wait_for_timeout(10)


def wait_for_announcement(page: Page, announcement: str) -> None:
    page.locator("#live").get_by_text(announcement, exact=True).wait_for(state="attached")


def wait_for_notice(page: Page, notice: str) -> None:
    page.locator("#notice").get_by_text(notice, exact=True).wait_for()


def wait_for_action(page: Page, label: str) -> None:
    page.locator(".act", has_text=label).wait_for()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.value || document.activeElement.id"))


# Keys.


def test_an_action_that_costs_something_is_confirmed_first(table: ScriptedTable, page: Page) -> None:
    warned = replace(KUHN, actions=(replace(LEAVE, warning=text("You lose 1 coin if you leave now.")),))
    table.view = warned
    open_table(page, table)
    table.answers = [Answer(OVER, "You have left.")]
    questions = []

    def answer(dialog: Dialog) -> None:
        questions.append(dialog.message)
        if len(questions) == 1:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", answer)
    page.keyboard.press("q")
    assert table.forms == []
    page.keyboard.press("q")
    wait_for_announcement(page, "You have left.")
    assert [form["act"] for form in table.forms] == ["leave"]
    assert questions == ["You lose 1 coin if you leave now.\n\nLeave?"] * 2


def test_a_key_sends_its_action_once_with_the_version_on_the_screen(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    table.answers = [Answer(CALL, "The house bets.")]
    page.keyboard.down("c")
    wait_for_action(page, "Call")
    page.keyboard.down("c")  # the key is held: the browser repeats it
    page.keyboard.up("c")
    wait_for_announcement(page, "The house bets.")
    assert table.forms == [{"csrf": "token", "version": "7f-1", "act": "check"}]
    table.answers = [Answer(WAITING)]
    page.keyboard.press("C")
    page.get_by_text("Waiting for the house.").wait_for()
    assert table.forms[1] == {"csrf": "token", "version": "7f-2", "act": "call"}


def test_keys_with_modifiers_and_keys_in_fields_do_nothing(table: ScriptedTable, page: Page) -> None:
    table.view = SEVENHALF
    open_table(page, table, "sevenhalf")
    page.keyboard.press("Control+d")
    page.keyboard.press("Alt+p")
    page.get_by_role("spinbutton").press("p")
    page.keyboard.press("Tab")
    table.answers = [Answer(WAITING)]
    page.keyboard.press("p")
    page.get_by_text("Waiting for the house.").wait_for()
    assert [form["act"] for form in table.forms] == ["pass"]


def test_a_key_that_does_nothing_now_says_why(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    page.keyboard.press("x")
    wait_for_announcement(page, "This key does nothing now.")
    table.publish(WAITING)
    page.get_by_text("Waiting for the house.").wait_for()
    page.keyboard.press("c")
    wait_for_announcement(page, "Waiting for the house.")
    assert table.forms == []


def test_an_action_waits_until_the_last_one_is_answered(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    table.are_answers_held, table.answers = True, [Answer(CALL)]
    page.keyboard.press("c")
    page.keyboard.press("b")
    wait_for_announcement(page, "The last action is still on its way.")
    table.are_answers_held = False
    wait_for_action(page, "Call")
    assert [form["act"] for form in table.forms] == ["check"]


def test_single_keys_can_be_switched_off_for_good(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    switch = page.get_by_role("button", name="Single keys")
    assert switch.get_attribute("aria-pressed") == "true"
    switch.click()
    assert switch.get_attribute("aria-pressed") == "false"
    page.reload()
    assert switch.get_attribute("aria-pressed") == "false"
    page.keyboard.press("c")
    switch.click()
    table.answers = [Answer(CALL)]
    page.keyboard.press("b")
    wait_for_action(page, "Call")
    assert [form["act"] for form in table.forms] == ["bet"]


AUDIO = """
globalThis.tones = [];
globalThis.AudioContext = class { currentTime = 0; };
globalThis.GainNode = class { connect() {} };
globalThis.OscillatorNode = class {
  constructor(context, options) { tones.push(options.frequency); }
  connect() {} start() {} stop() {}
};
"""


def test_a_sound_says_whose_turn_it_is_only_if_it_is_switched_on(table: ScriptedTable, page: Page) -> None:
    page.add_init_script(AUDIO)
    open_table(page, table)
    switch = page.get_by_role("button", name="Sound")
    assert switch.get_attribute("aria-pressed") == "false"
    for tones in ([], [660, 880]):
        table.publish(WAITING)
        page.get_by_text("Waiting for the house.").first.wait_for()
        table.publish(CALL)
        wait_for_action(page, "Call")
        assert page.evaluate("tones") == tones
        if not tones:
            switch.click()
            assert page.evaluate("tones") == [], "the turn has begun before"
    page.reload()
    assert switch.get_attribute("aria-pressed") == "true"


def test_a_question_mark_leads_to_the_rules_and_back(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    rules = page.locator("#rules")
    page.keyboard.press("?")
    assert rules.locator("summary").evaluate("summary => summary === document.activeElement")
    page.keyboard.press("?")
    assert rules.get_attribute("open") is None
    assert focused(page) == "check"
    page.keyboard.press("?")
    assert rules.get_attribute("open") is not None


# Numbers.


def test_a_number_is_typed_and_entered(table: ScriptedTable, page: Page) -> None:
    table.view = SEVENHALF
    open_table(page, table, "sevenhalf")
    table.answers = [Answer(SEVENHALF), Answer(SEVENHALF)]
    page.keyboard.press("a")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    while len(table.forms) < 1:
        page.wait_for_timeout(10)
    page.locator("#acts:not([aria-busy])").wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.type("10")
    page.keyboard.press("Enter")
    while len(table.forms) < 2:
        page.wait_for_timeout(10)
    assert [(form["act"], form["amount"]) for form in table.forms] == [("ante", "7"), ("ante", "10")]


def test_the_browser_refuses_a_number_out_of_range(table: ScriptedTable, page: Page) -> None:
    table.view = SEVENHALF
    open_table(page, table, "sevenhalf")
    field = page.get_by_role("spinbutton")
    field.fill("11")
    field.press("Enter")
    assert field.evaluate("field => field.matches(':invalid')")
    assert table.forms == []


def test_field_slider_presets_and_button_show_the_same_number(table: ScriptedTable, page: Page) -> None:
    table.view = HOLDEM
    open_table(page, table, "holdem")
    field, slider, button = page.get_by_role("spinbutton"), page.get_by_role("slider"), page.locator("output")
    for change, number in (
        (lambda: page.get_by_role("button", name="Half the pot").click(), "120"),
        (lambda: slider.press("ArrowRight"), "121"),
        (lambda: field.fill("77"), "77"),
    ):
        change()
        assert [field.input_value(), slider.input_value(), button.text_content()] == [number] * 3
    table.publish(replace(HOLDEM, pots=(pot(2000),)))
    page.locator(".pot", has_text="2000").wait_for()
    assert [field.input_value(), slider.input_value(), button.text_content()] == ["77"] * 3


# The focus, what stays, and what is announced.


def test_the_focus_goes_to_the_next_first_action(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    table.answers = [Answer(WAITING)]
    page.locator(".act[data-key=b]").press("Enter")
    page.get_by_text("Waiting for the house.").wait_for()
    assert focused(page) == "acts"
    table.publish(CALL)
    wait_for_action(page, "Call")
    assert focused(page) == "call"


def test_open_details_stay_open_and_only_new_cards_are_dealt(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    page.get_by_text("Finished games").click()
    house, own = KUHN.seats
    shown = replace(house, cards=own.cards)
    table.publish(replace(KUHN, seats=(shown, own)))
    page.locator(".card.dealt").wait_for()
    assert page.locator(".others .card.dealt").count() == page.locator(".card.dealt").count() == 1
    assert page.locator(".results").get_attribute("open") is not None


def test_an_announcement_is_made_once_for_a_version(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    page.evaluate(LISTEN)
    for label in ("Call", "Check"):
        table.answers = [Answer(CALL if label == "Call" else KUHN, "The house checks.")]
        page.keyboard.press("c")
        wait_for_action(page, label)
    table.publish(WAITING, "The house thinks.")
    wait_for_announcement(page, "The house thinks.")
    assert page.evaluate("window.said") == ["The house checks.", "The house checks.", "The house thinks."]


def test_the_title_says_whose_turn_it_is(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    assert page.title() == "● Your turn · Kuhn poker · croupier"
    table.publish(WAITING)
    page.get_by_text("Waiting for the house.").wait_for()
    assert page.title() == "Kuhn poker · croupier"


def test_the_clock_runs_from_the_seconds_left(table: ScriptedTable, page: Page) -> None:
    table.view = HOLDEM
    page.clock.install()
    open_table(page, table, "holdem")
    page.clock.run_for(5_000)
    assert int(page.locator(".seconds").text_content() or "") in {9, 10}
    page.clock.run_for(60_000)
    assert page.locator(".seconds").text_content() == "0"


# Versions, refusals and interruptions.


def test_versions_are_compared_by_the_start_of_the_server_and_their_number(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    compare = "async ([version, known]) => (await import('/static/live.js')).isNewer(version, known)"
    for version, known, is_newer in (
        ("7f-2", "7f-1", True),
        ("7f-10", "7f-9", True),
        ("7f-1", "7f-1", False),
        ("7f-1", "7f-2", False),
        ("80-1", "7f-18", True),
    ):
        assert page.evaluate(compare, [version, known]) is is_newer


def test_a_stale_action_shows_the_table_as_it_is(table: ScriptedTable, page: Page, console: list[str]) -> None:
    open_table(page, table)
    table.answers = [Answer(CALL, status=409)]
    page.keyboard.press("b")
    wait_for_notice(page, "The table has changed meanwhile; nothing was sent.")
    wait_for_action(page, "Call")
    table.answers = [Answer(WAITING)]
    page.keyboard.press("c")
    page.locator("#notice").wait_for(state="hidden")
    assert len(console) == 1
    assert "409" in console.pop()


@pytest.mark.parametrize("status", [400, 403, 429, 500])
def test_a_refusal_is_shown(table: ScriptedTable, page: Page, console: list[str], status: int) -> None:
    open_table(page, table)
    table.answers = [Answer(status=status)]
    page.keyboard.press("b")
    wait_for_notice(page, "The action was refused.")
    assert str(status) in console.pop()


def test_an_interrupted_stream_resumes_with_the_newest_view(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    table.events = [""]  # the connection ends without a word
    while table.opened_streams < 2:
        page.wait_for_timeout(10)
    table.publish(CALL)
    wait_for_action(page, "Call")


def test_an_action_that_cannot_be_sent_tries_the_stream(table: ScriptedTable, page: Page, console: list[str]) -> None:
    open_table(page, table)
    page.route("**/act", lambda route: route.abort())
    page.keyboard.press("b")
    wait_for_notice(page, "The connection is back.")
    assert table.opened_streams == 2
    table.publish(CALL)
    wait_for_action(page, "Call")
    assert "ERR_FAILED" in console.pop()


def test_a_server_that_has_started_again_is_believed(table: ScriptedTable, page: Page) -> None:
    table.number = 18
    open_table(page, table)
    table.instance, table.number = "80", 1
    table.publish(CALL)
    wait_for_action(page, "Call")


def test_a_table_that_is_gone_says_so(table: ScriptedTable, page: Page, console: list[str]) -> None:
    open_table(page, table)
    table.is_gone, table.events = True, [""]
    wait_for_notice(page, "The server has started again, and this table is closed.")
    assert console
    assert all("404" in message for message in console)
    console.clear()


def test_a_parked_stream_is_opened_again_with_the_focus(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    table.events = ["parked"]
    wait_for_notice(page, "Paused: too many tables are open in this browser. Return to this page to go on.")
    assert table.opened_streams == 1
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    table.publish(CALL)
    wait_for_action(page, "Call")
    assert table.opened_streams == 2
    assert page.locator("#notice").is_hidden()


def test_an_ended_stream_stays_closed(table: ScriptedTable, page: Page) -> None:
    open_table(page, table)
    table.publish(OVER)
    page.get_by_role("button", name="Play again").wait_for()
    table.events = ["end"]
    while table.events:
        page.wait_for_timeout(10)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.reload()
    while table.opened_streams < 2:
        page.wait_for_timeout(10)
    assert table.opened_streams == 2, "the reload opened the second one"


# Without JavaScript.


def test_a_game_is_played_with_plain_forms(table: ScriptedTable, browser: Browser) -> None:
    table.view, table.room = SEVENHALF, "sevenhalf"
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(table.address)
    assert page.get_by_role("slider").is_hidden()
    table.answers = [Answer(SEVENHALF), Answer(WAITING)]
    page.get_by_role("spinbutton").fill("3")
    page.locator(".act", has_text="Raise").click()
    page.wait_for_url(table.address)
    page.locator(".act", has_text="Pass").click()
    page.get_by_text("Waiting for the house.").wait_for()
    assert [(form["act"], form.get("amount")) for form in table.forms] == [("ante", "3"), ("pass", None)]
    context.close()
