"""Runs the examples in the docstrings of a module, with the servers that they need.

A docstring names its servers: "Example, with `croupier serve kuhn` running". Their default ports in the examples are
replaced by those of servers that the test starts.
"""

import doctest
import re
from contextlib import ExitStack
from importlib import import_module

from croupier.rooms import ROOMS
from tests.processes import Serving

SERVER = re.compile(r"Example, with `croupier serve (\w+)( [^`]+)?` running:")


def run_examples(module: str) -> None:
    """Run all examples of a module. Raises AssertionError if one of them gives something else, or if there is none."""
    tests = [test for test in doctest.DocTestFinder().find(import_module(module)) if test.examples]
    assert tests
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in tests:
        with ExitStack() as stack:
            for room, flags in SERVER.findall(test.docstring or ""):
                server = stack.enter_context(Serving(room, *flags.split(), "--port", 0))
                default = f"{ROOMS[room].port}"
                for example in test.examples:
                    example.source = example.source.replace(default, f"{server.port}")
                    example.want = example.want.replace(default, f"{server.port}")
            runner.run(test)
    assert not runner.failures, "see the output"
