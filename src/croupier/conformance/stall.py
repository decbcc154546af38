"""Who was asleep cannot tell that others were silent: a machine that stands still for a while is nobody's fault."""

from typing import Final

MIN_STALL_SECONDS: Final = 0.05
"""An alarm that rings so many seconds late has found the tester itself asleep, or the whole machine."""

MAX_EXTRA_WAIT_SECONDS: Final = 1.0
"""As long as it has slept others are waited for once more, but so many seconds at most."""


def extra_wait(late_seconds: float) -> float:
    """How many seconds more a silence is listened to when the alarm that ends it has rung so many seconds late.

    What has come in the meantime is not read yet, and whoever was asked may have slept as well. 0 for who was awake.
    """
    return min(late_seconds, MAX_EXTRA_WAIT_SECONDS) if late_seconds > MIN_STALL_SECONDS else 0.0
