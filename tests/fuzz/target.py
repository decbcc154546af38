"""What is fuzzed: a function that parses any bytes, and the bytes that fuzzing starts from."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A target of fuzzing. `run` raises nothing, whatever the bytes: an exception is a fault of the parser.

    `corpus` returns valid input, from which the fuzzer makes more.
    """

    name: str
    run: Callable[[bytes], None]
    corpus: Callable[[], Iterable[bytes]]


def text_target(name: str, parse: Callable[[str], object], corpus: Callable[[], Iterable[str]]) -> Target:
    """A target that parses text, and may raise ValueError."""

    def run(data: bytes) -> None:
        allow(ValueError, parse, data.decode(errors="replace"))

    return Target(name, run, lambda: (text.encode() for text in corpus()))


def allow(allowed: type[Exception], parse: Callable[..., object], *arguments: object) -> None:
    """Call a parser, which may raise the exception that its documentation names."""
    with suppress(allowed):
        parse(*arguments)


def pieces(data: bytes) -> tuple[bytes, Sequence[bytes]]:
    """Bytes after the first one, as a whole and cut into pieces whose size the first one gives."""
    size, rest = (data[0] % 32 + 1, data[1:]) if data else (1, b"")
    return rest, [rest[at : at + size] for at in range(0, len(rest), size)]


def every_size(streams: Iterable[bytes], sizes: Sequence[int] = (0, 6)) -> Iterable[bytes]:
    """Streams for `pieces`: each with a byte before it for each size."""
    return (bytes([size]) + stream for stream in streams for size in sizes)


__all__ = ["Target", "allow", "every_size", "pieces", "text_target"]
