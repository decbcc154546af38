"""A fault is shown with as little as can be: half of what shows it is left out, a quarter, at last each part."""

from collections.abc import Awaitable, Callable, Sequence


async def ddmin[Part, Shown](
    found: Shown,
    parts: Callable[[Shown], Sequence[Part]],
    retry: Callable[[Sequence[Part]], Awaitable[Shown | None]],
    is_enough: Callable[[Shown], bool] = lambda _: False,
) -> Shown:
    """What shows the same with as few parts as can be found. `parts` are those of something that was found.

    `again` tries with just these parts; it answers None where they do not show it. It ends as soon as something is
    `enough` (A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
    """
    size = max(1, len(parts(found)) // 2)
    while size:
        at, less = 0, False
        while at < len(parts(found)):
            if is_enough(found):
                return found
            rest = [*parts(found)[:at], *parts(found)[at + size :]]
            if (shorter := await retry(rest)) is None:
                at += size
            else:
                found, less = shorter, True
        size = size if less and size <= len(parts(found)) else size // 2
    return found
