"""The modules of a program in simulated time: its own, and stand-ins for those that block or leave the process."""

import argparse
import asyncio
import builtins
import http
import importlib.util
import select
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import Context
from functools import cache, partial
from io import StringIO
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.conformance.simulation.threads import (
    Condition,
    RLock,
    Signal,
    Threads,
    selector_class,
    socket_class,
    thread_class,
    timer_class,
)

BLOCKING_LIBRARIES = ("http.client", "http.server", "socketserver")
"""Modules of the standard library that a program gets anew, with the stand-ins."""


@cache
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, name, "exec", dont_inherit=True)


@cache
def _library_source(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def _copy(module: ModuleType, **changed: object) -> ModuleType:
    copied = ModuleType(module.__name__, module.__doc__)
    copied.__dict__.update(vars(module) | changed)
    return copied


class Modules:
    """What the modules of a program import, by name. `sources` are its own modules by file name."""

    def __init__(self, threads: Threads, sources: Mapping[str, str], words: Sequence[str], context: Context) -> None:
        self.stdout, self.stderr = StringIO(), StringIO()
        self.closers: list[Callable[[], object]] = []
        self._threads = threads
        self._context = context
        self._sources = sources
        self._loaded = self._stand_ins([*words])
        self._builtins = vars(builtins) | {"__import__": self._import, "print": self._print}

    def run(self, file: str) -> None:
        """Run a module as the main program."""
        self._execute(ModuleType("__main__"), self._sources[file], file)

    def _execute(self, module: ModuleType, source: str, file: str) -> ModuleType:
        module.__dict__["__builtins__"] = self._builtins
        exec(_compiled(source, file), module.__dict__)
        return module

    def _import(
        self, name: str, scope: Any = None, local: Any = None, wanted: Sequence[str] | None = (), level: int = 0
    ) -> ModuleType:
        found = self._module(name)
        if found is None:
            return __import__(name, scope, local, wanted or (), level)
        return found if wanted else self._loaded[name.partition(".")[0]]

    def _module(self, name: str) -> ModuleType | None:
        """Return a module of the program or a stand-in, None for all other modules."""
        if name not in self._loaded and (f"{name}.py" in self._sources or name in BLOCKING_LIBRARIES):
            file = f"{name}.py"
            source = self._sources[file] if file in self._sources else _library_source(name)
            module = self._loaded[name] = ModuleType(name)
            parent, _, own = name.rpartition(".")
            if parent:
                setattr(self._loaded[parent], own, module)
            self._execute(module, source, file)
        return self._loaded.get(name)

    def _print(self, *values: object, file: StringIO | None = None, **options: Any) -> None:
        print(*values, file=file or self.stdout, **options | {"flush": False})

    def _stand_ins(self, words: list[str]) -> dict[str, ModuleType]:
        threads, loop = self._threads, self._threads.loop
        socket_type, thread = socket_class(threads), thread_class(threads)
        started = time.time() - loop.time()

        class ArgumentParser(argparse.ArgumentParser):
            def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
                return super().parse_args(words[1:] if args is None else args, namespace)

        return {
            "argparse": _copy(argparse, ArgumentParser=ArgumentParser),
            "http": _copy(http),
            "select": _copy(select),
            "selectors": _copy(selectors, PollSelector=selector_class(threads)),
            "socket": _copy(
                socket,
                socket=socket_type,
                create_server=partial(_create_server, socket_type),
                create_connection=partial(_create_connection, socket_type),
            ),
            "sys": _copy(sys, argv=words, stdout=self.stdout, stderr=self.stderr),
            "threading": _copy(
                threading,
                Thread=thread,
                Timer=timer_class(threads),
                RLock=partial(RLock, threads),
                Condition=partial(Condition, threads),
            ),
            "time": _copy(
                time,
                sleep=threads.sleep,
                monotonic=loop.time,
                time=lambda: started + loop.time(),
                time_ns=lambda: int((started + loop.time()) * 1e9),
            ),
            "asyncio": _copy(
                asyncio, run=self._run, open_connection=self._open_connection, start_server=self._start_server
            ),
        }

    def _run(self, main: Any) -> Any:
        """Stand for `asyncio.run`: the coroutine runs in the one loop."""
        ended = Signal()
        outcome = Future[Any]()

        async def run() -> None:
            try:
                outcome.set_result(await main)
            except BaseException as error:  # also SystemExit, which would end the loop
                outcome.set_exception(error)
            self._threads.set(ended)

        loop = self._threads.loop
        loop.post(lambda: loop.create_task(run(), context=self._context))
        self._threads.wait(ended)
        return outcome.result()

    async def _open_connection(self, *place: Any, **options: Any) -> Any:
        reader, writer = await asyncio.open_connection(*place, **options)
        self.closers.append(writer.transport.abort)
        return reader, writer

    async def _start_server(self, converse: Callable[..., Any], *place: Any, **options: Any) -> asyncio.Server:
        async def recorded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.closers.append(writer.transport.abort)
            await converse(reader, writer)

        server = await asyncio.start_server(recorded, *place, **options)
        self.closers.append(server.close)
        return server


def _create_server(kind: type[socket.socket], address: Any, *, backlog: int | None = None) -> socket.socket:
    server = kind(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(address)
    server.listen(backlog or 128)
    return server


def _create_connection(kind: type[socket.socket], address: Any, timeout: Any = None, _: object = None) -> socket.socket:
    connection = kind(socket.AF_INET, socket.SOCK_STREAM)
    if isinstance(timeout, int | float):
        connection.settimeout(timeout)
    connection.connect(address)
    return connection
