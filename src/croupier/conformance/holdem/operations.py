"""The operations of the hold'em service, by the requests that stand for them."""

from croupier.http.routes import Match, find_operation


def match_target(target: str) -> Match | None:
    """Return the operation of a target such as `GET /games/`, and the parameters in its path; None if it has none."""
    method, _, path = target.partition(" ")
    return find_operation(method, path.partition("?")[0])


def operation_name(target: str) -> str:
    """Return the name of the operation of a target, such as `get_games`; the target itself if it has none."""
    found = match_target(target)
    return target.partition("?")[0] if found is None else found.operation.id
