"""What a seat knows as one line of text, as OpenSpiel's `information_state_string`."""

from typing import Any

from msgspec import Struct, structs

from croupier.core.rules import Rules, Seat


def information_state_string(rules: Rules[Any, Any], state: Any, seat: Seat) -> str:
    """What a seat knows in a state: the number of the seat, then the values of its view in order.

    It is equal for two states that the seat cannot distinguish, different for others, and different for two seats, so
    that it can be the key of a table with the policies of all seats.

    Example:
        >>> from croupier.kuhn import KUHN
        >>> state = KUHN.start()
        >>> for move in ("Q", "K", "CHK", "BET"):
        ...     state = KUHN.play(state, move)
        >>> information_state_string(KUHN, state, 0)
        '0 Q [CHK BET]'
    """
    values = _values(rules.view(state, seat))
    words = values if values is not None else [rules.view(state, seat)]
    return " ".join([str(seat), *map(_word, words)])


def _word(value: Any) -> str:
    """A value as text: a sequence in brackets, nothing as a dash."""
    values = _values(value)
    if values is not None:
        return f"[{' '.join(map(_word, values))}]"
    return "-" if value is None else str(value)


def _values(view: Any) -> list[Any] | None:
    """The values of a tuple or of a struct; None for any other value."""
    if isinstance(view, Struct):
        return [*structs.astuple(view)]
    return [*view] if isinstance(view, tuple | list) else None
