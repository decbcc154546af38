"""Runs Python files that users name, such as `leduc.py:RULES` and `bot.py:Class`, and describes their errors."""

import importlib.util
import re
import sys
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Final

FILE_PATTERN: Final = re.compile(r"(?P<path>.+?\.py)(?::(?P<name>[^:]*)(?::(?P<argument>.*))?)?", re.DOTALL)

MODULE_PREFIX = "croupier_file_"
"""The beginning of the names of modules that are users' files."""


def split_python_file(text: str) -> tuple[Path, str, str | None] | None:
    """The parts of `FILE.py:NAME:ARGUMENT`, or None if it names no Python file.

    A name that is missing is "", an argument that is missing is None.

    >>> split_python_file("games/leduc.py:RULES")[1:], split_python_file("equilibrium:1/6")
    (('RULES', None), None)
    """
    found = FILE_PATTERN.fullmatch(text)
    return None if found is None else (Path(found["path"]), found["name"] or "", found["argument"])


def is_file(path: Path) -> bool:
    """Whether there is such a file; a text that is too long for a path names none."""
    try:
        return path.is_file()
    except OSError:
        return False


def load_object(path: Path, name: str) -> object:
    """The object with a name in a Python file. Raises ValueError if there is no such file or object, or if it fails."""
    try:
        module = load_python_file(path)
    except FileNotFoundError:
        raise ValueError(f"found no file {str(path)!r}; allowed: a Python file") from None
    except ValueError as error:
        raise ValueError(f"found the file {str(path)!r}: {error}") from error
    if not hasattr(module, name):
        names = ", ".join(each for each in vars(module) if not each.startswith("_"))
        raise ValueError(f"found no {name} in {path}; allowed: {names or 'a file that defines it'}")
    found: object = getattr(module, name)
    return found


def load_python_file(path: Path) -> ModuleType:
    """Run a Python file as a module, unless this process has done so before.

    Its folder is added to the end of `sys.path`. Raises FileNotFoundError if there is no such file, and ValueError if
    running it fails.
    """
    path = path.resolve()
    module_name = f"{MODULE_PREFIX}{sha256(str(path).encode()).hexdigest()[:16]}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    if not is_file(path):
        raise FileNotFoundError(path)
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
        raise ValueError(f"the file cannot be run: {describe_error(error)}") from error
    return module


def describe_error(error: BaseException, *, message: bool = True) -> str:
    """An exception in one line, with the line of the user's file in which it was raised, if it was raised in one.

    Without `message`, the text that came with the exception is left out: it may contain what only the file may know.
    """
    reason = type(error).__name__
    if message and str(error):
        reason = error.msg if isinstance(error, SyntaxError) else f"{reason}: {error}"
    line = error_line(error)
    return reason if line is None else f"line {line}: {reason}"


def error_line(error: BaseException) -> int | None:
    """The last line of a user's file that took part in an exception; None if none did."""
    lines = [
        line
        for frame, line in walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).startswith(MODULE_PREFIX)
    ]
    if lines:
        return lines[-1]
    return error.lineno if isinstance(error, SyntaxError) else None
