"""All targets of fuzzing, by name."""

from tests.fuzz import files, options, requests, wires
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for module in (wires, requests, files, options) for target in module.TARGETS
}
