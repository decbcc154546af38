"""The process that follows the folder of a tournament, without the low priority that the server gives it."""

from multiprocessing.connection import Connection
from pathlib import Path

from croupier.web import tournament_routes

follow_folder = tournament_routes.follow_folder


def follow_promptly(folder: Path, connection: Connection) -> None:
    """Follow a folder, even while other tests keep all processors busy."""
    tournament_routes.NICENESS = 0
    follow_folder(folder, connection)
