"""Timeouts shrink for a server that is silent, and stalls of this process do not count."""

import asyncio
from time import sleep

import pytest

from croupier.conformance.timeouts import (
    FIRST_ANSWER_SECONDS,
    MAX_SILENCES,
    MIN_REDUCED_SECONDS,
    MUTE_SECONDS,
    SLOWEST_ANSWER_FACTOR,
    TICK_SECONDS,
    AnswerTimeout,
    StallTolerantTimeout,
    wait_first,
)


async def wait_for_result(seconds: float, blocked: float) -> str:
    """Wait for a result that is set after the process was blocked for a while."""
    answer = asyncio.get_running_loop().create_future()

    async def set_result_later() -> None:
        sleep(blocked)  # the whole process is blocked
        await asyncio.sleep(0)
        answer.set_result("at last")

    task = asyncio.create_task(set_result_later())
    async with StallTolerantTimeout(seconds):
        found: str = await answer
    await task
    return found


def test_timeout_expires() -> None:
    async def main() -> None:
        async with StallTolerantTimeout(0.01):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_stalled_time_does_not_count() -> None:
    assert asyncio.run(wait_for_result(2 * TICK_SECONDS, 5 * TICK_SECONDS)) == "at last"


def test_no_timeout_after_the_block() -> None:
    async def main() -> str:
        async with StallTolerantTimeout(0.01):
            await asyncio.sleep(0)
        await asyncio.sleep(0.03)
        return "still here"

    assert asyncio.run(main()) == "still here"


def test_a_server_that_never_answers_is_waited_for_once() -> None:
    timeout = AnswerTimeout(5.0)
    assert timeout.for_try() == FIRST_ANSWER_SECONDS
    timeout.record_silence()
    assert timeout.for_try(is_patient=True) == 5.0
    timeout.record_silence()
    assert timeout.for_try(is_patient=True) == FIRST_ANSWER_SECONDS
    timeout.record_silence()
    assert timeout.for_try() == timeout.for_try(is_patient=True) == MUTE_SECONDS


def test_a_server_that_was_silent_before_has_had_its_first_look() -> None:
    timeout = AnswerTimeout(5.0, was_silent=True)
    assert timeout.for_try() == MUTE_SECONDS
    timeout.record_silence()
    assert timeout.for_try(is_patient=True) == 5.0
    timeout.record_answer(1.0)
    assert timeout.for_try() == 5.0


def test_a_server_that_answers_has_the_whole_timeout_until_it_was_silent_often() -> None:
    timeout = AnswerTimeout(5.0)
    timeout.record_answer(0.02)
    for _ in range(MAX_SILENCES):
        assert timeout.for_try() == 5.0
        timeout.record_silence()
    assert timeout.for_try() == pytest.approx(SLOWEST_ANSWER_FACTOR * 0.02)
    assert timeout.for_try(is_patient=True) == 5.0
    timeout.record_answer(1.0)
    assert timeout.for_try() == 5.0


def test_a_short_timeout_is_never_exceeded() -> None:
    timeout = AnswerTimeout(0.01)
    assert timeout.for_try() == 0.01
    timeout.record_answer(0.001)
    for _ in range(MAX_SILENCES):
        timeout.record_silence()
    assert timeout.for_try() == timeout.reduced(MIN_REDUCED_SECONDS) == 0.01


def test_the_first_one_ends_the_wait_and_the_others_are_cancelled() -> None:
    async def main() -> None:
        first = asyncio.ensure_future(asyncio.sleep(0.0, "done"))
        second = asyncio.ensure_future(asyncio.Event().wait())
        assert await wait_first(first, second) == {first}
        assert (first.result(), second.cancelled()) == ("done", True)

    asyncio.run(main())


def test_nothing_is_done_when_the_time_is_over() -> None:
    async def main() -> None:
        waiting = asyncio.ensure_future(asyncio.Event().wait())
        assert not await wait_first(waiting, seconds=0.0)
        assert waiting.cancelled()

    asyncio.run(main())
