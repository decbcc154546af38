"""Runs a Python file that a user names on the command line, such as `leduc.py:RULES`, and finds an object in it."""

import importlib.util
import sys
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

SUFFIX = ".py"


def split_python_file(text: str) -> tuple[Path, str] | None:
    """The path and the name of `FILE.py:NAME`, or of `FILE.py`, whose name is empty. None if it is no Python file.

    >>> split_python_file("games/leduc.py:RULES")[1], split_python_file("equilibrium:1/6")
    ('RULES', None)
    """
    path, _, name = text.rpartition(":")
    if path.endswith(SUFFIX):
        return Path(path), name
    return (Path(text), "") if text.endswith(SUFFIX) else None


def load_object(path: Path, name: str) -> object:
    """The object with a name in a Python file. Raises ValueError if there is none, and as `load_python_file` does."""
    module = load_python_file(path)
    if not hasattr(module, name):
        names = ", ".join(each for each in vars(module) if not each.startswith("_"))
        raise ValueError(f"found no {name} in {path}; allowed: {names or 'a file that defines it'}")
    found: object = getattr(module, name)
    return found


def load_python_file(path: Path) -> ModuleType:
    """Run a Python file as a module, unless this process has done so before.

    Its folder is added to the end of `sys.path`. Raises ValueError if there is no such file, and if running it fails.
    """
    resolved = path.resolve()
    module_name = f"croupier_file_{sha256(str(resolved).encode()).hexdigest()[:16]}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    if not resolved.is_file():
        raise ValueError(f"found no file {str(path)!r}; allowed: a Python file")
    spec = importlib.util.spec_from_file_location(module_name, resolved)
    assert spec is not None, "the name ends with .py"
    assert spec.loader is not None, "the name ends with .py"
    module = importlib.util.module_from_spec(spec)
    if str(resolved.parent) not in sys.path:
        sys.path.append(str(resolved.parent))  # last, so that none of its files hides a module of another package
    sys.modules[module_name] = module  # before it runs, as `import` does: dataclasses look it up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise ValueError(f"found the file {str(path)!r}, which cannot be run: {describe_error(error, path)}") from error
    return module


def describe_error(error: BaseException, path: Path) -> str:
    """An error that a Python file has raised, with the last of its lines that took part."""
    file = str(path.resolve())
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"line {lines[-1]}: {reason}" if lines else reason
