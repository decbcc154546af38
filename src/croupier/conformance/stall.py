"""Who was asleep cannot tell that others were silent: a machine that stands still for a while is nobody's fault."""

from typing import Final

ASLEEP: Final = 0.05
"""An alarm that rings so many seconds late has found the tester itself asleep, or the whole machine."""

LONGEST: Final = 1.0
"""As long as it has slept others are waited for once more, but so many seconds at most."""


def excuse(late: float) -> float:
    """How many seconds more a silence is listened to when the alarm that ends it has rung so many seconds late.

    What has come in the meantime is not read yet, and whoever was asked may have slept as well. 0 for who was awake.
    """
    return min(late, LONGEST) if late > ASLEEP else 0.0
