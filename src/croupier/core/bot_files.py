"""Bots in Python files: `bot.py:Class` and `bot.py:Class:ARGUMENT`."""

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

from croupier.core.python_files import describe_error, load_python_file, split_python_file


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
        parts = split_python_file(text)
        return None if parts is None else cls(*parts)

    def __str__(self) -> str:
        name = [self.name] if self.name or self.argument is not None else []
        return ":".join([str(self.path), *name, *([] if self.argument is None else [self.argument])])

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
            raise self._error(f"{self.name} cannot be made: {describe_error(error)}") from error
        if problem := _choose_problem(bot):
            raise self._error(f"{self.name} {problem}; allowed: a class with a method choose(view, legal, luck)")
        return lambda: make(*arguments)

    def _load(self) -> ModuleType:
        try:
            return load_python_file(self.path)
        except FileNotFoundError:
            raise self._error("there is no such file; allowed: a Python file and a class, bot.py:Class") from None
        except ValueError as error:
            raise self._error(str(error)) from error

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
