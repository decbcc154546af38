"""What the keys of a person mean at a table."""

import pytest
from msgspec.structs import replace

from croupier.core.presentation import LEAVE, ActionView, Amount, TableView, text
from croupier.tui.plain import keys_of_line
from croupier.tui.table_keys import BACKSPACE, DOWN, ENTER, ESCAPE, LEAVE_KEYS, TAB, UP, Choice, TableKeys

CHECK = ActionView("check", text("Check"), "c", text("costs nothing"))
RAISE = ActionView(
    "raise",
    text("Raise to"),
    "r",
    text("the others answer"),
    Amount(20, 100, ((text("Min"), 20), (text("Pot"), 60)), 20),
)
FORFEIT = replace(LEAVE, warning=text("You lose your bet."))


def table(*actions: ActionView, blocked: str = "") -> TableView:
    return TableView(title=text("A game"), seats=(), actions=actions, blocked=text(blocked) if blocked else None)


@pytest.fixture
def keys() -> TableKeys:
    return TableKeys(table(CHECK, RAISE, LEAVE))


def press(keys: TableKeys, *pressed: str) -> Choice | None:
    """Press keys; all but the last choose nothing."""
    *first, last = pressed
    assert [keys.press(key) for key in first] == [None] * len(first)
    return keys.press(last)


def test_a_key_chooses_its_action(keys: TableKeys) -> None:
    assert keys.press("c") == Choice("check")
    assert keys.press("C") == Choice("check")


def test_upper_and_lower_case_may_be_two_actions() -> None:
    keys = TableKeys(table(CHECK, replace(CHECK, id="other", key="C")))
    assert (keys.press("c"), keys.press("C")) == (Choice("check"), Choice("other"))


@pytest.mark.parametrize(
    ("pressed", "amount"),
    [
        (["r", ENTER], 20),
        (["r", "4", "5", ENTER], 45),
        (["7", "0", ENTER], 70),
        (["r", "9", "9", "9", BACKSPACE, ENTER], 99),
        (["r", TAB, ENTER], 60),
        (["r", TAB, TAB, ENTER], 20),
        (["r", UP, UP, ENTER], 22),
        (["r", TAB, DOWN, ENTER], 59),
        (["r", DOWN, ENTER], 20),
    ],
)
def test_a_number_is_entered_with_digits_presets_and_arrows(keys: TableKeys, pressed: list[str], amount: int) -> None:
    assert press(keys, *pressed) == Choice("raise", amount)
    assert keys.number is None


@pytest.mark.parametrize("digits", ["1", "101", "99999999999999"])
def test_a_number_out_of_range_is_not_chosen_and_stays(keys: TableKeys, digits: str) -> None:
    assert press(keys, "r", *digits, ENTER) is None
    assert str(keys.notice) == f"Raise to: found {digits[:10]}; allowed: 20 to 100."
    assert press(keys, BACKSPACE, *[BACKSPACE] * 10, "5", "0", ENTER) == Choice("raise", 50)


def test_an_empty_number_is_not_chosen(keys: TableKeys) -> None:
    assert press(keys, "4", BACKSPACE, ENTER) is None
    assert str(keys.notice) == "Raise to: found no number; allowed: 20 to 100."


def test_escape_and_the_key_of_an_action_cancel_a_number(keys: TableKeys) -> None:
    assert press(keys, "r", "5", ESCAPE) is None
    assert keys.number is None
    assert press(keys, "r", "5", "c") == Choice("check")


def test_a_number_is_dropped_when_its_action_changes(keys: TableKeys) -> None:
    keys.press("r")
    keys.update(table(RAISE, LEAVE))
    assert keys.number is not None
    keys.update(table(CHECK, LEAVE))
    assert keys.number is None


def test_enter_is_the_only_action_and_nothing_if_there_are_several(keys: TableKeys) -> None:
    assert TableKeys(table(CHECK, LEAVE)).press(ENTER) == Choice("check")
    assert keys.press(ENTER) is None
    assert str(keys.notice) == "Enter does nothing now; allowed: c Check, r Raise to, q Leave."


def test_a_key_that_does_nothing_says_why_until_something_else_can_be_done() -> None:
    keys = TableKeys(table(LEAVE, blocked="Waiting for Jon."))
    assert keys.press("c") is None
    assert str(keys.notice) == "'c' does nothing now: Waiting for Jon."
    keys.update(table(LEAVE, blocked="Waiting for Marta."))
    assert keys.notice is not None
    keys.update(table(CHECK, LEAVE))
    assert keys.notice is None


def test_an_action_that_costs_something_is_confirmed() -> None:
    keys = TableKeys(table(CHECK, FORFEIT))
    assert keys.press("q") is None
    assert str(keys.notice) == "You lose your bet. Press q again to do it, Esc to stay."
    assert keys.press(ESCAPE) is None
    assert keys.press("q") is None
    assert keys.press("c") == Choice("check")
    assert press(keys, "q", "q") == Choice("leave")


def test_a_confirmation_ends_with_its_action() -> None:
    keys = TableKeys(table(FORFEIT))
    keys.press("q")
    keys.update(table(LEAVE))
    assert keys.notice is None
    assert keys.press("q") == Choice("leave")


@pytest.mark.parametrize("key", sorted(LEAVE_KEYS))
def test_some_keys_leave_at_once(key: str) -> None:
    keys = TableKeys(table(FORFEIT))
    keys.press("?")
    assert keys.press(key) == Choice("leave")


def test_the_help_is_left_by_any_key(keys: TableKeys) -> None:
    keys.press("?")
    assert keys.is_help_shown
    assert keys.press("c") is None
    assert not keys.is_help_shown
    assert press(keys, "?", "?", "c") == Choice("check")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("c", ["c"]),
        ("CHECK", ["c"]),
        ("raise to", ["r"]),
        ("raise 45", ["r", "4", "5", ENTER]),
        ("r 45", ["r", "4", "5", ENTER]),
        ("Raise to 45", ["r", "4", "5", ENTER]),
        ("45", ["4", "5", ENTER]),
        ("", [ENTER]),
        ("?", ["?"]),
        ("check 5", None),
        ("x", None),
        ("c-c", None),
        ("٣", None),
    ],
)
def test_a_line_of_text_stands_for_keys(line: str, found: list[str] | None) -> None:
    assert keys_of_line(line, (CHECK, RAISE, LEAVE)) == found


def test_a_number_is_no_line_if_no_action_has_one() -> None:
    assert keys_of_line("12", (CHECK, replace(CHECK, id="pick-1", key="1"))) is None
