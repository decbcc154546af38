"""Bots in Python files: `bot.py:Class` and `bot.py:Class:ARGUMENT`."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, Final, NamedTuple, Self

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
            raise self._error(f"{self.name} cannot be made: {self._describe(error)}") from error
        if problem := _choose_problem(bot):
            raise self._error(f"{self.name} {problem}; allowed: a class with a method choose(view, legal, luck)")
        return lambda: make(*arguments)

    def _load(self) -> ModuleType:
        """Run the file as a module, unless this process has done so before."""
        path = self.path.resolve()
        module_name = f"croupier_bot_{sha256(str(path).encode()).hexdigest()[:16]}"
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
            raise self._error(f"the file cannot be run: {self._describe(error)}") from error
        return module

    def _find_class(self, module: ModuleType) -> Callable[..., Any]:
        """The class, or another function that makes bots."""
        found: object = getattr(module, self.name, None) if self.name else None
        if callable(found):
            return found
        classes = ", ".join(f"{self.path}:{name}" for name, each in vars(module).items() if _is_bot_class(each, module))
        problem = f"there is no class {self.name!r}" if self.name else "the class is missing"
        raise self._error(f"{problem}; allowed: {classes or 'a class with a method choose(view, legal, luck)'}")

    def _describe(self, error: BaseException) -> str:
        """An error of the file, with the last of its lines that took part."""
        if isinstance(error, SyntaxError) and error.filename == str(self.path.resolve()):
            return f"line {error.lineno}: {error.msg}"
        lines = [
            frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(self.path.resolve())
        ]
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return f"line {lines[-1]}: {reason}" if lines else reason

    def _error(self, reason: str) -> ValueError:
        return ValueError(f"found the bot {str(self)!r}: {reason}")


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
