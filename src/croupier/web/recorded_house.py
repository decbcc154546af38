"""Recorded games against a house, played again with their cards: the messages of each step with their bytes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from croupier.core.session import Effect, Event, Settle
from croupier.core.spans import SpanReader
from croupier.core.transcript import Transcript, TranscriptLine, encode_line
from croupier.recording.game_records import GameRecord
from croupier.replay.house_games import actor_of_move
from croupier.replay.transcript_house import make_harness
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.blackjack.rules import SURRENDER
from croupier.rooms.blackjack.wire import Mon
from croupier.rooms.sevenhalf.wire import Stbt
from croupier.web.house_replay import ObservedClient
from croupier.web.replay_page import RecordedMessage, StepMessages

CLIENT: Final = "player"
ANY_BYTES: Final = re.compile(b"(?P<data>.*)", re.DOTALL)

OPEN_MESSAGES: Final = (Mon, Stbt)
"""Messages with a number that is not recorded: the coins of the client, and the bet before it is raised."""

type Setup = tuple[dict[str, str], Sequence["Command"]]
"""The head of a transcript in which the house plays a game again, and what the client sends in it."""


class Command(NamedTuple):
    """A message of the client as a transcript writes it, and the step of the replay that it is.

    `reply_step` is that of the house's move in its reply, the same step if it makes none.
    """

    text: str
    step: int
    reply_step: int


def house_messages(game: GameRecord) -> StepMessages:
    """Return the messages of a game by step; none if the house does not play it again as it is recorded."""
    try:
        head, commands = _SETUPS[game.room](game)
        return _PlayedAgain(game, head).play(commands)
    except (AssertionError, ValueError, IndexError):
        return {}


class _PlayedAgain:
    """A game that the house plays again, with a client that is observed. Creating it raises ValueError."""

    def __init__(self, game: GameRecord, head: Mapping[str, str]) -> None:
        self._game = game
        self._room = HOUSE_ROOMS[game.room]
        deck = {"deck": " ".join(game.cards)} if game.cards else {}
        transcript = Transcript("", "", (), {**head, **deck}, ())
        self._harness = make_harness(self._room, transcript, observers=[self._observe])
        self._client = ObservedClient(self._room, transcript)
        self._settled: list[Settle] = []

    def play(self, commands: Sequence[Command]) -> StepMessages:
        """Return the messages by step; none if the game takes another course than the recorded one."""
        steps: dict[int, list[RecordedMessage]] = {}
        for command in commands:
            data = encode_line(command.text)
            self._harness.send(CLIENT, data)
            self._client.sends(data)
            sent = RecordedMessage(self._client.text, data, self._client.clause)
            replies = [*self._replies(self._harness.receive(CLIENT, ANY_BYTES)["data"])]
            steps.setdefault(command.step, []).append(sent)
            if command.reply_step > command.step:
                steps[command.step] += replies[:-1]
                steps[command.reply_step] = replies[-1:]
            elif self._settled:
                steps[len(self._game.done) + 1] = replies
            else:
                steps[command.step] += replies
        self._harness.perform(TranscriptLine(0, "left", CLIENT))
        return steps if self._is_as_recorded else {}

    @property
    def _is_as_recorded(self) -> bool:
        game, room = self._game, self._room
        found = [(each.net, room.dealt_cards(each.state), room.commands(each.state)) for each in self._settled]
        return found == [(game.net, game.cards, game.done)]

    def _observe(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- the signature of an Observer
        self._settled += (effect for effect in effects if isinstance(effect, Settle))

    def _replies(self, data: bytes) -> Iterator[RecordedMessage]:
        """Yield the messages of the house; the client follows them."""
        for span in SpanReader(self._room.codec(False, None)).feed(data):
            self._client.receives(span.data)
            if isinstance(span.message, OPEN_MESSAGES):
                code = self._client.text.partition(" ")[0]
                yield RecordedMessage(f"{code} …", b"", self._client.clause, is_reply=True)
            else:
                yield RecordedMessage(self._client.text, span.data, self._client.clause, is_reply=True)


def _kuhn_setup(game: GameRecord) -> Setup:
    own = [number for number in range(1, len(game.done) + 1) if actor_of_move(game, number) == CLIENT]
    house = [action for number, action in enumerate(game.done, start=1) if number not in own]
    texts = [f"STRT P_{game.seat + 1}", *(f"ACTN {game.done[number - 1]}" for number in own)]
    ends = [*(number - 1 for number in own), len(game.done)]
    head = {"house": " ".join(house)} if house else {}
    return head, [Command(*each) for each in zip(texts, [0, *own], ends, strict=True)]


def _sevenhalf_setup(game: GameRecord) -> Setup:
    bet = game.done[0].removeprefix("BET ")
    head = {"bet": bet, "max_bet": bet}
    if "DRAW" not in game.done:
        head["dialect"] = "lenient"
    return head, [Command("STRT", 1, 1), *(Command(each, at, at) for at, each in enumerate(game.done[1:], start=2))]


def _blackjack_setup(game: GameRecord) -> Setup:
    bet = game.done[0].removeprefix("BET ")
    moves = [each if each == SURRENDER else f"MOV{{char16:{each}}}" for each in game.done[1:]]
    head = {"money": bet, "decks": str(max(map(game.cards.count, game.cards), default=1))}
    texts = ["PLY", f"BET{{int32:{bet}}}", *moves]
    return head, [Command(each, at, at) for at, each in enumerate(texts)]


_SETUPS: Final[Mapping[str, Callable[[GameRecord], Setup]]] = {
    "kuhn": _kuhn_setup,
    "sevenhalf": _sevenhalf_setup,
    "blackjack": _blackjack_setup,
}
