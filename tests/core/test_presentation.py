"""Texts are translated with their arguments, and actions are found with their numbers."""

import pytest

from croupier.core.presentation import (
    ENGLISH,
    ActionView,
    Amount,
    UnknownAction,
    counted,
    find_action,
    grouped,
    new_items,
    text,
)

CHECK = ActionView("check", text("Check"), "c", text("costs nothing"))
RAISE = ActionView("raise", text("Raise"), "r", text("raises the bet"), Amount(2, 10))


CATALAN = {
    "You are dealt {card}.": "Reps {card}.",
    "the king": "el rei",
    "{count} coin": "{count} moneda",
    "{thousands},{rest}": "{thousands}.{rest}",
}


class Catalan:
    """A catalogue with four messages."""

    def gettext(self, message: str) -> str:
        return CATALAN.get(message, message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        assert (msgid1, msgid2) == ("{count} coin", "{count} coins")
        return CATALAN[msgid1] if n == 1 else "{count} monedes"


def test_a_text_is_translated_with_the_texts_in_it() -> None:
    dealt = text("You are dealt {card}.", card=text("the king"))
    assert dealt.translate(Catalan()) == "Reps el rei."
    assert str(dealt) == dealt.translate(ENGLISH) == "You are dealt the king."


@pytest.mark.parametrize(("count", "english", "catalan"), [(1, "1 coin", "1 moneda"), (3, "3 coins", "3 monedes")])
def test_a_number_selects_the_plural(count: int, english: str, catalan: str) -> None:
    coins = counted("{count} coin", "{count} coins", count)
    assert (str(coins), coins.translate(Catalan())) == (english, catalan)


@pytest.mark.parametrize(("number", "catalan"), [(0, "0"), (999, "999"), (1_000, "1.000"), (-1_234_567, "-1.234.567")])
def test_the_language_separates_groups_of_digits(number: int, catalan: str) -> None:
    assert (str(grouped(number)), grouped(number).translate(Catalan())) == (f"{number:,}", catalan)


def test_an_action_is_found_by_its_id_and_its_number() -> None:
    assert find_action([CHECK, RAISE], "check", None) is CHECK
    assert find_action([CHECK, RAISE], "raise", 10) is RAISE


@pytest.mark.parametrize(
    ("action", "amount", "message"),
    [
        ("raise", None, "found raise None; allowed: 2 to 10"),
        ("raise", 1, "found raise 1; allowed: 2 to 10"),
        ("raise", 11, "found raise 11; allowed: 2 to 10"),
        ("fold", None, "found fold; allowed: check, raise"),
    ],
)
def test_other_actions_and_numbers_are_refused(action: str, amount: int | None, message: str) -> None:
    with pytest.raises(UnknownAction, match=f"^{message}$"):
        find_action([CHECK, RAISE], action, amount)


def test_announcements_are_new_once() -> None:
    a, b, c = ["a"], ["b"], ["c"]
    assert new_items([], [a, b]) == [a, b]
    assert new_items([a], [a, b]) == [b]
    assert new_items([a, b], [a, b]) == []
    assert new_items([a, b], [b, c]) == [c], "the oldest is left out"
    assert new_items([a, b], [c]) == [c]
    assert new_items([a], [["a"]]) == [["a"]], "it was announced again"
