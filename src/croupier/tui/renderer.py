"""Draws a table for a terminal: seats, cards, pots, what has happened, and what the person can do."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from prompt_toolkit.utils import get_cwidth

from croupier.core.linear import action_line, seat_details
from croupier.core.presentation import CardView, SeatView, TableView, Text, listed, text
from croupier.tui.cards import CARD_WIDTH_COLUMNS, MIN_VISIBLE_COLUMNS, cards_text, draw_cards
from croupier.tui.encoding import terminal_text
from croupier.tui.table_keys import TableKeys, number_prompt
from croupier.tui.texts import GENERAL_HELP, board_text, money_text, time_text

type Fragment = tuple[str, str]
"""A style class and a text, as prompt_toolkit takes them."""
type Line = list[Fragment]

MAX_COLUMNS: Final = 78
HAND_GAP_COLUMNS: Final = 4
"""Columns between two hands."""
MAX_NAME_COLUMNS: Final = 24
MAX_HELPED_ACTIONS: Final = 6
"""The consequences of more actions are shown only with the rules."""

STYLES: Final = {
    "title": "reverse bold",
    "you": "bold",
    "quiet": "dim",
    "news": "bold",
    "notice": "bold reverse",
    "keys": "",
}
"""The styles of the classes. None of them is a colour: nothing depends on seeing one."""


class Hand(NamedTuple):
    """Cards to draw, with the text below them."""

    cards: Sequence[CardView]
    caption: str
    style: str


class Detail(NamedTuple):
    """How much of a table is shown: the numbers of results and announcements, and whether cards are drawn.

    `has_help` is whether the consequences of the actions are shown beside their keys.
    """

    results: int
    announcements: int
    is_drawn: bool = True
    has_help: bool = True


def render(view: TableView, place: str, keys: TableKeys, columns: int, rows: int) -> list[Line]:
    """Return the lines of the screen, as many as fit.

    With few rows the oldest results are left out first, then the consequences of the actions, then the cards are not
    drawn, then announcements are left out. The last lines are never cut: they are the keys.
    """
    width = max(10, min(columns, MAX_COLUMNS))
    title = _title(view, place, width)
    for detail in _details(view):
        below = _footer_lines(view, keys, width, has_help=detail.has_help)
        above = [
            *table_lines(view, width, is_drawn=detail.is_drawn),
            *_news_lines(view, detail.announcements, width),
            *_score_lines(view, detail.results, width),
        ]
        if 1 + len(above) + len(below) <= rows:
            break
    return [title, *above[: max(0, rows - len(below) - 1)], *below][-rows:]


def render_help(view: TableView, place: str, rules: Text, columns: int, rows: int) -> list[Line]:
    """Return the lines of the screen with the rules and the keys."""
    width = max(10, min(columns, MAX_COLUMNS))
    actions = [line for action in view.actions for line in styled_lines("keys", action_line(action), width)]
    general = [line for words in GENERAL_HELP for line in styled_lines("quiet", words, width)]
    return [_title(view, place, width), *styled_lines("news", rules, width), [], *actions, [], *general][:rows]


def _title(view: TableView, place: str, width: int) -> Line:
    return styled_line("title", text(" {title} at {place} ", title=view.title, place=place), width)


def plain_lines(lines: Iterable[Line]) -> Iterator[str]:
    """Yield lines without their styles."""
    for line in lines:
        yield "".join(fragment for _, fragment in line).rstrip()


def wrap(words: str, width: int) -> list[str]:
    """Return a text as lines of at most `width` columns, broken between words; longer words are cut.

    >>> wrap("You are dealt the king.", 10)
    ['You are', 'dealt the', 'king.']
    """
    lines = [""]
    for word in words.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if get_cwidth(joined) <= width:
            lines[-1] = joined
        elif lines[-1]:
            lines.append(truncate(word, width))
        else:
            lines[-1] = truncate(word, width)
    return lines


def truncate(words: str, columns: int) -> str:
    """Return a text in at most `columns` columns; a shortened text ends with `~`.

    >>> truncate("christopher", 6)
    'chris~'
    """
    if get_cwidth(words) <= columns:
        return words
    while words and get_cwidth(words) > columns - 1:
        words = words[:-1]
    return f"{words}~"


def _details(view: TableView) -> Iterator[Detail]:
    """Yield what to show, less and less."""
    results, announcements = len(view.results), len(view.announcements)
    few_results = min(2, results)
    yield from (Detail(number, announcements) for number in range(results, few_results - 1, -1))
    yield from (Detail(number, announcements, has_help=False) for number in range(results, -1, -1))
    yield from (Detail(number, announcements, is_drawn=False, has_help=False) for number in range(results, -1, -1))
    yield from (Detail(0, number, is_drawn=False, has_help=False) for number in range(announcements - 1, 0, -1))


def styled_line(style: str, words: Text | str, width: int) -> Line:
    """Return a text as one line of at most `width` columns."""
    return [(f"class:{style}", truncate(terminal_text(words), width))]


def styled_lines(style: str, words: Text | str, width: int) -> list[Line]:
    """Return a text as lines of at most `width` columns."""
    return [[(f"class:{style}", line)] for line in wrap(terminal_text(words), width)]


def table_lines(view: TableView, width: int, *, is_drawn: bool) -> list[Line]:
    """Return the lines of the seats and the board, with their cards as drawings if they fit, or in words."""
    hands = _hands(view)
    if not is_drawn or (hands and width < CARD_WIDTH_COLUMNS):
        board = board_text(view)
        rows = _seat_rows(view.seats, width, has_cards=True)
        return rows if board is None else [*rows, styled_line("", board, width)]
    if _is_duel(view):
        return _draw_hands(hands, width)
    return [*_seat_rows(view.seats, width, has_cards=False), *_draw_hands(hands, width)]


def _is_duel(view: TableView) -> bool:
    """Whether the cards of all seats are drawn: there are two, and nothing more is to be known of them."""
    return len(view.seats) <= 2 and not view.board and all(seat.chips is None for seat in view.seats)


def _hands(view: TableView) -> list[Hand]:
    """Return the cards to draw: those of all seats of a duel, else the person's and the board."""
    if _is_duel(view):
        return [
            Hand(seat.cards, _caption(seat), "you" if seat.is_viewer else "")
            for seat in sorted(view.seats, key=lambda seat: not seat.is_viewer)
        ]
    own = [Hand(seat.cards, terminal_text(seat.name), "you") for seat in view.seats if seat.is_viewer and seat.cards]
    return [*own, *([Hand(view.board, terminal_text(text("Board")), "")] if view.board else [])]


def _caption(seat: SeatView) -> str:
    about = terminal_text(listed(seat_details(seat)))
    return terminal_text(text("{name}: {about}", name=seat.name, about=about)) if about else terminal_text(seat.name)


def _draw_hands(hands: Sequence[Hand], width: int) -> list[Line]:
    """Draw hands side by side if they fit, else one below the other."""
    half = (width - HAND_GAP_COLUMNS) // 2
    is_wide = len(hands) == 2 and all(
        CARD_WIDTH_COLUMNS + MIN_VISIBLE_COLUMNS * (len(hand.cards) - 1) <= half for hand in hands
    )
    blocks = [
        (hand.style, draw_cards(hand.cards, half if is_wide else width), wrap(hand.caption, half if is_wide else width))
        for hand in hands
    ]
    if not is_wide:
        return [[(f"class:{style}", line)] for style, drawn, caption in blocks for line in (*drawn, *caption)]
    height = max(len(drawn) for _, drawn, _ in blocks)
    columns = [
        (style, [*([""] * (height - len(drawn))), *drawn, *caption, *([""] * 9)]) for style, drawn, caption in blocks
    ]
    count = height + max(len(caption) for _, _, caption in blocks)
    return [
        [(f"class:{style}", _padded(lines[at], half + HAND_GAP_COLUMNS)) for style, lines in columns]
        for at in range(count)
    ]


def _seat_rows(seats: Sequence[SeatView], width: int, *, has_cards: bool) -> list[Line]:
    """Return one row for each seat: its name, its cards if they are not drawn, and the rest.

    The row of the person may take several lines.
    """
    names = [truncate(terminal_text(seat.name), MAX_NAME_COLUMNS) for seat in seats]
    name_width = max(map(get_cwidth, names), default=0)
    rows: list[Line] = []
    for seat, name in zip(seats, names, strict=True):
        is_hidden = not seat.is_viewer or has_cards
        cards = terminal_text(cards_text(card.face for card in seat.cards)) if seat.cards and is_hidden else ""
        mark = ">" if seat.status == "to act" else " "
        words = "  ".join(
            filter(None, (f"{mark} {_padded(name, name_width)}", cards, terminal_text(listed(seat_details(seat)))))
        )
        if seat.is_viewer and get_cwidth(words) > width:
            rows += styled_lines("you", words, width)
        else:
            rows.append([("class:you" if seat.is_viewer else "class:", truncate(words, width))])
    return rows


def _padded(words: str, columns: int) -> str:
    return words + " " * (columns - get_cwidth(words))


def _news_lines(view: TableView, announcements: int, width: int) -> list[Line]:
    money = "   ".join(terminal_text(line) for line in (money_text(view), time_text(view)) if line is not None)
    news = " ".join(map(terminal_text, view.announcements[len(view.announcements) - announcements :]))
    lines = styled_lines("", money, width) if money else []
    if news:
        lines += [[], *styled_lines("news", news, width)]
    if view.status is not None:
        lines += styled_lines("", view.status, width)
    if view.blocked is not None and view.blocked != view.status:
        lines += styled_lines("", view.blocked, width)
    return lines


def _score_lines(view: TableView, results: int, width: int) -> list[Line]:
    score = [] if view.score is None else styled_lines("quiet", view.score, width)
    latest = view.results[len(view.results) - results :]
    return [*score, *(styled_line("quiet", f"  {terminal_text(result)}", width) for result in latest)]


def _footer_lines(view: TableView, keys: TableKeys, width: int, *, has_help: bool) -> list[Line]:
    """Return the answer to the last key, and the keys, unless the table is over."""
    notice = [] if keys.notice is None else styled_lines("notice", keys.notice, width)
    if view.is_over:
        return notice
    if keys.number is not None:
        prompt = styled_lines("notice", number_prompt(keys.number), width)
        return [[], *notice, *prompt, *styled_lines("keys", text("Enter confirms, Esc cancels."), width)]
    is_long = len(view.actions) > MAX_HELPED_ACTIONS or view.blocked is not None
    helped = [action for action in view.actions if has_help and not is_long and action.id != "leave"]
    labels = [f"[{action.key}] {terminal_text(action.label)}" for action in view.actions if action not in helped]
    help_label = terminal_text(text("[?] rules and keys"))
    return [
        [],
        *notice,
        *(styled_line("keys", action_line(action), width) for action in helped),
        *([("class:keys", line)] for line in wrap_items([*labels, help_label], width)),
    ]


def wrap_items(items: Sequence[str], width: int) -> list[str]:
    """Return items as lines of at most `width` columns, with two spaces between them.

    >>> wrap_items(["[c] Check", "[b] Bet", "[q] Leave"], 20)
    ['[c] Check  [b] Bet', '[q] Leave']
    """
    lines: list[str] = []
    for item in items:
        joined = f"{lines[-1]}  {item}" if lines else item
        if lines and get_cwidth(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(truncate(item, width))
    return lines
