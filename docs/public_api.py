"""The page of the public API: every public name with the first sentence of its documentation."""

import inspect
from importlib import import_module
from typing import Any

MODULES = (
    "croupier",
    "croupier.kuhn",
    "croupier.sevenhalf",
    "croupier.blackjack",
    "croupier.holdem",
    "croupier.oldmaid",
    "croupier.environments",
)
HEAD = """# Public API

These names are public. They keep their meaning within a major version; everything else in the package may change
between releases.
`pydoc NAME` prints the full documentation of each, with parameters, errors and examples; that of a module has the
examples of its constants.
"""
CONSTANTS = {
    "BLACKJACK": "The rules of the game, with one deck.",
    "BOT_SPECS": "The built-in bots of the room, by name.",
    "CARDS": "The names of the 52 cards, indexed by their numbers.",
    "KUHN": "The rules of the game.",
    "KuhnAction": "An action: CHK, BET, CAL or FLD.",
    "ROOM": "The record of the room.",
    "ROOMS": "The record of every room, by name.",
    "SEVENHALF": "The rules of the game, with raises up to the largest bet.",
    "__version__": "The version of the package.",
}
"""What constants are; they have no documentation at run time. The docstrings of their modules have their examples."""


def public_names(module: str) -> list[str]:
    """The public names of a module, sorted."""
    return sorted(import_module(module).__all__)


def summary(name: str, found: Any) -> str:
    """The first sentence of the documentation of a public object. Raises ValueError if it has none."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    text = inspect.getdoc(found) or ""
    first = " ".join(text.split("\n\n")[0].split())
    sentence, stop, _ = first.partition(". ")
    if not sentence or first.startswith(f"{name}("):
        raise ValueError(f"found no documentation of {name}; allowed: a docstring that begins with a sentence")
    return (sentence + "." if stop else sentence).replace("|", r"\|")


def kind(found: Any) -> str:
    """What a public object is, in one word."""
    if inspect.ismodule(found):
        return "module"
    if inspect.isclass(found):
        return "exception" if issubclass(found, Exception) else "class"
    return "function" if callable(found) else "constant"


def public_api_page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for module in MODULES:
        loaded = import_module(module)
        rows = [f"\n## {module}\n", summary(module, loaded), "", "| Name | | |", "|---|---|---|"]
        for name in public_names(module):
            found = getattr(loaded, name)
            rows.append(f"| `{name}` | {kind(found)} | {summary(name, found)} |")
        parts.append("\n".join(rows))
    return "\n".join(parts) + "\n"
