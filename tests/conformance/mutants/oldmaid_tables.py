"""The mutations of Old Maid tables: of their exchanges, of the deal, of what they allow, and of their lists."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, override

from croupier.core.dealer import Dealer, FairDealer
from croupier.core.errors import Violation
from croupier.core.session import Left
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS, JOKER
from croupier.rooms.oldmaid.house import NOT_HELD, House
from croupier.rooms.oldmaid.table.game import HIDDEN_HAND_CLAUSES
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, OutOfCards, Status, refusal
from tests.conformance.mutants.mutation import Change, Mutation, Situation
from tests.conformance.mutants.oldmaid import (
    CARD,
    DISCARD_OK,
    ERROR,
    IS_ERROR,
    IS_LIST,
    IS_STANDING,
    OK,
    STANDING,
    TABLE_OF_ROOM,
    oldmaid,
)
from tests.conformance.mutants.oldmaid_readers import readers
from tests.conformance.mutants.oldmaid_states import DRAWER, DRAWING, IN_GAME, OUT, OVER, PLAYING, STRANGER, WAITING
from tests.conformance.mutants.operators import server_mutations
from tests.rooms.conversation_fixture import HANG_UP

type Rewrite = Callable[[Situation, Any], Any]
"""Maps a situation and a message, as a JSON object, to the object that is sent."""


def _rewriting(kind: bytes, rewrite: Rewrite) -> Change:
    """A change of the messages that begin with `kind`."""

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        return [
            json.dumps(rewrite(situation, json.loads(data))).encode() + b"\n" if data.startswith(kind) else data
            for data in messages
        ]

    return change


def servers() -> Iterator[Mutation]:
    """All mutations of tables."""
    yield from server_mutations(TABLE_OF_ROOM)
    yield from _misread()
    yield from _allowed()
    yield from _dealt()
    yield from _listed()
    yield from _ranked()
    yield from _departed()
    yield from _told()


def _new(operator: str, what: str, broken: Sequence[str], state: str = "always", **how: Any) -> Mutation:
    return Mutation(
        room="oldmaid", role="server", operator=operator, state=state, what=what, clauses=oldmaid(*broken), **how
    )


def _misread() -> Iterator[Mutation]:
    for what, new_reader in readers("table").items():
        yield _new("misreads", what, ["1.3", "1.4"], new_reader=new_reader)


# What a table allows.


class NamesClauses(House):
    """Names the clause in refusals of discards, so that a mutation can tell them apart."""

    @override
    def _refusal(self, violation: Violation) -> Any:
        return refusal(violation)


def _hidden(data: bytes) -> bytes:
    """The refusal that an honest table sends in place of one that names where a card is."""
    is_revealing = any(f"{clause}:".encode() in data for clause in HIDDEN_HAND_CLAUSES)
    return str(NOT_HELD).encode() + b"\n" if is_revealing else data


def _allowing(clause: str, kind: type[Any], answer: bytes) -> Change:
    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        if not isinstance(situation.message, kind):
            return [*map(_hidden, messages)]
        refused = f"oldmaid-{clause}:".encode()
        return [data for data in (answer if refused in data else _hidden(data) for data in messages) if data]

    return change


ALLOWED: Mapping[tuple[str, str], tuple[type[Any], bytes]] = {
    ("draws out of turn", "4.3"): (Draw, CARD),
    ("draws when all is drawn", "4.5"): (Draw, CARD),
    ("draws without a game", "4.6"): (Draw, CARD),
    ("any two cards are a pair", "5.3"): (Discard, DISCARD_OK),
    ("cards of no pack", "5.4"): (Discard, DISCARD_OK),
    ("a pair twice", "5.5"): (Discard, DISCARD_OK),
    ("cards in the deck", "5.6"): (Discard, DISCARD_OK),
    ("cards of others", "5.7"): (Discard, DISCARD_OK),
    ("discards without a game", "5.9"): (Discard, DISCARD_OK),
    ("is out of no game", "6.4"): (OutOfCards, OK),
    ("the status of no game", "6.7"): (Status, STANDING),
    ("an empty nick", "3.7"): (Join, b""),
    ("a nick twice", "3.8"): (Join, b""),
    ("joins in a game", "3.14"): (Join, OK),
    ("joins in a game in silence", "3.14"): (Join, b""),
}


def _without_colours(one: Any, other: Any) -> bool:
    return bool(one[0] == other[0])


def _discards_by(is_pair: Callable[[Any, Any], bool]) -> Change:
    """Takes another kind of pair."""

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        match situation.message:
            case Discard((one, other)) if is_pair(one, other):
                return [DISCARD_OK if b"oldmaid-5.3:" in data else data for data in messages]
        return [_hidden(data) for data in messages]

    return change


def _refusing(kind: type[Any], is_refused: Callable[[Situation, Any], bool]) -> Change:
    """Refuses what is allowed."""

    def change(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
        if isinstance(situation.message, kind) and is_refused(situation, situation.message):
            return [ERROR for _ in messages]
        return messages

    return change


def _allowed() -> Iterator[Mutation]:
    for (what, clause), (kind, answer) in ALLOWED.items():
        broken = [clause, *(["6.7", "6.5"] if clause == "6.7" else []), *(["3.9"] if clause == "3.8" else [])]
        yield _new("allows", what, broken, change=_allowing(clause, kind, answer), house=NamesClauses)
    yield _new("allows", "two of one value", ["5.3"], change=_discards_by(_without_colours), house=NamesClauses)
    yield _new(
        "allows",
        "two of one suit",
        ["5.3"],
        change=_discards_by(lambda one, other: one[1] == other[1] and one != other),
        house=NamesClauses,
    )
    yield _new(
        "allows",
        "the joker with any card",
        ["5.1"],
        change=_discards_by(lambda one, other: "joker" in (one[0], other[0])),
        house=NamesClauses,
    )
    yield _new(
        "allows",
        "a card with itself",
        ["5.3"],
        change=_discards_by(lambda one, other: one == other),
        house=NamesClauses,
    )
    yield _new(
        "refuses",
        "a pair with the second card first",
        ["5.2"],
        change=_refusing(Discard, lambda _, it: CARD_NUMBERS.get(it.cards[0], 0) > CARD_NUMBERS.get(it.cards[1], 0)),
    )
    yield _new(
        "refuses",
        "a pair out of turn",
        ["5.2", "5.8"],
        DRAWING,
        change=_refusing(Discard, lambda it, _: it.state == DRAWING),
    )
    yield _new(
        "refuses",
        "a pair when all is drawn",
        ["5.8", "5.7"],
        PLAYING,
        change=_refusing(Discard, lambda it, _: it.state == PLAYING),
    )
    yield _new(
        "refuses",
        "red pairs",
        ["5.2", "5.1"],
        change=_refusing(Discard, lambda _, it: it.cards[0][1] in {"hearts", "diamonds"}),
    )
    yield _new(
        "refuses",
        "a pair with last_cards true",
        ["5.10"],
        change=_refusing(Discard, lambda _, it: it.last_cards == "true"),
    )
    yield _new(
        "refuses",
        "a status while others draw",
        ["6.7"],
        DRAWING,
        change=_refusing(Status, lambda it, _: it.state == DRAWING),
    )
    yield _new(
        "refuses", "a status of who is out", ["6.7"], OUT, change=_refusing(Status, lambda it, _: it.state == OUT)
    )
    yield _new(
        "refuses", "a status when all is over", ["6.7"], OVER, change=_refusing(Status, lambda it, _: it.state == OVER)
    )


# What a table deals.


class ChangedDealer(FairDealer):
    """Deals a changed order of the cards."""

    __slots__ = ("change",)

    change: Callable[[list[int]], Sequence[int]]

    @override
    def next_deck(self, size: int) -> Any:
        return iter(self.change([*super().next_deck(size)]))


def _dealing(change: Callable[[list[int]], Sequence[int]]) -> Callable[[Dealer], Dealer]:
    def new_dealer(dealer: Dealer) -> Dealer:
        changed = ChangedDealer(dealer.server_seed, dealer.client_seed)
        changed.change = change
        return changed

    return new_dealer


def _redrawn(situation: Situation, message: Any) -> Any:
    """The first card again as the tenth."""
    seen = situation.memory.setdefault(f"cards of {id(situation.game)}", [])
    seen.append(message["card"])
    return {**message, "card": seen[0]} if len(seen) == 10 else message


def _last_at(count: int) -> Rewrite:
    """The last card is announced with this card."""
    return lambda situation, message: {
        **message,
        "result": "last_card" if situation.game.drawn_count == count else "ok",
    }


def _respelt_card(change: Callable[[list[str]], Any]) -> Change:
    return _rewriting(
        b'{"result"', lambda _, message: {**message, "card": change(message["card"])} if "card" in message else message
    )


def _dealt() -> Iterator[Mutation]:
    deals = partial(_new, "deals")
    yield deals("a card twice", ["4.1"], change=_rewriting(b'{"result":"ok","card"', _redrawn))
    yield deals("the same deck in every game", ["4.1"], is_shared=True)
    yield deals("unshuffled cards", ["4.1"], dealer=_dealing(sorted))
    yield deals("unshuffled cards from the top", ["4.1"], dealer=_dealing(lambda deck: sorted(deck, reverse=True)))
    yield deals(
        "the joker last", ["4.1"], dealer=_dealing(lambda deck: [*(each for each in deck if each != JOKER), JOKER])
    )
    yield deals(
        "the joker first", ["4.1"], dealer=_dealing(lambda deck: [JOKER, *(each for each in deck if each != JOKER)])
    )
    yield deals(
        "pairs together",
        ["4.1"],
        dealer=_dealing(
            lambda deck: (
                [card for pair in deck if not pair % 2 and pair != JOKER for card in (pair, pair + 1)] + [JOKER]
            )
        ),
    )
    yield deals(
        "a second joker",
        ["4.1"],
        change=_respelt_card(lambda card: ["joker", "maid"] if card == ["2", "spades"] else card),
    )
    yield deals("no last card", ["4.4"], change=_rewriting(b'{"result":"last_card"', _last_at(0)))
    yield deals(
        "the last card one early",
        ["4.4"],
        change=_rewriting(
            b'{"result"',
            lambda it, message: (
                {**message, "result": "last_card"}
                if "card" in message and it.game.drawn_count == CARD_COUNT - 1
                else message
            ),
        ),
    )
    yield deals(
        "the last card at 52 only",
        ["4.4"],
        change=_rewriting(
            b'{"result"', lambda it, message: _last_at(52)(it, message) if "card" in message else message
        ),
    )
    yield deals(
        "the last card without a card",
        ["4.4", "2.3"],
        change=_rewriting(b'{"result":"last_card"', lambda *_: {"result": "last_card"}),
    )
    yield deals(
        "jokers of another name",
        ["2.4"],
        change=_respelt_card(lambda card: ["joker", "joker"] if "joker" in card else card),
    )
    yield deals("tens as T", ["2.4"], change=_respelt_card(lambda card: ["T", card[1]] if card[0] == "10" else card))
    yield deals("aces as 1", ["2.4"], change=_respelt_card(lambda card: ["1", card[1]] if card[0] == "A" else card))
    yield deals(
        "courts in words", ["2.4"], change=_respelt_card(lambda card: ["Jack", card[1]] if card[0] == "J" else card)
    )
    yield deals(
        "numbers as numbers",
        ["2.4"],
        change=_respelt_card(lambda card: [int(card[0]), card[1]] if card[0].isdecimal() else card),
    )
    yield deals("suits in capitals", ["2.4"], change=_respelt_card(lambda card: [card[0], card[1].capitalize()]))
    yield deals("two cards at once", ["4.2", "2.3", "2.4"], change=_respelt_card(lambda card: [card, card]))


# The list of the players.


def _changing_list(change: Callable[[Situation, list[Any]], Sequence[Any]]) -> Change:
    def rewrite(situation: Situation, message: Any) -> Any:
        players = change(situation, [*message["players"].values()])
        return {**message, "players": {f"player{at}": player for at, player in enumerate(players, start=1)}}

    return _rewriting(IS_LIST, rewrite)


def _turned(situation: Situation, players: list[Any]) -> Sequence[Any]:
    at = next(at for at, player in enumerate(players) if player[1] == situation.message.nick)
    return [*players[at:], *players[:at]]


def _listed() -> Iterator[Mutation]:
    lists = partial(_new, "lists", state=WAITING)
    yield lists("backwards", ["4.3"], change=_changing_list(lambda _, players: players[::-1]))
    yield lists(
        "by nick", ["4.3", "6.6"], change=_changing_list(lambda _, players: sorted(players, key=lambda it: it[1][::-1]))
    )
    yield lists("each player first for itself", ["3.2", "3.3"], change=_changing_list(_turned))
    yield lists(
        "nobody but the others",
        ["3.2", "3.3"],
        change=_changing_list(lambda it, players: [player for player in players if player[1] != it.message.nick]),
    )
    yield lists(
        "one player twice", ["3.8", "3.3", "3.2"], change=_changing_list(lambda _, players: [*players, players[0]])
    )
    yield lists(
        "one port for all",
        ["3.4", "3.9"],
        change=_changing_list(lambda _, players: [[[at[0], 9898], nick] for at, nick in players]),
    )
    yield lists(
        "the port before",
        ["3.4"],
        change=_changing_list(lambda _, players: [[[at[0], at[1] - 1], nick] for at, nick in players]),
    )
    yield lists(
        "another host",
        ["3.4"],
        change=_changing_list(lambda _, players: [[["127.0.0.9", at[1]], nick] for at, nick in players]),
    )
    yield lists(
        "two players at one address",
        ["3.9", "3.4"],
        change=_changing_list(lambda _, players: [[players[0][0], nick] for _, nick in players]),
    )
    yield lists(
        "nicks in small letters and capitals",
        ["3.3", "3.2"],
        change=_changing_list(lambda _, players: [[at, nick.upper()] for at, nick in players]),
    )
    yield lists(
        "the last one only for itself",
        ["3.2"],
        change=_changing_list(
            lambda it, players: players if players[-1][1] != it.message.nick else [*players[1:], players[0]]
        ),
    )
    yield lists("no more than two", ["3.2", "3.3", "3.10"], change=_changing_list(lambda _, players: players[:2]))
    yield lists(
        "addresses as text",
        ["3.3"],
        change=_changing_list(lambda _, players: [[f"{at[0]}:{at[1]}", nick] for at, nick in players]),
    )
    yield lists(
        "the nick first", ["3.3"], change=_changing_list(lambda _, players: [[nick, at] for at, nick in players])
    )
    yield _new(
        "lists",
        "a player that waits gets a message",
        ["3.2", "1.8"],
        STRANGER,
        change=lambda it, messages: (
            [b'{"result":"ok","message":"wait"}\n']
            if it.state == STRANGER and isinstance(it.message, Join) and not messages
            else messages
        ),
    )


# The status.


def _ranking(change: Callable[[Situation, list[str], list[str]], tuple[Sequence[str], Sequence[str]]]) -> Change:
    def rewrite(situation: Situation, message: Any) -> Any:
        inside, outside = change(situation, message["in"], message["out"])
        return {"in": inside, "out": outside}

    return _rewriting(IS_STANDING, rewrite)


def _gone_first(situation: Situation, inside: list[str], outside: list[str]) -> tuple[Sequence[str], Sequence[str]]:
    gone = [situation.game.nicks[seat] for seat in situation.game.departed_seats]
    return inside, [*gone, *(nick for nick in outside if nick not in gone)]


def _ranked() -> Iterator[Mutation]:
    ranks = partial(_new, "ranks")
    yield ranks("the winner last", ["6.6"], change=_ranking(lambda _, inside, outside: (inside, outside[::-1])))
    yield ranks(
        "those who are out by name",
        ["6.6"],
        change=_ranking(lambda _, inside, outside: (inside, sorted(outside, key=lambda nick: nick[::-1]))),
    )
    yield ranks(
        "those who are in backwards", ["6.6"], change=_ranking(lambda _, inside, outside: (inside[::-1], outside))
    )
    yield ranks("one player less", ["6.5"], change=_ranking(lambda _, inside, outside: (inside[1:], outside)))
    yield ranks(
        "nobody out", ["6.5", "6.1", "6.6"], change=_ranking(lambda _, inside, outside: ([*inside, *outside], []))
    )
    yield ranks(
        "all players in and out",
        ["6.5", "6.6"],
        change=_ranking(lambda _, inside, outside: (inside, [*inside, *outside])),
    )
    yield ranks(
        "those who are out and in exchanged",
        ["6.5", "6.6"],
        change=_ranking(lambda _, inside, outside: (outside, inside)),
    )
    yield ranks(
        "the loser out too",
        ["6.8", "6.6"],
        OVER,
        change=_ranking(
            lambda it, inside, outside: ([], [*outside, *inside]) if it.game.is_over else (inside, outside)
        ),
    )
    yield ranks(
        "no player that is gone",
        ["6.5", "9.1"],
        change=_ranking(
            lambda it, inside, outside: (
                inside,
                [nick for nick in outside if nick not in {it.game.nicks[seat] for seat in it.game.departed_seats}],
            )
        ),
    )
    yield ranks("players that are gone before the winner", ["6.6", "9.1"], change=_ranking(_gone_first))
    yield ranks(
        "only the last one out", ["6.5", "6.6"], change=_ranking(lambda _, inside, outside: (inside, outside[-1:]))
    )
    yield ranks("the asker only", ["6.5"], change=_ranking(lambda _, inside, outside: (inside[:1], outside)))


# Players that leave.


class IgnoresDisconnects(House):
    """Ignores disconnects of players that have joined."""

    @override
    def on(self, event: Any, now: float) -> Any:
        return () if isinstance(event, Left) and self._is_ignored(self._clients[event.peer]) else super().on(event, now)

    def _is_ignored(self, client: Any) -> bool:
        return bool(client.nick)


class KeepsWaiting(IgnoresDisconnects):
    """Keeps the place of a player that leaves before the game."""

    @override
    def _is_ignored(self, client: Any) -> bool:
        return client.queued is not None


class KeepsPlaces(IgnoresDisconnects):
    """Keeps the place of a player with requests behind its join that leaves before the game."""

    @override
    def _is_ignored(self, client: Any) -> bool:
        return bool(client.queued)


class WaitsForTheGone(House):
    """Players that are gone are out, but the turn waits for them."""

    @override
    def on(self, event: Any, now: float) -> Any:
        client = self._clients.get(event.peer) if isinstance(event, Left) else None
        game = client.game if client is not None else None
        drawer = game.drawer if game is not None else 0
        effects = super().on(event, now)
        if game is not None and not game.is_over:
            game.drawer = drawer
        return effects


class EndsWithOne(House):
    """The game of all ends when one of them leaves."""

    @override
    def on(self, event: Any, now: float) -> Any:
        client = self._clients.get(event.peer) if isinstance(event, Left) else None
        game = client.game if client is not None else None
        effects = super().on(event, now)
        if game is not None and not game.is_over and game.number in self._running_games:
            game.is_over = True
        return effects


def _departed() -> Iterator[Mutation]:
    yield _new("departures", "never noticed", ["9.1", "9.2"], house=IgnoresDisconnects)
    yield _new("departures", "not noticed before the game", ["3.12", "3.8"], house=KeepsWaiting)
    yield _new("departures", "not noticed behind requests", ["3.12"], house=KeepsPlaces)
    yield _new("departures", "their turns are waited for", ["9.2"], house=WaitsForTheGone)
    yield _new("departures", "they end the game", ["9.2", "9.1"], house=EndsWithOne)


# What errors reveal, and what else a table says.


def _after_errors(situation: Situation, messages: list[bytes]) -> Sequence[bytes]:
    return [part for data in messages for part in ([data, HANG_UP] if data.startswith(IS_ERROR) else [data])]


def _told() -> Iterator[Mutation]:
    yield _new("tells", "where a card is", ["5.12"], house=NamesClauses)
    yield _new("tells", "nothing with an error", ["2.9"], change=_rewriting(IS_ERROR, lambda *_: {"result": "error"}))
    yield _new(
        "tells",
        "no error",
        [f"8.{n}" for n in range(2, 8)] + ["4.6", "2.9"],
        change=lambda _, messages: [data for data in messages if not data.startswith(IS_ERROR)],
    )
    yield _new("tells", "an error, and hangs up", ["8.1", "1.8"], change=_after_errors)
    yield _new(
        "tells",
        "an error, and hangs up in a game",
        ["8.1", "1.8"],
        change=lambda it, messages: _after_errors(it, messages) if it.state in IN_GAME else messages,
    )
    yield _new(
        "tells",
        "who has drawn, to the drawer",
        ["1.8", "4.2"],
        change=lambda it, messages: (
            [*messages, STANDING] if isinstance(it.message, Draw) and it.state == DRAWER else messages
        ),
    )
