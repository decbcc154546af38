"""Tests of the lenient parser for games: the document's example, both dialects, and malformed input."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.errors import Violation
from croupier.rooms.holdem.observed.state_reader import read_game, read_games, read_guid
from croupier.rooms.holdem.wire import NO_TURN, Cards, Game, encode
from tests.rooms.holdem.house_fixture import HouseFixture

EXAMPLE = b"""
[{"gameID":"fbbbbb44-bc4f-c3f6-6519-d81bd1a66d8a",
"table":[
{"playerID":"2fd318e4-0947-64b9-8b63-14f5a5824b8b","handle":"","state":"active","wealth":15002,
"bet_so_far":0,"small blind":true},
{"playerID":"0dd7d693-06f9-b5ba-694d-f8779579fa8a","handle":"","state":"active","wealth":4006,
"bet_so_far":0,"small blind":false}],
"turn":{"playerID":"2fd318e4-0947-64b9-8b63-14f5a5824b8b","bet_so_far":0,"bet_to_player":0,"minimum_raise":0,
"expiry":"2014-09-24 15:14:53.021303798 -0400 EDT"},
"cards":{"hole":["AC","TD"],"flop":["2S","3S","JS"],"turn":["4D"],"river":["AH"]},
"pots":[{"size":60,"players":["8c479795-adcb-a3c1-bebd-4bdf54016f4a"]},{"size":0,"players":[]}]}]"""


def game(**changed: Any) -> bytes:
    """Return a game as JSON, with some keys changed."""
    return msgspec.json.encode({"gameID": "g", "table": [], "turn": None, "cards": None, "pots": []} | changed)


def player(**changed: Any) -> dict[str, Any]:
    return {"playerID": "p", "handle": "ann", "state": "active", "wealth": 5, "bet_so_far": 0} | changed


def test_the_example_of_the_document_is_parsed() -> None:
    found = read_game(EXAMPLE)
    assert [one.small_blind for one in found.table] == [True, False]
    assert found.table[0].wealth == 15002
    assert found.turn.expiry == "2014-09-24 15:14:53.021303798 -0400 EDT"
    assert found.cards == Cards(["AC", "TD"], ["2S", "3S", "JS"], ["4D"], ["AH"])
    assert [pot.size for pot in found.pots] == [60, 0]
    assert read_games(EXAMPLE) == [found]


@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
@pytest.mark.parametrize("user", ["ann", "bob", None])
def test_games_of_our_house_are_parsed(dialect: Any, user: str | None) -> None:
    fixture = HouseFixture(dialect=dialect)
    shown = [fixture.view(user)]
    fixture.join("ann", "bob", "cat")
    for line in ("ann 10", "bob 0", "bob 40", "ann 40", "bob 0", "ann fold", "bob 20", "cat 500"):
        shown.append(fixture.view(user))
        fixture.play(line)
    for one in [*shown, fixture.view(user)]:
        hole = one.cards.hole or None  # clients treat null and an empty list alike
        meant = msgspec.structs.replace(one, cards=msgspec.structs.replace(one.cards, hole=hole))
        assert encode(read_game(encode(one, dialect)), dialect) == encode(meant, dialect)


def test_missing_and_null_keys_are_empty() -> None:
    bare = read_game(b'{"gameID": "g"}')
    assert (bare.table, bare.turn, bare.cards, bare.pots) == ([], NO_TURN, Cards(None), [])
    assert read_game(game(table=None, pots=None, last_winners=None)).last_winners == []
    assert read_game(game(turn={"playerID": "p", "expiry": None})).turn == msgspec.structs.replace(
        NO_TURN, player_id="p"
    )
    assert read_game(game(table=[{"playerID": "p", "wealth": 5}])).table[0].state == "active"
    assert read_game(game(pots=[{"size": 3, "players": None}])).pots[0].players == []
    assert read_game(game(cards={"hole": [], "flop": None, "turn": []})).cards == Cards(None)


def test_unknown_keys_are_ignored() -> None:
    assert read_game(game(weather="fine", cards={"burnt": ["XX"]}, table=[player(hat="red")])).table[0].handle == "ann"


def test_quoted_numbers_and_other_card_spellings_are_accepted() -> None:
    found = read_game(game(table=[player(wealth="12")], cards={"hole": ["10h", "as"]}))
    assert found.table[0].wealth == 12
    assert found.cards.hole == ["TH", "AS"]


@pytest.mark.parametrize(
    ("body", "clause"),
    [
        (b"", "holdem-1.5"),
        (b"<html>", "holdem-1.5"),
        (b"\xff\xfe", "holdem-1.5"),
        (b"[" * 100_000, "holdem-1.5"),
        (b"null", "holdem-5.3"),
        (b"[]", "holdem-5.3"),
        (b"{}", "holdem-5.3"),
        (game(gameID=5), "holdem-5.3"),
        (game(table={}), "holdem-5.3"),
        (game(table=["ann"]), "holdem-5.3"),
        (game(table=[player(wealth=None)]), "holdem-5.3"),
        (game(table=[player(wealth=1.5)]), "holdem-5.3"),
        (game(table=[player(wealth=-1)]), "holdem-5.3"),
        (game(table=[player(state="asleep")]), "holdem-5.3"),
        (game(turn=7), "holdem-5.3"),
        (game(turn={"bet_to_player": -20}), "holdem-5.3"),
        (game(cards=[]), "holdem-5.3"),
        (game(cards={"hole": "AS"}), "holdem-5.3"),
        (game(cards={"hole": ["1H", "AS"]}), "holdem-5.4"),
        (game(pots=[5]), "holdem-5.3"),
        (game(pots=[{"size": -5}]), "holdem-5.3"),
    ],
)
def test_malformed_games_are_violations(body: bytes, clause: str) -> None:
    with pytest.raises(Violation) as broken:
        read_game(body)
    assert broken.value.clause == clause


@pytest.mark.parametrize("body", [b"{}", game(), b'"games"', b"[5]", b""])
def test_malformed_lists_of_games_are_violations(body: bytes) -> None:
    with pytest.raises(Violation):
        read_games(body)


@pytest.mark.parametrize(
    "body", [b'"2fd318e4"', b'"2fd318e4"\n', b"2fd318e4\n", b'{"PlayerID": "2fd318e4"}\n', b'{"playerID":"2fd318e4"}']
)
def test_guids_are_parsed_from_strings_objects_and_plain_text(body: bytes) -> None:
    assert read_guid(body) == "2fd318e4"


@pytest.mark.parametrize(
    "body", [b"", b'""', b"5", b"{}", b'{"PlayerID": 5}', b'"a/b"', b'"a b\\n"', b'["x"]', b"\xff"]
)
def test_malformed_guids_are_violations(body: bytes) -> None:
    with pytest.raises(Violation) as broken:
        read_guid(body)
    assert broken.value.clause == "holdem-2.2"


jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.sampled_from(["AS", "ann"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["gameID", "table", "turn", "cards", "pots", "size", "players", "hole", "flop", "playerID"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    jsons | st.fixed_dictionaries({"gameID": st.just("g")}, optional=dict.fromkeys(("table", "turn", "cards"), jsons))
)
def test_arbitrary_json_raises_nothing_but_violations(value: object) -> None:
    body = msgspec.json.encode(value)
    with suppress(Violation):
        assert isinstance(read_game(body), Game)
    with suppress(Violation):
        assert all(isinstance(one, Game) for one in read_games(body))
    with suppress(Violation):
        assert read_guid(body)


@given(st.data())
def test_a_game_means_the_same_alone_and_in_a_list(data: st.DataObject) -> None:
    """A game that follows the document is parsed faster when it is alone."""
    house = HouseFixture()
    house.join("ann", "bob")
    value = msgspec.to_builtins(house.view("ann"))
    part = data.draw(st.sampled_from([value, value["table"][0], value["turn"], value["cards"], value["pots"][0]]))
    key = data.draw(st.sampled_from([*part]))
    unusual = [None, [], {}, "", -1, 1.0, "5", True, ["as", "10H"], ["XX"], ["AS", "KD"]]
    part[key] = data.draw(st.sampled_from(unusual) | jsons)
    body = msgspec.json.encode(value)

    def parse(parsed: Callable[[], Game]) -> Game | str:
        try:
            return parsed()
        except Violation as violation:
            return violation.clause

    assert parse(lambda: read_game(body)) == parse(lambda: read_games(b"[%s]" % body)[0])


@given(st.data())
def test_damaged_bodies_raise_nothing_but_violations(data: st.DataObject) -> None:
    body = bytearray(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with suppress(Violation):
        assert read_game(bytes(body)).game_id
