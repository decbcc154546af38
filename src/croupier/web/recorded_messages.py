"""The messages of recorded games by step, as far as the records determine them."""

from collections.abc import Mapping
from typing import Final

from croupier.core.presentation import Text, text
from croupier.http.messages import Response, encode_response
from croupier.http.routes import OPERATIONS
from croupier.recording.game_records import GameRecord
from croupier.replay.reader import StoredRecord
from croupier.replay.steps import GameReplay
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.wire import ACT_DONE, ACTION_BET, ACTION_FOLD, EMPTY_BODY_HEADER, Act
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.rooms.oldmaid.wire import DISCARD_OK, OK, Discard, Draw, Message, OutOfCards, Reply, Wire
from croupier.web.recorded_house import house_messages
from croupier.web.replay_page import RecordedMessage, StepMessages
from croupier.web.rest_bytes import request_bytes

ACT_CLAUSE: Final = next(operation.clause for operation in OPERATIONS if operation.id == "post_acts")
OPEN_BET: Final = '{"action":1,"betAmount":…}'
"""The body of a bet that was not valid: its number is not recorded."""

OWN_PARTIES: Final[Mapping[str, str]] = {"holdem": "server", "oldmaid": "table"}
"""The party that replies, in rooms without a house."""

REMARKS: Final[Mapping[str, Text]] = {
    "kuhn": text(
        "The house plays the recorded cards and moves again. Refused messages, goodbyes, times and how the client wrote"
        " its messages are not recorded."
    ),
    "sevenhalf": text(
        "The house plays the recorded cards and moves again. The bet before it was raised, the raises, refused"
        " messages, goodbyes, times and how the client wrote its messages are not recorded."
    ),
    "blackjack": text(
        "The house plays the recorded cards and moves again, with characters and tens as in the document. The balance,"
        " refused messages, goodbyes and times are not recorded."
    ),
    "holdem": text(
        "Acts are shown as the requests that the document has for them; people in a browser send none. Headers, refused"
        " requests, the games that were shown, and whether a time was over are not recorded."
    ),
    "oldmaid": text(
        "These are the messages between the table and the players, in their usual form. Joins, last_cards, refused"
        " messages, times and the messages between the players are not recorded."
    ),
}
"""What the records of each room leave open."""


def recorded_messages(record: StoredRecord, replay: GameReplay) -> StepMessages:
    """Return the messages of the steps of a replay; see `RecordedMessage`. Raises ValueError if it is damaged."""
    match record:
        case GameRecord():
            return house_messages(record)
        case FinishedHand():
            return _hand_messages(record, replay)
        case OldMaidRecord():
            return _oldmaid_messages(record)


def _hand_messages(played: FinishedHand, replay: GameReplay) -> StepMessages:
    """Return the acts of a hand, which are the steps in which a player acts. A departure may be no request."""
    actions = [entry for entry in played.hand.log if entry[0] != "deal"]
    steps = [number for number, step in enumerate(replay.steps) if step.actor]
    faults = {seat for seat, _ in played.faults}
    found: dict[int, list[RecordedMessage]] = {}
    for step, entry in zip(steps, actions, strict=True):
        seat = entry[1]
        if entry[0] == "leave":
            continue
        chips = entry[2] if entry[0] == "bet" else 0
        action = ACTION_BET if entry[0] == "bet" else ACTION_FOLD
        act = str(Act("", played.table, played.guids[seat], action, chips)).removeprefix(" ")
        if entry[0] == "fold" and seat in faults:
            request = RecordedMessage(f"{act.partition(' {')[0]} {OPEN_BET}", b"", ACT_CLAUSE)
            response = RecordedMessage("201, X-Fold-Reason: …", b"", ACT_CLAUSE, is_reply=True)
        else:
            request = RecordedMessage(act, request_bytes(act), ACT_CLAUSE)
            data = encode_response(Response(201, [EMPTY_BODY_HEADER], b""), b"")
            response = RecordedMessage(str(ACT_DONE), data, ACT_CLAUSE, is_reply=True)
        found[step] = [request, response]
    return found


def _oldmaid_messages(record: OldMaidRecord) -> StepMessages:
    """Return the requests of the players to the table, and its responses."""
    found: dict[int, list[RecordedMessage]] = {}
    cards_drawn = 0
    for step, (action, _, *names) in enumerate(record.course, start=1):
        cards = [(value, suit) for value, suit in (str(name).split(" ") for name in names)]
        match action, cards:
            case "drew", [card]:
                cards_drawn += 1
                reply = Reply("last_card" if cards_drawn == CARD_COUNT else "ok", card=card)
                found[step] = [_message(Draw()), _message(reply, is_reply=True)]
            case "threw", [one, other]:
                request = f'{str(Discard((one, other))).removesuffix("}")},"last_cards":…}}'
                found[step] = [RecordedMessage(request, b""), _message(DISCARD_OK, is_reply=True)]
            case "out", []:
                found[step] = [_message(OutOfCards()), _message(OK, is_reply=True)]
            case _:
                pass  # a player that is gone sends nothing
    return found


def _message(message: Message, *, is_reply: bool = False) -> RecordedMessage:
    return RecordedMessage(str(message), Wire("table").encode(message), is_reply=is_reply)
