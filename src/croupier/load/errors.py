"""The kinds of errors that a load generator counts."""

from typing import Final

from croupier.clients.holdem_api import NoAnswerError, Refusal
from croupier.core.bots import is_bot_error
from croupier.core.errors import FoundKind, Violation
from croupier.core.python_files import describe_error
from croupier.core.text import printable

MAX_REASON_CHARS: Final = 80

NO_ACT: Final = "a visit without an answered act"
NO_COINS: Final = "the house gives a connection no coins to play with"
REFUSED_BET: Final = "a bet that was treated as a fold"


def cannot_connect(reason: str) -> str:
    """The kind of a connection that was not made."""
    return f"cannot connect: {printable(reason, MAX_REASON_CHARS)}"


def closed(reason: str) -> str:
    """The kind of a connection that the server has closed.

    >>> closed("hung up"), closed("connection reset by peer")
    ('the server closed the connection', 'the server closed the connection: connection reset by peer')
    """
    detail = "" if reason in {"", "hung up", "closed"} else f": {printable(reason, MAX_REASON_CHARS)}"
    return f"the server closed the connection{detail}"


def no_answer(seconds: float) -> str:
    """The kind of an answer that has not come in time."""
    return f"no answer within {seconds:g} seconds"


def violated(violation: Violation) -> str:
    """The kind of a violation of the protocol: the clause, and not what was found, which differs each time."""
    if violation.kind is FoundKind.CLOSED:
        return closed("")
    return f"the server broke {violation.clause}"


def failed_move(failure: str | Refusal | NoAnswerError) -> str:
    """The kind of a hold'em move that was not made, or was treated as a fold for a reason."""
    return REFUSED_BET if isinstance(failure, str) else failed_request(failure)


def failed_request(error: Refusal | NoAnswerError) -> str:
    """The kind of a hold'em request that was refused or not answered: its status, or the reason of the connection.

    >>> from croupier.clients.holdem_api import ApiRequest
    >>> failed_request(Refusal(503, "try again"))
    '503 Service Unavailable'
    >>> failed_request(NoAnswerError(ApiRequest("POST", "/users/"), "connection refused"))
    'connection refused'
    """
    return error.status_text if isinstance(error, Refusal) else printable(error.reason, MAX_REASON_CHARS)


def error_kind(error: Exception, answer_seconds: float) -> str | None:
    """The kind of an error of a client, None if it is none of the server or of a bot in a file.

    `answer_seconds` is the time after which a TimeoutError was raised.
    """
    match error:
        case Violation():
            return violated(error)
        case Refusal() | NoAnswerError():
            return failed_request(error)
        case TimeoutError():
            return no_answer(answer_seconds)
        case OSError():
            return cannot_connect(str(error).rpartition(": ")[2])
        case _:
            return bot_failed(error) if is_bot_error(error) else None


def bot_failed(error: Exception) -> str:
    """The kind of an exception that a bot has raised, or of an illegal move."""
    return printable(f"the bot has failed: {describe_error(error)}", MAX_REASON_CHARS)


def ended_game(reason: str) -> str:
    """The kind of an Old Maid game that could not be finished.

    >>> ended_game("oldmaid-3.19: found the players ann, ann; allowed: 2 to 8, load1 among them")
    'the server broke oldmaid-3.19'
    >>> ended_game("the server closed the connection")
    'the server closed the connection'
    """
    clause, found, _ = reason.partition(": found ")
    return f"the server broke {clause}" if found else printable(reason, MAX_REASON_CHARS)
