"""Compiles the engine of hold'em with mypyc when hatchling builds a wheel and HATCH_BUILD_HOOK_ENABLE_CUSTOM is set."""

from pathlib import Path
from runpy import run_path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = Path("src")
MODULE_LIST = SOURCES / "croupier/rooms/holdem/engine/compilation.py"


class CompiledEngine(BuildHookInterface[Any]):
    """Adds an extension module beside the source of each module in COMPILED; Python prefers it to the source."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 -- hatchling's signature
        """Compile, and give the wheel the tag of this Python and platform."""
        from mypyc.build import mypycify
        from setuptools import Distribution

        compiled: tuple[str, ...] = run_path(str(MODULE_LIST))["COMPILED"]
        files = [str(SOURCES / f"{name.replace('.', '/')}.py") for name in compiled]
        extensions = mypycify(["--config-file", "pyproject.toml", *files], opt_level="3", group_name="croupier")
        distribution = Distribution({"name": "croupier", "ext_modules": extensions, "package_dir": {"": str(SOURCES)}})
        command: Any = distribution.get_command_obj("build_ext")
        command.build_lib = command.build_temp = str(Path("build") / "mypyc")
        command.ensure_finalized()
        command.run()
        for path in command.get_outputs():
            build_data["force_include"][path] = str(Path(path).relative_to(command.build_lib))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
