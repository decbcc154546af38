"""Walks: what a client says in a case where luck is the house's, from one message to a whole evening of games."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from croupier.conformance.servers.scripted_client import HangUp, Script, Wait
from croupier.conformance.servers.test_data import Aim, Goal, Play, Remark, Situation, Talk

STEPS: Final = 60
"""So many messages lead to a situation, or to the end of a game, at most."""

INSTANT: Final = 0.01
"""So many seconds pass between two looks whether the others have begun."""

PATIENCE: Final = 3
"""So often in a row a client asks for what is refused."""

STUCK: Final = "the house would not play on"


def said(*says: object) -> Play:
    """Say these things, each when the one before it is answered."""

    def play(talk: Talk) -> Script:
        for what in says:
            yield talk.spelt(what)
        return None

    return play


def ahead(*says: object) -> Play:
    """Say all of these things at once, ahead of their answers."""

    def play(talk: Talk) -> Script:
        yield b"".join(map(talk.spelt, says))
        return None

    return play


def nothing(seconds: float) -> Play:
    """Say nothing, and listen."""

    def play(talk: Talk) -> Script:  # noqa: ARG001 -- a Play
        yield Wait(seconds)
        return None

    return play


def gone_behind(*says: object, cut: int = 0) -> Play:
    """Say these things and hang up at once, `cut` bytes before their end."""

    def play(talk: Talk) -> Script:
        data = b"".join(map(talk.spelt, says))
        if data:
            yield data[: len(data) - cut]
        yield HangUp()
        return None

    return play


def cut_at(place: int, says: Sequence[object], seconds: float) -> Play:
    """Say all of these things at once, but for a pause before the byte at this place."""

    def play(talk: Talk) -> Script:
        data = b"".join(map(talk.spelt, says))
        yield data[:place]
        yield Wait(seconds)
        yield data[place:]
        return None

    return play


def way_to(talk: Talk, situation: Situation) -> Script:
    """Play until the client is in a situation: in the first game, or behind it."""
    for _ in range(STEPS):
        referee = talk.referee
        if situation.here(referee):
            return None
        if referee.finished >= situation.games:
            break
        says = _next(talk, situation.aim)
        if says is None:
            break
        yield talk.spelt(says)
    return f"the client was never there: {situation.told}"


def remarked(situation: Situation, remark: Remark) -> Play:
    """Say something in a situation, and see that the game goes on as it has to."""

    def play(talk: Talk) -> Script:
        missed = yield from way_to(talk, situation)
        if missed:
            return missed
        yield talk.spelt(remark.says)
        yield from played(talk, 1 + talk.referee.finished + (talk.referee.game is None))
        return None

    return play


def listened(situation: Situation, seconds: float) -> Play:
    """Say nothing in a situation for a while; the house has nothing to say either."""

    def play(talk: Talk) -> Script:
        missed = yield from way_to(talk, situation)
        if missed:
            return missed
        yield Wait(seconds)
        return None

    return play


def played(talk: Talk, finished: int, aim: Aim | None = None) -> Script:
    """Play on until so many games are finished, or there is nothing to say."""
    for _ in range(STEPS):
        if talk.referee.finished >= finished:
            return None
        says = _next(talk, aim)
        if says is None:
            break
        yield talk.spelt(says)
    return STUCK


def played_for(goal: Goal) -> Play:
    """Play games until one of them ends as it is wanted."""

    def play(talk: Talk) -> Script:
        for number in range(goal.games):
            stuck = yield from played(talk, number + 1, goal.aim)
            if stuck:
                return stuck
            if goal.seen(talk.referee):
                return None
        return "luck has not brought it"

    return play


def strolled(games: int, blunders: float) -> Play:
    """Play games at random; as often as `blunders` says, say something that is not allowed or means nothing."""

    def play(talk: Talk) -> Script:
        harmless = [remark for remark in talk.ground.remarks if remark.slug in talk.ground.blunders]
        for _ in range(STEPS + 12 * games):
            if talk.referee.finished >= games:
                return None
            if talk.luck.random() < blunders:
                yield talk.spelt(talk.luck.choice(harmless).says)
                continue
            says = _next(talk, None)
            if says is None:
                break
            yield talk.spelt(says)
        return STUCK

    return play


def gathered(clients: int, first: object, games: int) -> Play:
    """Begin, wait until so many clients have, and play on at random."""

    def play(talk: Talk) -> Script:
        yield talk.spelt(first)
        talk.company["begun"] += 1
        for _ in range(ceil((talk.patience + 0.5) / INSTANT)):
            if talk.company["begun"] == clients:
                break
            yield Wait(INSTANT)
        return (yield from strolled(games, 0.1)(talk))

    return play


def _next(talk: Talk, aim: Aim | None) -> object | None:
    """What is said next, None when nothing is allowed."""
    legal = talk.referee.legal
    if all(message in talk.ground.farewells for message in legal) or _in_vain(talk):
        return None
    return (aim or talk.ground.moves)(talk.referee, talk.luck)


def _in_vain(talk: Talk) -> bool:
    """Whether the house has refused one thing after the other that was right to say."""
    conversation = talk.conversation
    last = conversation.lines[-2 * PATIENCE :]
    if len(last) < 2 * PATIENCE or not all(talk.ground.refuses(line.message) for line in last[1::2]):
        return False
    before = len(conversation.lines) - len(last)
    return not (conversation.faults and conversation.faults[-1].lines > before)
