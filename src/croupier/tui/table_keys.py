"""What the keys of a person mean at a table: actions, digits of a number, confirmations, and help."""

from typing import Final, NamedTuple

from croupier.core.presentation import ActionView, Amount, TableView, Text, listed, text
from croupier.tui.texts import presets_text

ENTER, BACKSPACE, ESCAPE, TAB, UP, DOWN = "c-m", "c-h", "escape", "c-i", "up", "down"
"""Keys without a letter, as prompt_toolkit names them."""

HANGUP: Final = "hangup"
"""The key that a terminal presses when it is closed."""

LEAVE_KEYS: Final = frozenset({"c-c", "c-d", "<sigint>", HANGUP})
"""Keys that leave at once: Ctrl-C, also as a signal, and Ctrl-D."""

HELP: Final = "?"

MAX_DIGITS: Final = 10
"""The largest number of any of the protocols has this many digits."""


class Choice(NamedTuple):
    """What a person has chosen: the id of an action and its number, if it has one."""

    action: str
    amount: int | None = None


class NumberInput:
    """The number of an action, while it is entered. The first digit replaces a number that was filled in."""

    def __init__(self, action: ActionView, amount: Amount, digits: str = "") -> None:
        self.action = action
        self.amount = amount
        self.digits = digits or str(amount.initial or "")
        self._is_filled_in = not digits

    def press(self, key: str) -> bool:
        """Apply a key. Return whether it was used."""
        if key.isdecimal() and key.isascii():
            self.digits = (("" if self._is_filled_in else self.digits) + key)[:MAX_DIGITS]
        elif key == BACKSPACE:
            self.digits = self.digits[:-1]
        elif key in {UP, DOWN}:
            value = int(self.digits or self.amount.low) + (1 if key == UP else -1)
            self.digits = str(max(self.amount.low, min(value, self.amount.high)))
        elif key == TAB and self.amount.presets:
            values = [value for _, value in self.amount.presets]
            current = int(self.digits or 0)
            self.digits = str(next((value for value in sorted(values) if value > current), min(values)))
        else:
            return False
        self._is_filled_in = key in {TAB, UP, DOWN}
        return True

    @property
    def value(self) -> int | None:
        """The number, None if it is not one that the action allows."""
        value = int(self.digits or -1)
        return value if self.amount.low <= value <= self.amount.high else None


class TableKeys:
    """Interprets the keys of a person for the current view of the table.

    `notice` is the answer to the last key, None if it needs none. `number` is the number being entered, None if there
    is none. `is_help_shown` is whether the person reads the rules and keys.
    """

    def __init__(self, view: TableView) -> None:
        self.notice: Text | None = None
        self.number: NumberInput | None = None
        self.is_help_shown = False
        self._view = view
        self._to_confirm: ActionView | None = None
        self._was_rejected = False

    def update(self, view: TableView) -> None:
        """Use another view. What was entered for an action is dropped if the action has changed."""
        if self._was_rejected and view.actions != self._view.actions:
            self.notice = None
        self._view = view
        if self.number is not None and self.number.action not in view.actions:
            self.number = None
        if self._to_confirm is not None and self._to_confirm not in view.actions:
            self._to_confirm = self.notice = None

    def press(self, key: str) -> Choice | None:
        """Handle a key. Return what the person has chosen by it, None if nothing."""
        if key in LEAVE_KEYS:
            return Choice("leave")
        was_help_shown, self.is_help_shown = self.is_help_shown, False
        confirmed, self._to_confirm, self.notice = self._to_confirm, None, None
        self._was_rejected = False
        if key == HELP:
            self.is_help_shown = not was_help_shown
            return None
        if was_help_shown or (key == ESCAPE and confirmed is not None):
            return None
        if self.number is not None:
            if key == ENTER:
                return self._enter_number(self.number)
            if self.number.press(key):
                return None
            self.number = None
            if key == ESCAPE:
                return None
        action = self._action_of(key)
        if action is None:
            if not self._begin_number(key):
                self.reject(repr(key) if len(key) == 1 else KEY_NAMES.get(key, text("That key")))
            return None
        if action.warning is not None and action != confirmed:
            self._to_confirm = action
            self.notice = text(
                "{warning} Press {key} again to do it, Esc to stay.", warning=action.warning, key=action.key
            )
            return None
        return self._choose(action)

    def _choose(self, action: ActionView) -> Choice | None:
        if action.amount is None:
            return Choice(action.id)
        self.number = NumberInput(action, action.amount)
        return None

    def _enter_number(self, number: NumberInput) -> Choice | None:
        value = number.value
        if value is None:
            self.notice = text(
                "{label}: found {number}; allowed: {low} to {high}.",
                label=number.action.label,
                number=number.digits or text("no number"),
                low=number.amount.low,
                high=number.amount.high,
            )
            return None
        self.number = None
        return Choice(number.action.id, value)

    def _action_of(self, key: str) -> ActionView | None:
        """Return the action of a key; Enter is the only action, if there is just one besides leaving."""
        if key == ENTER:
            actions = [action for action in self._view.actions if action.id != "leave"]
            return actions[0] if len(actions) == 1 else None
        of_keys = {action.key: action for action in self._view.actions}
        return of_keys.get(key) or of_keys.get(key.lower())

    def _begin_number(self, key: str) -> bool:
        """Begin to enter a number with its first digit, if just one action has a number. Return whether it began."""
        with_numbers = [action for action in self._view.actions if action.amount is not None]
        if len(with_numbers) != 1 or not (key.isdecimal() and key.isascii()):
            return False
        (action,) = with_numbers
        assert action.amount is not None, "it was selected for its number"
        self.number = NumberInput(action, action.amount, key)
        return True

    def reject(self, name: Text | str) -> None:
        """Say why a key, given by its name, does nothing now; until something else can be done."""
        self._was_rejected = True
        if self._view.blocked is not None:
            self.notice = text("{key} does nothing now: {reason}", key=name, reason=self._view.blocked)
        else:
            self.notice = text("{key} does nothing now; allowed: {keys}.", key=name, keys=listed(keys_of(self._view)))


KEY_NAMES: Final = {
    ENTER: text("Enter"),
    BACKSPACE: text("Backspace"),
    ESCAPE: text("Esc"),
    TAB: text("Tab"),
}


def keys_of(view: TableView) -> list[Text]:
    """Return what the keys do in a view."""
    return [text("{key} {label}", key=action.key, label=action.label) for action in view.actions]


def number_prompt(number: NumberInput) -> Text:
    """Return what a person reads while entering the number of an action."""
    presets = presets_text(number.amount)
    return text(
        "{label}: {digits}_  ({low} to {high}{presets})",
        label=number.action.label,
        digits=number.digits,
        low=number.amount.low,
        high=number.amount.high,
        presets="" if presets is None else text("; Tab: {presets}", presets=presets),
    )
