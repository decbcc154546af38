"""Options of the commands that start programs of others: what those programs may do."""

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from croupier.cli.options import check_minimum
from croupier.cli.output import print_error
from croupier.conformance.containment.launch_spec import Limits

if TYPE_CHECKING:
    from croupier.conformance.containment.policy import Containment


@dataclass(frozen=True)
class ContainmentOptions(Limits):
    """What programs under test may do."""

    env: Annotated[list[str], Parameter(negative="")] = field(default_factory=list)
    """Environment variable for programs, as NAME=VALUE, or as NAME with its present value. Can be repeated."""

    no_sandbox: bool = False
    """Let programs write wherever the user can. By default they run in a sandbox, if the machine has one."""

    def containment(self, *hidden_folders: Path) -> "Containment":
        """The containment with these options; programs find `hidden_folders` empty. Raises ValueError."""
        from croupier.conformance.containment.policy import Containment

        limits = {each.name: getattr(self, each.name) for each in fields(Limits)}
        check_minimum(1, **limits)
        return Containment(
            limits=Limits(**limits),
            variables=dict(map(_variable, self.env)),
            is_sandboxed=not self.no_sandbox,
            hidden_folders=tuple(hidden_folders),
        )


def _variable(text: str) -> tuple[str, str]:
    """Parse NAME=VALUE or NAME. Raises ValueError."""
    name, equals, value = text.partition("=")
    if not name or (not equals and name not in os.environ):
        raise ValueError(f"found --env {text}; allowed: NAME=VALUE, or the NAME of a variable that is set")
    return name, value if equals else os.environ[name]


async def report_missing_sandbox() -> None:
    """Print once that programs run without a sandbox, if this machine has none."""
    from croupier.conformance.containment.launch import find_sandbox

    found = await find_sandbox()
    if found.kind == "none":
        print_error(f"programs run without a sandbox: this machine has none ({found.reason})")
