"""Bots in Python files: `bot.py:Class` and `bot.py:Class:ARGUMENT`."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any, Final, NamedTuple, Self

MODULE_PREFIX: Final = "croupier_bot_"
"""The beginning of the names of modules that are bot files."""

FILE_PATTERN: Final = re.compile(r"(?P<path>.+?\.py)(?::(?P<name>[^:]*)(?::(?P<argument>.*))?)?", re.DOTALL)


class BotFile(NamedTuple):
    """The parts of `bot.py:Class:ARGUMENT`; `name` is "" without a class, `argument` is None without an argument."""

    path: Path
    name: str
    argument: str | None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The parts of a text; None if it names no Python file.

        >>> BotFile.parse("bots/mine.py:Careful:3")[1:], BotFile.parse("book:3")
        (('Careful', '3'), None)
        """
        found = FILE_PATTERN.fullmatch(text)
        return None if found is None else cls(Path(found["path"]), found["name"] or "", found["argument"])

    def __str__(self) -> str:
        return ":".join([str(self.path), self.name, *([] if self.argument is None else [self.argument])])

    def factory(self) -> Callable[[], Any]:
        """A function that makes bots of the class. One bot is made and discarded, to find errors now.

        The file is run once in each process, with its folder at the end of `sys.path`. Raises ValueError if there is
        no such file, if running it or making a bot fails, and if the class does not make bots.
        """
        make = self._find_class(self._load())
        arguments = () if self.argument is None else (self.argument,)
        try:
            bot = make(*arguments)
        except (Exception, SystemExit) as error:
            raise self._error(f"{self.name} cannot be made: {describe_bot_error(error)}") from error
        if problem := _choose_problem(bot):
            raise self._error(f"{self.name} {problem}; allowed: a class with a method choose(view, legal, luck)")
        return lambda: make(*arguments)

    def _load(self) -> ModuleType:
        """Run the file as a module, unless this process has done so before."""
        path = self.path.resolve()
        module_name = f"{MODULE_PREFIX}{sha256(str(path).encode()).hexdigest()[:16]}"
        if module_name in sys.modules:
            return sys.modules[module_name]
        if not path.is_file():
            raise self._error("there is no such file; allowed: a Python file and a class, bot.py:Class")
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None, "the name ends with .py"
        assert spec.loader is not None, "the name ends with .py"
        module = importlib.util.module_from_spec(spec)
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))  # last, so that none of its files hides a module of another package
        sys.modules[module_name] = module  # before it runs, as `import` does: dataclasses look it up
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[module_name]
            raise self._error(f"the file cannot be run: {describe_bot_error(error)}") from error
        return module

    def _find_class(self, module: ModuleType) -> Callable[..., Any]:
        """The class, or another function that makes bots."""
        found: object = getattr(module, self.name, None) if self.name else None
        if callable(found):
            return found
        classes = ", ".join(f"{self.path}:{name}" for name, each in vars(module).items() if _is_bot_class(each, module))
        problem = f"there is no class {self.name!r}" if self.name else "the class is missing"
        raise self._error(f"{problem}; allowed: {classes or 'a class with a method choose(view, legal, luck)'}")

    def _error(self, reason: str) -> ValueError:
        return ValueError(f"found the bot {str(self)!r}: {reason}")


def describe_bot_error(error: BaseException, *, message: bool = True) -> str:
    """An exception in one line, with the line of the bot file in which it was raised, if it was raised in one.

    Without `message`, the text that came with the exception is left out: it may contain what only the bot may know.
    """
    reason = type(error).__name__
    if message and str(error):
        reason = error.msg if isinstance(error, SyntaxError) else f"{reason}: {error}"
    line = bot_error_line(error)
    return reason if line is None else f"line {line}: {reason}"


def bot_error_line(error: BaseException) -> int | None:
    """The last line of a bot file that took part in an exception; None if none did."""
    lines = [
        line
        for frame, line in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).startswith(MODULE_PREFIX)
    ]
    if lines:
        return lines[-1]
    return error.lineno if isinstance(error, SyntaxError) else None


def _is_bot_class(found: object, module: ModuleType) -> bool:
    """Whether an object is a class of the module that makes bots."""
    return inspect.isclass(found) and found.__module__ == module.__name__ and callable(getattr(found, "choose", None))


def _choose_problem(bot: object) -> str | None:
    """What is wrong with the method `choose` of a bot; None if nothing is."""
    choose = getattr(bot, "choose", None)
    if not callable(choose):
        return "has no method choose"
    if inspect.iscoroutinefunction(choose):
        return "has an asynchronous method choose"
    try:
        inspect.signature(choose).bind(None, None, None)
    except TypeError as error:
        return f"has a method choose{inspect.signature(choose)}, which is called with three arguments: {error}"
    except ValueError:  # a function in C that has no signature
        return None
    return None
