"""Tests of the HTTP protocol of hold'em: parsing of requests, formatting of responses."""

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from croupier.rooms.holdem.wire import (
    ACT_DONE,
    ACTION_BET,
    ACTION_FOLD,
    MAX_AMOUNT,
    NO_POT,
    NO_TURN,
    PLAYER_LEFT,
    Act,
    ActDone,
    Cards,
    Created,
    Dialect,
    Game,
    HoldemResponse,
    Join,
    Leave,
    Open,
    Player,
    Pot,
    Queued,
    RequestRefused,
    Turn,
    Winner,
    encode,
    parse_act,
    render_response,
)
from tests.sampling import in_one_test


def act(body: str | bytes) -> tuple[int, int] | None:
    """Return the action and the amount of a body; None if it is refused."""
    data = body.encode() if isinstance(body, str) else body
    request = parse_act("ann", "g", "p", data)
    if isinstance(request, RequestRefused):
        assert (request.status, request.clause) == (400, "holdem-4.4")
        assert request.detail.isprintable()
        assert "; allowed: " in request.detail
        return None
    assert isinstance(request, Act)
    assert (request.user, request.game, request.player) == ("ann", "g", "p")
    return request.action, request.amount


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('{"action":1,"betAmount":20}', (ACTION_BET, 20)),
        (' { "betAmount" : 20 , "action" : 1 } \n', (ACTION_BET, 20)),
        ('{"Action":1,"BetAmount":20}', (ACTION_BET, 20)),
        ('{"ACTION":1,"bet_amount":20}', (ACTION_BET, 20)),
        ('{"_a_c_t_i_o_n_":1,"BET_AMOUNT":20}', (ACTION_BET, 20)),
        ('{"action":1,"betAmount":0}', (ACTION_BET, 0)),
        ('{"action":1,"betAmount":-0}', (ACTION_BET, 0)),
        ('{"action":1,"betAmount":-5}', (ACTION_BET, -5)),
        ('{"action":1,"BetAmount":-5}', (ACTION_BET, -5)),
        ('{"action":0}', (ACTION_FOLD, 0)),
        ('{"action":-0}', (ACTION_FOLD, 0)),
        ('{"Action":0}', (ACTION_FOLD, 0)),
        ('{"action":0,"betAmount":20}', (ACTION_FOLD, 0)),
        ('{"action":0,"betAmount":null}', (ACTION_FOLD, 0)),
        ('{"action":0,"betAmount":"many"}', (ACTION_FOLD, 0)),
        ('{"action":0,"betAmount":[{}, 1e5]}', (ACTION_FOLD, 0)),
        ('{"action":1,"betAmount":20,"note":"mine"}', (ACTION_BET, 20)),
        ('{"note":{"action":0},"action":1,"betAmount":20}', (ACTION_BET, 20)),
        ('{"note":1e400,"action":1,"betAmount":20}', (ACTION_BET, 20)),
        ('{"action":0,"action":1,"betAmount":5,"betAmount":20}', (ACTION_BET, 20)),
        ('{"action":"x","action":1,"betAmount":20}', (ACTION_BET, 20)),
        ('{"action":0,"Action":1,"betAmount":5,"bet_amount":20}', (ACTION_BET, 20)),
        ('{"action":1,"betAmount":20,"\\u0061ction":0}', (ACTION_FOLD, 0)),
        ('{"action":1,"betAmount":9223372036854775808}', (ACTION_BET, MAX_AMOUNT)),
        ('{"action":1,"betAmount":99999999999999999999999999}', (ACTION_BET, MAX_AMOUNT)),
        ('{"action":1,"BetAmount":99999999999999999999999999}', (ACTION_BET, MAX_AMOUNT)),
        ('{"action":1,"betAmount":-99999999999999999999999999}', (ACTION_BET, -MAX_AMOUNT)),
    ],
)
def test_accepted_spellings_of_an_act(body: str, expected: tuple[int, int]) -> None:
    """holdem-4.2, holdem-4.3"""
    assert act(body) == expected


@in_one_test
@pytest.mark.parametrize(
    "body",
    [
        "",
        " ",
        "null",
        "1",
        '"fold"',
        "[]",
        '[{"action":0}]',
        "{}",
        "{",
        '{"action":0',
        '{"action":0}}',
        '{"action":0} {"action":0}',
        "{action:0}",
        "{'action':0}",
        '{"action":00}',
        '{"action":+1,"betAmount":20}',
        '{"action":2}',
        '{"action":-1}',
        '{"action":null}',
        '{"action":true,"betAmount":20}',
        '{"action":false}',
        '{"action":0.0}',
        '{"action":1.0,"betAmount":20}',
        '{"action":1e0,"betAmount":20}',
        '{"action":"1","betAmount":20}',
        '{"action":"fold"}',
        '{"action":[0]}',
        '{"action":99999999999999999999999999}',
        '{"acton":0}',
        '{"betAmount":20}',
        '{"action":1}',
        '{"action":1,"betAmount":null}',
        '{"action":1,"betAmount":true}',
        '{"action":1,"betAmount":20.0}',
        '{"action":1,"betAmount":2e1}',
        '{"action":1,"betAmount":"20"}',
        '{"action":1,"betAmount":[20]}',
        '{"action":1,"betAmount":20,"betAmount":null}',
        '{"action":1,"betAmount":NaN}',
        '{"action":1,"betAmount":0x14}',
        '{"action":1,"betAmount":020}',
        '{"action":1,"betAmount":-}',
        '{"action":1,"amount":20}',
        b'{"action":0,"\xff":1}',
        b'{"action":0,"note":"\xff"}',
        b'{"action":0,"note":"\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"action":0}',
        '{"action":0}'.encode("utf-16"),
        b'{"action":0,"note":' + b"[" * 60_000,
    ],
)
def test_malformed_acts_are_refused(body: str | bytes) -> None:
    """holdem-4.4"""
    assert act(body) is None


@pytest.mark.parametrize("key", ["betAmount", "bet_amount"])
@pytest.mark.parametrize("digits", [19, 20, 21, 4300, 4301, 65_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_may_have_any_number_of_digits(digits: int, sign: str, key: str) -> None:
    """holdem-4.9: the amount is well-formed, and larger than any stack."""
    found = act(f'{{"action":1,"{key}":{sign}{"9" * digits}}}')
    assert found == (ACTION_BET, -MAX_AMOUNT if sign else MAX_AMOUNT)


@given(st.integers(), st.sampled_from(["betAmount", "BetAmount", "bet_amount"]))
def test_amounts_are_exact_or_clamped(amount: int, key: str) -> None:
    body = (
        msgspec.json.encode({key: amount, "action": 1}) if abs(amount) < 2**63 else f'{{"{key}":{amount},"action":1}}'
    )
    assert act(body) == (ACTION_BET, max(-MAX_AMOUNT, min(amount, MAX_AMOUNT)))


@given(
    st.binary(max_size=40)
    | st.text(max_size=40)
    | st.text(alphabet='{}[]":,actionbetAmount_01-.e ', max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["action", "Action", "betAmount", "x"]), inner, max_size=4)
        ),
    ).map(json.dumps)
)
@example(b"")
def test_arbitrary_act_bodies_are_parsed_or_refused(body: str | bytes) -> None:
    data = body.encode(errors="surrogatepass") if isinstance(body, str) else body
    found = act(data)
    assert found is None or (found[0] in {ACTION_FOLD, ACTION_BET} and abs(found[1]) <= MAX_AMOUNT)


GAME = Game(
    "g",
    [Player("p", "ann", "active", 9990, 10, True)],
    Turn("p", 10, 20, 20, "1970-01-01T00:00:15.000Z"),
    Cards(("AS", "KD"), ("2C", "3C", "4C"), ("5C",)),
    [Pot(30, ["p", "q"])],
)


def public_view(guid: str) -> Game:
    assert guid == "g"
    return GAME


def rendered(response: HoldemResponse, dialect: Dialect) -> tuple[int, dict[str, str], str]:
    status, headers, body = render_response(response, dialect, public_view)
    decoded = {name.decode(): value.decode() for name, value in headers}
    assert len(decoded) == len(headers)
    assert all(name == name.lower() for name in decoded)
    assert decoded.pop("content-length", None) == (None if dialect == "hspe-go" and b"{" in body else str(len(body)))
    return status, decoded, body.decode()


JSON, TEXT = {"content-type": "application/json"}, {"content-type": "text/plain; charset=utf-8"}

RESPONSES: list[tuple[HoldemResponse, tuple[int, dict[str, str], str]]] = [
    (Created("u"), (201, JSON, '"u"')),
    (Created("u", "g"), (201, JSON, '"u"')),
    (Created("u", "g", is_new_game=True), (201, {**JSON, "location": "/games/g"}, '"u"')),
    (Queued("u", "g"), (202, JSON, '"u"')),
    (ACT_DONE, (201, {}, "")),
    (ActDone("found 5; allowed: 20 to call"), (201, {"x-fold-reason": "found 5; allowed: 20 to call"}, "")),
    (PLAYER_LEFT, (200, {}, "")),
    (RequestRefused(403, "holdem-4.13", "found x; allowed: y"), (403, TEXT, "holdem-4.13: found x; allowed: y\n")),
]


@pytest.mark.parametrize(("response", "expected"), RESPONSES, ids=lambda value: type(value).__name__)
def test_responses_have_the_form_of_the_document(
    response: HoldemResponse, expected: tuple[int, dict[str, str], str]
) -> None:
    """holdem-2.2, holdem-3.3 to holdem-3.6, holdem-3.10, holdem-4.1, holdem-4.7"""
    assert rendered(response, "readme") == expected


def test_dialect_hspe_go_has_its_own_responses() -> None:
    """holdem-7.1, holdem-7.2, holdem-7.9"""
    game = encode(GAME, "hspe-go").decode()
    assert rendered(Created("u"), "hspe-go") == (201, TEXT, '{"PlayerID":"u"}\n')
    assert rendered(Created("u", "g"), "hspe-go") == (202, TEXT, game)
    assert rendered(Queued("u", "g"), "hspe-go") == (202, TEXT, game)
    assert rendered(Created("u", "g", is_new_game=True), "hspe-go") == (202, {**TEXT, "location": "/games/g"}, game)
    assert rendered(ACT_DONE, "hspe-go") == (201, {}, "")
    assert rendered(PLAYER_LEFT, "hspe-go") == (200, {}, "")


def test_game_keys_are_in_the_order_of_the_document() -> None:
    """holdem-5.3 to holdem-5.13"""
    assert encode(GAME, "readme") == (
        b'{"gameID":"g",'
        b'"table":[{"playerID":"p","handle":"ann","state":"active","wealth":9990,"bet_so_far":10,"small_blind":true}],'
        b'"turn":{"playerID":"p","bet_so_far":10,"bet_to_player":20,"minimum_raise":20,'
        b'"expiry":"1970-01-01T00:00:15.000Z"},'
        b'"cards":{"hole":["AS","KD"],"flop":["2C","3C","4C"],"turn":["5C"],"river":null},'
        b'"pots":[{"size":30,"players":["p","q"]}]}'
    )
    assert encode([GAME], "readme") == b"[" + encode(GAME, "readme") + b"]"
    assert encode([GAME, GAME], "hspe-go") == b"[" + encode(GAME, "readme") + b"," + encode(GAME, "readme") + b"]\n"


def test_only_dialect_hspe_go_has_last_winners_as_last_key() -> None:
    """holdem-7.7"""
    game = Game("g", [], NO_TURN, Cards(None), NO_POT, [Winner("p", ["AS", "KS", "QS", "JS", "TS"])])
    assert encode(game, "hspe-go") == (
        b'{"gameID":"g","table":[],'
        b'"turn":{"playerID":"","bet_so_far":0,"bet_to_player":0,"minimum_raise":0,"expiry":"0001-01-01T00:00:00Z"},'
        b'"cards":{"hole":null,"flop":null,"turn":null,"river":null},"pots":[{"size":0,"players":[]}],'
        b'"last_winners":[{"PlayerID":"p","Hand":["AS","KS","QS","JS","TS"]}]}\n'
    )


@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
def test_encoded_games_round_trip(dialect: Dialect) -> None:
    assert msgspec.json.decode(encode(GAME, dialect), type=Game) == msgspec.convert(
        msgspec.to_builtins(GAME), type=Game
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Open("ann"), "ann POST /games/"),
        (Join("ann", "G"), "ann POST /games/G/players/"),
        (Act("ann", "G", "P", 1, 20), 'ann POST /games/G/players/P/acts/ {"action":1,"betAmount":20}'),
        (Act("ann", "G", "P", 0), 'ann POST /games/G/players/P/acts/ {"action":0}'),
        (Leave("ann", "G", "P"), "ann DELETE /games/G/players/P"),
        (Created("P", "G"), "201 P"),
        (Queued("P", "G"), "202 P"),
        (ActDone(), "201"),
        (ActDone("found 5; allowed: 20 to call"), "201, X-Fold-Reason: found 5; allowed: 20 to call"),
        (PLAYER_LEFT, "200"),
        (RequestRefused(403, "holdem-4.13", "found an act"), "403 holdem-4.13: found an act"),
    ],
)
def test_messages_are_formatted_for_logs(message: object, expected: str) -> None:
    assert str(message) == expected
