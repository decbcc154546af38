"""Delta debugging: reduce an input to a small part that still shows the same fault."""

from collections.abc import Awaitable, Callable, Sequence


async def ddmin[Part, Found](
    found: Found,
    parts: Callable[[Found], Sequence[Part]],
    retry: Callable[[Sequence[Part]], Awaitable[Found | None]],
    is_enough: Callable[[Found], bool] = lambda _: False,
) -> Found:
    """Return a small result that still shows the fault; `parts` returns the parts of a result.

    `retry` runs with only the given parts and returns None if they do not show the fault. The search ends as soon as
    `is_enough` accepts a result. It tries to leave out half of the parts, then a quarter, and at last each single part
    (A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
    """
    size = max(1, len(parts(found)) // 2)
    while size:
        at, has_shrunk = 0, False
        while at < len(parts(found)):
            if is_enough(found):
                return found
            rest = [*parts(found)[:at], *parts(found)[at + size :]]
            if (shorter := await retry(rest)) is None:
                at += size
            else:
                found, has_shrunk = shorter, True
        size = size if has_shrunk and size <= len(parts(found)) else size // 2
    return found
