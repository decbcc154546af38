"""The event loop: uvloop where there is one, plain asyncio elsewhere."""

import asyncio
from collections.abc import Callable, Coroutine


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes the loop."""
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def run[T](main: Coroutine[object, object, T]) -> T:
    """Run a program on a new loop."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(main)
