"""Tables as they are drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from croupier.core.card_names import FRENCH_CARDS, JOKER, SPANISH_CARDS
from croupier.core.presentation import (
    BACK,
    LEAVE,
    ActionView,
    CardView,
    PotView,
    SeatStatus,
    SeatView,
    TableView,
    text,
    verbatim,
)
from croupier.tui.cards import CARD_HEIGHT_LINES, CARD_WIDTH_COLUMNS, card_print, cards_text, draw_cards
from croupier.tui.renderer import plain_lines, render, render_help, truncate, wrap
from croupier.tui.table_keys import TableKeys

CHECK = ActionView("check", text("Check"), "c", text("costs nothing"))
CARDS = [*FRENCH_CARDS.values(), *SPANISH_CARDS.values(), JOKER, BACK]
WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
STATUSES: list[SeatStatus] = ["", "to act", "folded", "all in", "away", "out"]

seats = st.builds(
    SeatView,
    name=WORDS.map(verbatim),
    cards=st.lists(st.sampled_from(CARDS), max_size=14).map(tuple),
    caption=st.none() | WORDS.map(verbatim),
    chips=st.none() | st.integers(0, 10**9),
    bet=st.integers(0, 10**6),
    status=st.sampled_from(STATUSES),
    is_viewer=st.booleans(),
    is_dealer=st.booleans(),
)
tables = st.builds(
    TableView,
    title=WORDS.map(verbatim),
    seats=st.lists(seats, max_size=10).map(tuple),
    board=st.lists(st.sampled_from(CARDS), max_size=5).map(tuple),
    pots=st.lists(st.builds(PotView, st.integers(0, 10**9)), max_size=3).map(tuple),
    status=st.none() | WORDS.map(verbatim),
    announcements=st.lists(WORDS.map(verbatim), max_size=12).map(tuple),
    actions=st.just((CHECK, LEAVE)),
    deadline=st.none() | st.floats(0, 1000),
    purse=st.none() | st.integers(0, 10**9),
    results=st.lists(WORDS.map(verbatim), max_size=8).map(tuple),
)


def shown(view: TableView, columns: int = 90, rows: int = 40) -> list[str]:
    return [*plain_lines(render(view, "here:1", TableKeys(view), columns, rows))]


@given(tables, st.integers(12, 120), st.integers(4, 60))
def test_every_table_fits_every_terminal_and_shows_the_keys(view: TableView, columns: int, rows: int) -> None:
    lines = shown(view, columns, rows)
    assert len(lines) <= rows
    assert all(line.isprintable() for line in lines)
    assert max(map(get_cwidth, lines)) <= max(columns, 10)
    assert any("[q] Leave" in line for line in lines[-4:])
    help_lines = [*plain_lines(render_help(view, "here:1", text("The rules."), columns, rows))]
    assert len(help_lines) <= rows


@given(st.lists(st.sampled_from(CARDS), max_size=20), st.integers(CARD_WIDTH_COLUMNS, 90))
def test_drawn_cards_fit_any_width_and_every_card_is_seen(cards: list[CardView], width: int) -> None:
    lines = draw_cards(cards, width)
    assert all(len(line) <= width for line in lines)
    assert len(lines) % CARD_HEIGHT_LINES == 0
    ranks = "".join(lines[1::CARD_HEIGHT_LINES])
    assert all(card_print(card.face).rank[:2] in ranks for card in cards if card.face is not None)


def test_a_covered_card_shows_no_part_of_a_rank() -> None:
    tens = [CardView("TH", text("the 10 of hearts"))] * 3
    step = CARD_WIDTH_COLUMNS - 2
    assert draw_cards(tens, CARD_WIDTH_COLUMNS + 2 * step)[3].split("│") == [
        "",
        " " * (step - 1),
        " " * (step - 1),
        "     10",
        "",
    ]


def test_cards_have_short_texts() -> None:
    assert cards_text(["AS", "TH", None]) == "A♠ 10♥ ░"
    assert cards_text(["sc", "7o"]) == "sota copes, 7 oros"
    assert cards_text([None] * 4) == "░░░░"
    assert cards_text(["K"]) == "K"
    assert cards_text(["JOKER"]) == "joker"


def test_a_table_of_two_shows_both_hands_side_by_side_and_the_person_first() -> None:
    view = TableView(
        title=text("A game"),
        seats=(
            SeatView(name=text("House"), cards=(BACK,), status="to act"),
            SeatView(name=text("You"), cards=(FRENCH_CARDS["KS"],), bet=3, is_viewer=True),
        ),
        actions=(LEAVE,),
    )
    lines = shown(view)
    assert lines[0].strip() == "A game at here:1"
    assert lines[2].split() == ["│K", "│", "│░░░░░░░│"]
    assert lines[6].split("  ")[0] == "You: 3 coins bet"
    assert lines[6].endswith("House: to act")


def test_the_results_are_left_out_before_the_cards_are_not_drawn() -> None:
    view = TableView(
        title=text("A game"),
        seats=(SeatView(name=text("You"), cards=(FRENCH_CARDS["KS"],), is_viewer=True),),
        announcements=(text("You win 2 coins."),),
        results=tuple(text("game {number}", number=number) for number in range(8)),
        actions=(CHECK, LEAVE),
    )
    seen = {rows: "\n".join(shown(view, 60, rows)) for rows in (24, 18, 11, 8)}
    assert "game 0" in seen[24]
    assert ["game 0" in seen[18], "game 7" in seen[18], "╭" in seen[18]] == [False, True, True]
    assert ["game 7" in seen[11], "╭" in seen[11]] == [False, True]
    assert ["You  K♠" in seen[8], "╭" in seen[8]] == [True, False]
    assert all("You win 2 coins." in each for each in seen.values())


@pytest.mark.parametrize(
    ("words", "width", "lines"),
    [("", 5, [""]), ("one two", 7, ["one two"]), ("one two", 6, ["one", "two"]), ("a christopher", 6, ["a", "chris~"])],
)
def test_texts_are_wrapped_between_words(words: str, width: int, lines: list[str]) -> None:
    assert wrap(words, width) == lines


def test_wide_characters_take_two_columns() -> None:
    assert truncate("牌牌牌牌", 6) == "牌牌~"
    assert wrap("牌牌 牌牌", 8) == ["牌牌", "牌牌"]
