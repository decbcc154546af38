"""The mutations of Old Maid players: what they say wrongly in each state, and how they misread."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from croupier.rooms.oldmaid.cards import CARD_COUNT, to_wire
from croupier.rooms.oldmaid.wire import Draw, Message, Offer, OutOfCards, Pick, Reply, YourTurn
from tests.conformance.mutants.mutation import Change, Mutation, Situation
from tests.conformance.mutants.oldmaid import (
    DISCARDS,
    DRAWS,
    ENDS,
    ERROR,
    IS_CARD,
    IS_ERROR,
    JOINS,
    OK,
    OUT_ANSWER,
    oldmaid,
    renamed,
    respelt,
    with_key,
    without_key,
)
from tests.conformance.mutants.oldmaid_readers import readers
from tests.conformance.mutants.oldmaid_states import BEFORE, DONE, DRAWING_CARDS, RING
from tests.conformance.mutants.players import Duty, PlayerTable, client_mutations
from tests.rooms.conversation_fixture import HANG_UP

TURN, OFFER, PICK = '{"cmd":"your_turn"', '{"cmd":"offer"', '{"cmd":"pick"'
IS_OK, IS_OUT = '{"result":"ok"}', '{"result":"out"}'

DRAW_REQUEST, END_REQUEST, TURN_REQUEST = b'{"cmd":"draw"}\n', b'{"cmd":"out_of_cards"}\n', b'{"cmd":"your_turn"}\n'
JOKER_PAIR = b'{"cmd":"discard","cards":[["joker","maid"],["3","spades"]],"last_cards":"false"}\n'
NO_PAIR = b'{"cmd":"discard","cards":[["3","spades"],["4","spades"]],"last_cards":"false"}\n'
BIG_OFFER, PICK_REQUEST = b'{"cmd":"offer","num_cards":60}\n', b'{"cmd":"pick","card_num":0}\n'

DUTIES = (
    Duty(
        BEFORE,
        JOINS,
        oldmaid("3.1"),
        {
            DRAW_REQUEST: oldmaid("3.1", "4.6"),
            END_REQUEST: oldmaid("3.1", "6.4"),
            NO_PAIR: oldmaid("3.1", "5.9", "5.1", "5.3"),
            TURN_REQUEST: oldmaid("3.1", "2.2"),
        },
    ),
    Duty(
        DRAWING_CARDS,
        DRAWS,
        oldmaid("4.7", "4.8"),
        {
            DRAW_REQUEST: oldmaid("4.8", "4.7", "4.3", "1.6"),
            END_REQUEST: oldmaid("4.7", "4.8", "6.2", "7.12"),
            JOKER_PAIR: oldmaid("4.7", "4.8", "5.1", "5.3"),
            NO_PAIR: oldmaid("4.7", "4.8", "5.1", "5.3"),
        },
    ),
    Duty(
        DRAWING_CARDS,
        TURN,
        oldmaid("4.7"),
        {
            TURN_REQUEST: oldmaid("4.7", "1.6"),
            BIG_OFFER: oldmaid("4.7", "7.1", "7.2"),
            PICK_REQUEST: oldmaid("4.7", "7.7"),
            DRAW_REQUEST: oldmaid("4.7", "2.2"),
        },
    ),
    Duty(
        DRAWING_CARDS,
        DISCARDS,
        oldmaid("5.11"),
        {
            NO_PAIR: oldmaid("5.11", "5.1", "5.3", "1.6"),
            END_REQUEST: oldmaid("5.11", "6.2", "7.12", "1.6"),
            DRAW_REQUEST: oldmaid("5.11", "4.3", "4.7", "4.8", "1.6"),
        },
    ),
    Duty(
        DRAWING_CARDS,
        IS_OK,
        oldmaid("4.8"),
        {ERROR: oldmaid("4.8", "7.2"), OUT_ANSWER: oldmaid("4.8", "7.2"), DRAW_REQUEST: oldmaid("4.8", "2.2")},
    ),
    Duty(
        RING,
        OFFER,
        oldmaid("7.8", "7.1", "4.9", "7.2", "7.9"),
        {
            BIG_OFFER: oldmaid("7.2", "7.8", "1.6"),
            TURN_REQUEST: oldmaid("4.9", "7.8", "7.1", "4.7", "4.11"),
            PICK_REQUEST: oldmaid("7.7", "7.8", "7.1"),
        },
    ),
    Duty(
        RING,
        PICK,
        oldmaid("7.2"),
        {
            b'{"cmd":"pick","card_num":-1}\n': oldmaid("7.4", "7.2", "7.6"),
            b'{"cmd":"pick","card_num":60}\n': oldmaid("7.4", "7.2", "7.6"),
            BIG_OFFER: oldmaid("7.2", "7.8"),
        },
    ),
    Duty(
        RING,
        DISCARDS,
        oldmaid("5.11", "7.8"),
        {NO_PAIR: oldmaid("5.11", "5.1", "5.3", "7.8", "1.6"), END_REQUEST: oldmaid("5.11", "7.12", "7.8", "1.6")},
    ),
    Duty(RING, IS_OK, oldmaid("7.2"), {ERROR: oldmaid("7.2"), OUT_ANSWER: oldmaid("7.2", "7.9")}),
    Duty(
        RING,
        IS_CARD.decode(),
        oldmaid("7.5"),
        {
            ERROR: oldmaid("7.5"),
            OK: oldmaid("7.5", "2.3"),
            b'{"result":"ok","card":["1","spades"]}\n': oldmaid("7.5", "2.4"),
            b'{"result":"ok","card":["joker","joker"]}\n': oldmaid("7.5", "2.4"),
        },
    ),
    Duty(DONE, IS_OUT, oldmaid("7.9", "7.16"), {OK: oldmaid("7.9", "7.16"), ERROR: oldmaid("7.9", "7.16")}),
    Duty(RING, ENDS, oldmaid("7.12", "6.1"), {NO_PAIR: oldmaid("7.12", "5.1", "5.3", "1.6")}),
    Duty(
        DRAWING_CARDS,
        IS_ERROR.decode(),
        oldmaid("8.3", "8.4", "8.5", "8.6", "8.7", "4.11", "7.7", "2.9"),
        {OK: oldmaid("4.11", "7.7", "8.3", "8.4", "8.5", "8.6", "8.7")},
    ),
    Duty(
        RING,
        IS_ERROR.decode(),
        oldmaid("7.6", "7.7", "7.13", "4.11", "8.6", "8.7"),
        {OK: oldmaid("7.6", "7.7", "7.13", "4.11", "8.6", "8.7")},
    ),
)

REQUEST_SPELLINGS: Mapping[str, tuple[bytes, Callable[[bytes], bytes], frozenset[str]]] = {
    "as Python prints it": (b"{", lambda data: repr(json.loads(data)).encode() + b"\n", oldmaid("8.3", "1.3", "8.11")),
    "without its last bracket": (b"{", lambda data: data.rstrip()[:-1] + b"\n", oldmaid("8.3", "1.3", "8.11")),
    "in an array": (b"{", lambda data: b"[" + data.rstrip() + b"]\n", oldmaid("8.4", "1.3", "8.11", "2.1")),
    "after its length": (b"{", lambda data: b"%d " % len(data) + data, oldmaid("8.3", "8.4", "1.3", "8.11")),
    "with command for cmd": (b'{"cmd"', respelt(renamed("cmd", "command")), oldmaid("8.5", "2.1", "2.2")),
    "in capitals": (b'{"cmd"', respelt(with_key("cmd", str.upper)), oldmaid("8.6", "2.2")),
    "with a hyphen": (TURN.encode(), respelt(with_key("cmd", lambda cmd: "your-turn")), oldmaid("8.6", "2.2")),
    "with another nick key": (JOINS.encode(), respelt(renamed("nick", "name")), oldmaid("8.7", "2.2")),
    "with num": (OFFER.encode(), respelt(renamed("num_cards", "num")), oldmaid("8.7", "2.2")),
    "with a number as text": (OFFER.encode(), respelt(with_key("num_cards", str)), oldmaid("8.7", "2.10")),
    "with a card as text": (PICK.encode(), respelt(with_key("card_num", str)), oldmaid("8.7", "2.10")),
    "with a fraction": (PICK.encode(), respelt(with_key("card_num", float)), oldmaid("8.7", "2.10")),
    "without a card": (PICK.encode(), respelt(without_key("card_num")), oldmaid("8.7", "2.2")),
    "with one card": (DISCARDS.encode(), respelt(with_key("cards", lambda cards: cards[:1])), oldmaid("8.7", "2.5")),
    "with cards as text": (
        DISCARDS.encode(),
        respelt(with_key("cards", lambda cards: [" ".join(card) for card in cards])),
        oldmaid("8.7", "2.4", "2.5"),
    ),
    "with last_cards as a word": (
        DISCARDS.encode(),
        respelt(with_key("last_cards", lambda _: "no")),
        oldmaid("8.7", "2.5"),
    ),
    "with another result": (
        b'{"result"',
        respelt(with_key("result", lambda _: "yes")),
        oldmaid("2.3", "4.8", "7.2", "7.5", "7.9"),
    ),
    "with a truth value for a result": (
        b'{"result"',
        respelt(with_key("result", lambda _: True)),
        oldmaid("2.3", "8.11", "4.8", "7.2", "7.5", "7.9"),
    ),
    "with the suit first": (IS_CARD, respelt(with_key("card", lambda card: card[::-1])), oldmaid("2.4", "7.5")),
    "with a capital suit": (
        IS_CARD,
        respelt(with_key("card", lambda card: [card[0], card[1].upper()])),
        oldmaid("2.4", "7.5"),
    ),
}


def _new(operator: str, what: str, broken: Sequence[str], change: Change, **how: Any) -> Mutation:
    return Mutation(
        room="oldmaid",
        role="client",
        operator=operator,
        state="always",
        what=what,
        clauses=oldmaid(*broken),
        change=change,
        **how,
    )


def _rewriting(kind: type[Message], rewrite: Callable[[Situation, Any], Sequence[Message]]) -> Change:
    """A change of messages of one kind."""

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        if not isinstance(situation.message, kind):
            return messages
        return [str(message).encode() + b"\n" for message in rewrite(situation, situation.message)]

    return change


def _cards(rewrite: Callable[[Situation, Reply], Reply]) -> Change:
    return _rewriting(Reply, lambda it, reply: [reply if reply.card is None else rewrite(it, reply)])


def _another_card(situation: Situation, reply: Reply) -> Reply:
    hand = situation.game.hand
    return Reply(
        "ok", card=next(to_wire(card) for card in range(CARD_COUNT) if card not in hand and to_wire(card) != reply.card)
    )


def _card_of_the_hand(situation: Situation, reply: Reply) -> Reply:
    """A card that the player keeps."""
    hand = situation.game.hand
    return Reply("ok", card=to_wire(hand[0])) if hand else reply


def _leaves(is_time: Callable[[Situation], bool]) -> Change:
    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        return [HANG_UP] if is_time(situation) else messages

    return change


def _answers(request: type[Message], answer: bytes | None) -> Change:
    """Answers a request of another player in this way, whatever the right answer is."""

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        is_answer = isinstance(situation.message, Reply) and isinstance(situation.memory["request"], request)
        if not is_answer:
            return messages
        return [] if answer is None else [answer]

    return change


def _once(change: Change) -> Change:
    """The change, at its first occasion only."""

    def changed(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        found = messages if situation.memory.get("is done") else change(situation, messages)
        situation.memory["is done"] = situation.memory.get("is done") or found != messages
        return found

    return changed


def _kept() -> Iterator[Mutation]:
    """What a player does all along."""
    yield _new("plays wrongly", "offers one more", ["7.2"], _rewriting(Offer, lambda _, it: [Offer(it.num_cards + 1)]))
    yield _new(
        "plays wrongly", "offers one less", ["7.2"], _rewriting(Offer, lambda _, it: [Offer(max(0, it.num_cards - 1))])
    )
    yield _new("plays wrongly", "offers one always", ["7.2"], _rewriting(Offer, lambda *_: [Offer(1)]))
    yield _new("plays wrongly", "gives a card of others", ["7.5"], _cards(_another_card))
    yield _new("plays wrongly", "gives a card and keeps it", ["7.5"], _cards(_card_of_the_hand))
    yield _new(
        "plays wrongly", "gives out for a result", ["7.5", "2.3"], _cards(lambda _, it: Reply("out", card=it.card))
    )
    yield _new("plays wrongly", "picks two", ["7.7", "7.2", "1.6", "7.5"], _rewriting(Pick, lambda _, it: [it, it]))
    yield _new(
        "plays wrongly",
        "picks the number of cards plus one",
        ["7.4"],
        _rewriting(Pick, lambda it, pick: [Pick((it.game.offer_size or 60) + 1)]),
    )
    yield _new("plays wrongly", "answers an offer with ok when out", ["7.9"], _answers(Offer, OK))
    yield _new("plays wrongly", "answers an offer with out", ["7.2", "7.9"], _answers(Offer, OUT_ANSWER))
    yield _new("plays wrongly", "answers no offer", ["7.2", "7.9"], _answers(Offer, None))
    yield _new("plays wrongly", "answers a turn twice", ["4.8", "2.11", "1.6"], _answers(YourTurn, OK + OK))
    yield _new("plays wrongly", "answers no turn", ["4.8"], _answers(YourTurn, None))
    yield _new("plays wrongly", "answers no pick", ["7.5"], _answers(Pick, None))
    yield _new("plays wrongly", "never reports out", ["7.12", "6.1"], _rewriting(OutOfCards, lambda *_: []))
    yield _new(
        "plays wrongly", "reports out twice", ["7.12", "6.3", "1.6"], _rewriting(OutOfCards, lambda _, it: [it, it])
    )
    yield _new("plays wrongly", "draws twice", ["4.7", "4.8", "4.3", "1.6"], _rewriting(Draw, lambda _, it: [it, it]))
    yield _new(
        "plays wrongly",
        "draws a second time once",
        ["4.7", "4.8", "4.3", "1.6"],
        _once(_rewriting(Draw, lambda _, it: [it, it])),
    )
    yield _new("plays wrongly", "passes the turn twice", ["4.7", "1.6"], _rewriting(YourTurn, lambda _, it: [it, it]))
    yield _new("plays wrongly", "passes no turn once", ["4.7"], _once(_rewriting(YourTurn, lambda *_: [])))
    yield _new("plays wrongly", "picks once not", ["7.2"], _once(_rewriting(Pick, lambda *_: [])))
    yield _new(
        "plays wrongly",
        "leaves with its first card",
        ["4.7", "4.8", "5.11"],
        _leaves(lambda it: it.state == DRAWING_CARDS),
    )
    yield _new(
        "plays wrongly", "leaves the ring", ["7.8", "7.1", "7.2", "7.5", "4.9"], _leaves(lambda it: it.state == RING)
    )
    yield _new("plays wrongly", "leaves when out", ["7.9", "7.16", "7.12"], _leaves(lambda it: it.state == DONE))
    yield _new(
        "plays wrongly",
        "sends no error",
        ["8.3", "8.4", "8.5", "8.6", "8.7", "4.11", "7.6", "7.7"],
        _rewriting(Reply, lambda _, it: [] if it.result == "error" else [it]),
    )
    yield _new(
        "plays wrongly",
        "hangs up on errors",
        ["8.1", "8.3", "8.4", "8.5", "8.6", "8.7", "4.11", "7.6", "7.7"],
        _leaves(lambda it: isinstance(it.message, Reply) and it.message.result == "error"),
    )
    yield _new(
        "plays wrongly", "listens nowhere", ["3.17", "3.4", "3.16"], lambda _, messages: messages, is_serial=True
    )


PLAYERS = PlayerTable(
    name="oldmaid",
    duties=DUTIES,
    spellings=REQUEST_SPELLINGS,
    stream_clauses=oldmaid("1.3", "1.4"),
    more=tuple(_kept()),
    readers=readers("player"),
)

clients = partial(client_mutations, PLAYERS)
