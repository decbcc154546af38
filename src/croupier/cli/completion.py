"""`croupier completion`: completion of commands and options in a shell."""

import sys
from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /, *, install: bool = False) -> int:
    """Print the completion script of a shell, or install it.

    Parameters
    ----------
    shell:
        The shell that completes commands and options.
    install:
        Write the script to where the shell looks for it, and load it in its start-up file if necessary.
    """
    from croupier.cli import app

    if install:
        path = app.install_completion(shell=shell)
        sys.stdout.write(f"{path} completes commands of croupier in every new {shell}\n")
    else:
        sys.stdout.write(app.generate_completion(shell=shell))
    return 0
