"""What people see of a table: values that a browser, a terminal and a screen reader show, each in its own way.

A presenter turns the state of one player's session into a `TableView`. Texts are translated where they are shown.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from gettext import NullTranslations
from typing import ClassVar, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from croupier.core.text import printable

MAX_ANNOUNCEMENTS: Final = 12
MAX_RESULTS: Final = 8
"""The maximum number of finished games in a view."""


class Text(Struct, frozen=True):
    """A text for people: `message` is English, and its id in the catalogues.

    The placeholders of the message are replaced by `args`, whose values may be texts. With a `plural`, the number
    `args["count"]` selects the form. Make one with `text` or `counted`, which the catalogues are extracted from.

    >>> str(counted("{count} coin", "{count} coins", 2))
    '2 coins'
    """

    message: str
    plural: str | None = None
    args: Mapping[str, "Text | str | int"] = {}

    def fill(self, **args: "Text | str | int") -> "Text":
        """Return the text with values for more placeholders."""
        return replace(self, args={**self.args, **args})

    def translate(self, catalogue: NullTranslations) -> str:
        """Return the text in the language of a catalogue."""
        if self.plural is None:
            form = catalogue.gettext(self.message)
        else:
            count = self.args["count"]
            assert isinstance(count, int), "a plural is selected by a number"
            form = catalogue.ngettext(self.message, self.plural, count)
        args = {
            name: value.translate(catalogue) if isinstance(value, Text) else value for name, value in self.args.items()
        }
        return form.format_map(args)

    def __str__(self) -> str:
        return self.translate(ENGLISH)


ENGLISH: Final = NullTranslations()
"""The catalogue of English: messages as they are."""


def text(message: str, **args: Text | str | int) -> Text:
    """Make a text from an English message with {placeholders}."""
    return Text(message, args=args)


def counted(singular: str, plural: str, count: int, **args: Text | str | int) -> Text:
    """Make a text with a number, `{count}`, that selects between the singular and the plural form."""
    return Text(singular, plural, {"count": count, **args})


def verbatim(value: str) -> Text:
    """Make a text that is the same in all languages, such as a name or a message of the protocol.

    Characters that are not printable are escaped.
    """
    return Text("{value}", args={"value": printable(value)})


def listed(texts: Iterable[Text]) -> Text:
    """Make one text of several, with commas between them.

    >>> str(listed([text("a king"), text("a queen")]))
    'a king, a queen'
    """
    joined = _join(texts, ", ")
    return verbatim("") if joined is None else joined


def sentences(texts: Iterable[Text]) -> Text | None:
    """Make one text of several sentences, None of none."""
    return _join(texts, " ")


def _join(texts: Iterable[Text], separator: str) -> Text | None:
    args = {f"text{number}": each for number, each in enumerate(texts)}
    return Text(separator.join(f"{{{name}}}" for name in args), args=args) if args else None


def grouped(number: int) -> Text:
    """Make a text of a number, with the separator of the language between groups of three digits.

    >>> str(grouped(12400))
    '12,400'
    """
    first, *groups = f"{number:,}".split(",")
    made = verbatim(first)
    for group in groups:
        made = text("{thousands},{rest}", thousands=made, rest=group)
    return made


class CardView(Struct, frozen=True):
    """A card on the table. `face` is None for a card that lies face down: nothing else is known of it.

    A face is the rank and the suit of a French card (`TH`, `AS`, `JOKER`) or of a Spanish one (`7o`, `sb`), or a rank
    alone (`K`) in a game without suits.
    """

    face: str | None
    name: Text


BACK = CardView(None, text("a card face down"))

type SeatStatus = Literal["", "to act", "folded", "all in", "away", "out"]


class SeatView(Struct, frozen=True, kw_only=True):
    """A seat: whose it is, its cards, its chips (None if it has none in this game) and its bet.

    `caption` describes the cards, as a total does, or the part of the seat in the game. `is_viewer` marks the seat of
    the person who looks at the table.
    """

    name: Text
    cards: tuple[CardView, ...] = ()
    caption: Text | None = None
    chips: int | None = None
    bet: int = 0
    status: SeatStatus = ""
    is_viewer: bool = False
    is_dealer: bool = False


class PotView(Struct, frozen=True):
    """A pot, and what it is called: its name, or who can win it."""

    coins: int
    name: Text = text("Pot")


class Amount(Struct, frozen=True):
    """A whole number that belongs to an action: its range, its preset values with their names, and the initial one."""

    low: int
    high: int
    presets: tuple[tuple[Text, int], ...] = ()
    initial: int | None = None


def presets_within(presets: Iterable[tuple[Text, int | None]], low: int, high: int) -> tuple[tuple[Text, int], ...]:
    """Return the presets whose numbers are in a range; of those with the same number, the last name.

    >>> [(str(name), number) for name, number in presets_within([(text("Pot"), 9), (text("All-in"), 9)], 1, 9)]
    [('All-in', 9)]
    """
    names = {number: name for name, number in presets if number is not None and low <= number <= high}
    return tuple((name, number) for number, name in names.items())


class ActionView(Struct, frozen=True):
    """Something that the person can do now: its `id`, the label of its button, its key, and its consequence.

    No two actions of a table have the same id, or the same key. An action with a `warning` costs something, and is
    confirmed first.
    """

    id: str
    label: Text
    key: str
    help: Text
    amount: Amount | None = None
    warning: Text | None = None


def leave_action(consequence: Text, warning: Text | None = None) -> ActionView:
    """Make the action that leaves a table."""
    return ActionView("leave", text("Leave"), "q", consequence, warning=warning)


LEAVE: Final = leave_action(text("ends the session"))


class TableView(Struct, frozen=True, kw_only=True):
    """A table as one person sees it.

    `announcements` are what has happened since the person's last action, oldest first; `results` are the finished
    games, oldest first. `status` says what the game waits for, or why the table is over. `blocked` is why the person
    can do nothing now but leave; it is None if there is another action, and if the table is over. The first action is
    the most usual one. `deadline` is the number of seconds left for the next action, `purse` the coins that the person
    can still stake; both are None if unknown. In games with chips, the seat shows them, and there is no purse. `score`
    sums up the games so far.
    """

    title: Text
    seats: tuple[SeatView, ...]
    board: tuple[CardView, ...] = ()
    pots: tuple[PotView, ...] = ()
    status: Text | None = None
    announcements: tuple[Text, ...] = ()
    actions: tuple[ActionView, ...] = ()
    blocked: Text | None = None
    deadline: float | None = None
    purse: int | None = None
    score: Text | None = None
    results: tuple[Text, ...] = ()
    is_over: bool = False
    """Whether this is the last view: nothing more will happen at this table."""


class TableCommand(Enum):
    """An action of a person that is no message of the protocol, and ends the current connection."""

    LEAVE = "leave"
    REJOIN = "rejoin"
    """Sit down again, on a new connection."""


class UnknownAction(ValueError):
    """The action is not offered now, or its number is out of range. The message names what is allowed."""


class Refused(Exception):
    """What a person asks for is refused. `reason` is for them."""

    def __init__(self, reason: Text) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Announcements:
    """What has happened since the person's last action: the newest texts, oldest first, at most MAX_ANNOUNCEMENTS."""

    def __init__(self) -> None:
        self._texts: deque[Text] = deque(maxlen=MAX_ANNOUNCEMENTS)
        self._is_stale = False

    @property
    def texts(self) -> tuple[Text, ...]:
        """The texts, oldest first."""
        return tuple(self._texts)

    def add(self, *texts: Text) -> None:
        """Add texts; the first ones after `expire` replace all before them."""
        if self._is_stale and texts:
            self._texts.clear()
            self._is_stale = False
        self._texts += texts

    def expire(self) -> None:
        """Let the next texts replace these, which stay until then."""
        self._is_stale = True


def new_items[T](before: Sequence[T], after: Sequence[T]) -> Sequence[T]:
    """Return the objects at the end of `after` that are not at the end of `before`, whose first ones may be gone.

    It finds what is new in the announcements of a view.

    >>> a, b, c = [1], [2], [3]
    >>> new_items([a, b], [b, c]), new_items([a], [b])
    ([[3]], [[2]])
    """
    for first in range(len(before)):
        kept = before[first:]
        if len(kept) <= len(after) and all(old is new for old, new in zip(kept, after, strict=False)):
            return after[len(kept) :]
    return after


class Presenter[P, R, M](ABC):
    """Describes the games of one person at a table, in one or several connections. It receives R, and sends M.

    `sit` starts a connection with its client session. After the session has handled a message, `received` or `sent`
    adds what it means to the announcements; the session may have handled further messages by then. `move` translates
    an action of the view. `_results` are the finished games, oldest first, and `_end_reason` is why nothing more will
    happen, None before.
    """

    title: ClassVar[Text]
    rules: ClassVar[Text]
    """The rules of the game in one paragraph."""

    welcome: ClassVar[Text]

    def __init__(self) -> None:
        self._announcements = Announcements()
        self._results: deque[Text] = deque(maxlen=MAX_RESULTS)
        self._end_reason: Text | None = None

    def sit(self, player: P, purse: int | None = None) -> M | None:  # noqa: ARG002 -- for subclasses
        """Start a connection; the results of earlier ones are kept.

        Return a message to send at once, if any: a person who rejoins need not start again. `purse` is the coins that
        the server gives to the connection, None if its settings are unknown or it gives none.
        """
        self._announcements = Announcements()
        self._announcements.add(self.welcome)
        return None

    @abstractmethod
    def received(self, message: R) -> None:
        """Announce a message to the person."""

    def sent(self, message: M) -> None:  # noqa: ARG002 -- for subclasses
        """Note a message of the person; the next announcement replaces those before it."""
        self._announcements.expire()

    def ended(self, reason: Text) -> None:
        """Note that nothing more will happen, and why."""
        self._end_reason = reason

    def table(self, now: float) -> TableView:
        """Return the table as the person sees it. `now` is the time of the session's clock in seconds."""
        drawn, ended, actions = self._draw(now), self._end_reason, self._offered_actions()
        is_waiting = ended is None and all(action.id == LEAVE.id for action in actions)
        return replace(
            drawn,
            status=ended or self._status(),
            announcements=self._announcements.texts,
            actions=actions,
            blocked=self._blocked() if is_waiting else None,
            results=tuple(self._results),
            is_over=ended is not None,
        )

    def move(self, action: str, amount: int | None = None) -> M | TableCommand:
        """Return the message or the command of an action. Raises UnknownAction."""
        offered = find_action(self._offered_actions(), action, amount)
        return TableCommand(offered.id) if offered.id in TableCommand else self._message(offered, amount)

    def _offered_actions(self) -> tuple[ActionView, ...]:
        return () if self._end_reason else tuple(self._actions())

    # Implemented by subclasses.

    @abstractmethod
    def _draw(self, now: float) -> TableView:
        """Return the table without what `table` adds."""

    @abstractmethod
    def _actions(self) -> Iterable[ActionView]:
        """Return what the person can do now, the most usual action first. The commands have their values as ids."""

    @abstractmethod
    def _message(self, offered: ActionView, amount: int | None) -> M:
        """Return the message of an action that is no command."""

    @abstractmethod
    def _status(self) -> Text | None:
        """Return what the game waits for, None if the actions say it."""

    def _blocked(self) -> Text | None:
        """Return why the person can do nothing now but leave."""
        return self._status()


def find_action(actions: Sequence[ActionView], action: str, amount: int | None) -> ActionView:
    """Return the action with an id; its number has to be in range. Raises UnknownAction."""
    for offered in actions:
        if offered.id == action:
            allowed = offered.amount
            if allowed is None or (amount is not None and allowed.low <= amount <= allowed.high):
                return offered
            raise UnknownAction(f"found {action} {amount}; allowed: {allowed.low} to {allowed.high}")
    listed = ", ".join(offered.id for offered in actions) or "nothing"
    raise UnknownAction(f"found {action}; allowed: {listed}")
