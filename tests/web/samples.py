"""Sample tables of all rooms, as their presenters could describe them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from croupier.conformance.live_state import CauseView, RunState
from croupier.conformance.matrix.cells import Cell, CellFinding, CellKind
from croupier.conformance.report.summary import ShownLine
from croupier.core.presentation import (
    BACK,
    ActionView,
    Amount,
    CardView,
    SeatView,
    TableView,
    Text,
    counted,
    grouped,
    text,
    verbatim,
)
from croupier.recording.game_records import GameRecord
from croupier.replay.games import OldMaidGame
from croupier.replay.house_games import public_table
from croupier.web.class_page import LEGEND
from croupier.web.class_view import (
    RUNNING as PLAYED_NOW,
)
from croupier.web.class_view import (
    RUNNING_SIGN,
    RUNNING_TEXT,
    CellView,
    GridView,
    Member,
    ProgramView,
    finding_text,
)
from croupier.web.frames import FrameView
from croupier.web.protocols import protocol_page


def cards(faces: str) -> tuple[CardView, ...]:
    """Return cards by their faces; `-` is a card face down."""
    return tuple(BACK if face == "-" else CardView(face, verbatim(face)) for face in faces.split())


def action(action_id: str, label: str, key: str, consequence: str, amount: Amount | None = None) -> ActionView:
    return ActionView(action_id, text(label), key, text(consequence), amount)


LEAVE = action("leave", "Leave", "q", "ends the session")


@dataclass(frozen=True)
class Row:
    """An object of a page, with any attributes."""

    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def row(**values: Any) -> Row:
    return Row(values)


def pot(coins: int, name: str = "Pot") -> Any:
    return row(coins=coins, name=text(name))


KUHN = TableView(
    title=text("Kuhn poker"),
    seats=(
        SeatView(name=text("House"), cards=(BACK,), caption=text("P_1, first to act"), bet=1),
        SeatView(
            name=text("You"),
            cards=(CardView("K", text("the king")),),
            caption=text("P_2"),
            bet=1,
            status="to act",
            is_viewer=True,
        ),
    ),
    pots=(pot(2),),
    announcements=(text("You are dealt the king."), text("The house checks.")),
    actions=(
        action("check", "Check", "c", "costs nothing"),
        action("bet", "Bet 1", "b", "puts a coin into the pot"),
        action("leave", "Leave", "q", "ends the session, and you lose what you have bet"),
    ),
    purse=9,
    score=counted("{count} game, coins won: {coins}", "{count} games, coins won: {coins}", 3, coins="+1"),
    results=(verbatim("the king against the jack: +2"), verbatim("the jack, no showdown: -1")),
)

SEVENHALF = TableView(
    title=text("Seven and a half"),
    seats=(
        SeatView(name=text("Bank"), cards=cards("7o -"), caption=text("7")),
        SeatView(
            name=text("You"),
            cards=cards("2b sc 4e"),
            caption=text("6½"),
            bet=5,
            status="to act",
            is_viewer=True,
        ),
    ),
    announcements=(text("You draw the four of swords."),),
    actions=(
        action("draw", "Draw", "d", "takes a card"),
        action("ante", "Raise", "a", "adds coins to the bet", Amount(1, 10, (), 1)),
        action("pass", "Pass", "p", "the bank plays"),
        LEAVE,
    ),
    purse=45,
    score=counted("{count} game, coins won: {coins}", "{count} games, coins won: {coins}", 1, coins="-5"),
)

BLACKJACK = TableView(
    title=text("Blackjack"),
    seats=(
        SeatView(name=text("Bank"), cards=cards("JH -"), caption=text("10")),
        SeatView(name=text("You"), cards=cards("AS 6D 2C KH"), caption=text("19"), bet=100, is_viewer=True),
    ),
    announcements=(text("You pass."),),
    blocked=text("Waiting for the house."),
    actions=(LEAVE,),
    deadline=12.0,
    purse=400,
)


def _player(name: str, chips: int, **more: object) -> SeatView:
    return SeatView(name=verbatim(name), chips=chips, **more)  # type: ignore[arg-type]


HOLDEM = TableView(
    title=text("Texas hold'em"),
    seats=(
        _player("Marta", 1870, cards=cards("- -"), bet=40),
        _player("Jon", 87, cards=cards("- -"), is_dealer=True, status="folded"),
        _player("Ida_with_a_long_name", 0, cards=cards("- -"), bet=987, status="all in"),
        _player("Nils", 400, status="away"),
        _player("Olga", 2000, cards=cards("QC QH"), bet=40),
        SeatView(
            name=text("You"),
            chips=198,
            cards=cards("AS KH"),
            caption=text("a pair of kings"),
            bet=20,
            status="to act",
            is_viewer=True,
        ),
    ),
    board=cards("KD TC 4S 4H"),
    pots=(pot(1044, "Main pot"), pot(80, "Side pot")),
    announcements=(text("Jon folds."), text("Ida_with_a_long_name is all in for 987.")),
    actions=(
        action("fold", "Fold", "f", "gives up the pot"),
        action("call", "Call 178", "c", "all in; the pot is 1302"),
        action(
            "raise",
            "Raise to",
            "r",
            "the others have to call or fold",
            Amount(
                40,
                198,
                ((text("Minimum"), 40), (text("Half the pot"), 120), (text("Pot"), 170), (text("All in"), 198)),
                60,
            ),
        ),
        LEAVE,
    ),
    deadline=15.0,
)

OLDMAID = TableView(
    title=text("Old Maid"),
    seats=(
        _player("Ida", 0, cards=cards("- - - - -"), caption=text("5 cards")),
        SeatView(name=verbatim("Jon"), cards=cards("- - - -"), caption=text("4 cards")),
        SeatView(name=verbatim("Marta"), cards=cards("- - - - - -"), caption=text("6 cards"), status="out"),
        SeatView(
            name=text("You"),
            cards=cards("3H 9C QS KD JOKER TD"),
            caption=text("6 cards"),
            status="to act",
            is_viewer=True,
        ),
    ),
    announcements=(text("You draw a card from Ida."),),
    actions=(*(action(f"card{n}", f"Card {n}", str(n), "draws it from Ida") for n in range(1, 6)), LEAVE),
)

OLDMAID_OFFER = replace(
    OLDMAID,
    announcements=tuple(text(f"You draw the {number} of hearts.") for number in range(2, 9)),
    actions=(*(action(f"card{n}", f"Card {n}", "123456789abc"[n - 1], "draws it") for n in range(1, 13)), LEAVE),
)

OVER = TableView(
    title=text("Kuhn poker"),
    seats=(),
    status=text("The server closed the connection."),
    score=counted("{count} game, coins won: {coins}", "{count} games, coins won: {coins}", 3, coins="+1"),
    results=KUHN.results,
    is_over=True,
)

WATCHED = TableView(
    title=text("Texas hold'em"),
    seats=tuple(replace(seat, is_viewer=False) for seat in HOLDEM.seats),
    board=HOLDEM.board,
    pots=HOLDEM.pots,
    announcements=HOLDEM.announcements,
)

TABLES: dict[str, TableView] = {
    "kuhn": KUHN,
    "sevenhalf": SEVENHALF,
    "blackjack": BLACKJACK,
    "holdem": HOLDEM,
    "oldmaid": OLDMAID,
    "over": OVER,
}
RULES: dict[str, Text] = {
    "kuhn": text(
        "Three cards, jack, queen and king: you and the house put one coin each into the pot and get one card."
    ),
    "sevenhalf": text("Draw Spanish cards as near to 7½ as you dare; figures count a half."),
    "blackjack": text("Draw cards up to 21; the bank draws to 17."),
    "holdem": text("Two cards each, five on the table; the best five win the pot."),
    "oldmaid": text("Lay down pairs, draw from your neighbour; the player with the joker loses."),
}
TITLES: dict[str, Text] = {
    "kuhn": text("Kuhn poker"),
    "sevenhalf": text("Seven and a half"),
    "blackjack": text("Blackjack"),
    "holdem": text("Texas hold'em"),
    "oldmaid": text("Old Maid"),
}

PLAYERS = {"holdem": ("Marta", "W" * 64), "oldmaid": ("Berit", "Jordi")}


def room(name: str) -> Row:
    return row(
        name=name,
        title=TITLES[name],
        rules=RULES[name],
        connected=len(name) % 5,
        players=PLAYERS.get(name, ()),
        is_playable=True,
        unavailable=None,
    )


FRAMES = [
    FrameView(sender="you", text="STRT P_2", hex=b"STRT P_2".hex(" "), clause="kuhn-4.1", number=1),
    FrameView(sender="house", text="CARD C_K", hex=b"CARD C_K".hex(" "), clause="kuhn-4.2", number=2),
    FrameView(sender="house", text="ACTN CHK", hex=b"ACTN CHK".hex(" "), clause="", number=3),
]
ACT_BODY = b'{"action":1}'
GAME_BODY = b'{"playerID":"00000000","wealth":100}' * 9
LONG_FRAMES = [
    FrameView(
        sender="you",
        text=f"POST /games/1/players/2/acts/ {ACT_BODY.decode()}",
        hex=(b"POST /games/1/players/2/acts/ HTTP/1.1\r\n\r\n" + ACT_BODY).hex(" "),
        clause="holdem-4.1",
        number=1,
    ),
    FrameView(
        sender="house",
        text=f"GET /games/1: 200 {GAME_BODY.decode()}",
        hex=(b"HTTP/1.1 200 OK\r\n\r\n" + GAME_BODY).hex(" "),
        clause="holdem-5.2",
        number=2,
    ),
]
PUBLIC_TABLES = [
    row(
        id="h1",
        room="holdem",
        title=text("Hold'em 1/2"),
        players=["Marta", "Jon", "three bots"],
        note=counted("hand {count}", "hand {count}", 48),
        can_sit=True,
    ),
    row(id="m1", room="oldmaid", title=text("Old Maid"), players=["Ida", "W" * 64], note=None, can_sit=False),
    row(id="kuhn-17", room="kuhn", title=TITLES["kuhn"], players=[], note=text("client 17"), can_sit=False),
]


WATCHED_HOUSE = replace(
    public_table(GameRecord("kuhn", "", 1, 0.0, 0, 0, ("Q", "K"), ("BET",)), is_over=False),
    announcements=(text("The client bets a coin."),),
)
OLDMAID_GAME = OldMaidGame(("Berit", "W" * 64, "Laia"))
OLDMAID_GAME.drawn_counts, OLDMAID_GAME.pair_counts, OLDMAID_GAME.states = [11, 11, 11], [2, 0, 1], {2: "away"}
WATCHED_OLDMAID = replace(OLDMAID_GAME.table, announcements=(text("Laia is gone."),))


def table_page(name: str, view: TableView, **more: Any) -> tuple[str, dict[str, Any]]:
    context = {"table": view, "frames": FRAMES, "id": "7f", "version": "7f-1", "room": room(name)}
    return "table.html", context | more


CAUSES = [
    CauseView(
        text="It sends CARD before STRT is complete",
        clause="kuhn-4.2",
        count=2,
        tests=["the house deals after STRT", "the house waits for a whole message"],
        dialogue=[
            ShownLine("client", "STRT", "53 54 52 54", "only the beginning of a message"),
            ShownLine("server", "CARD C_K"),
        ],
    ),
    CauseView("Expected DISC; actual nothing", "kuhn-7.2", 1, ["the house ends exhausted sessions"], ()),
]
RUNNING = RunState(total=84, done=31, passed=28, failed=3, causes=CAUSES)
FINISHED = replace(
    RUNNING,
    is_running=False,
    done=84,
    passed=79,
    skipped=2,
    remark="The server departs from the protocol all along: it puts quotes around its arguments",
    verdict="It breaks the protocol: it sends CARD before STRT is complete.",
    reports={"html": "", "junit": ""},
)
REFUSED = RunState(total=84, is_running=False, verdict="Nothing listens at 127.0.0.1:1212")


def check_run(state: RunState, **more: Any) -> tuple[str, dict[str, Any]]:
    run = row(id="r1", target="127.0.0.1:1212", room=room("kuhn"), state=state)
    return "check_run.html", {"run": run, "room": run.room, "version": "7f-1", "state": state, "note": None} | more


def grid_cell(place: str, finding: CellFinding | None = None, *, is_running: bool = False) -> CellView:
    if finding is not None:
        return CellView(place, finding.kind.name, "S§4.2", finding_text(finding), f"/class/i/kuhn/{place}")
    return CellView(place, PLAYED_NOW, RUNNING_SIGN, RUNNING_TEXT) if is_running else CellView(place)


BROKEN = CellFinding(
    CellKind.BROKE,
    ("server",),
    "kuhn-4.2",
    "the server breaks kuhn-4.2: found CARD C_K; allowed: ACTN CHK",
    (ShownLine("client", "STRT P_2", b"STRT P_2".hex(" ")), ShownLine("server", "CARD C_K", b"CARD C_K".hex(" "))),
)
FINDINGS = [CellFinding(kind) for kind in CellKind if kind is not CellKind.BROKE] + [BROKEN]
MEMBERS = [Member(number, f"group {number}") for number in range(1, 12)]
GRID = GridView(
    servers=[
        ProgramView(
            server,
            f"server-{server.number}",
            "50",
            [
                grid_cell(
                    f"c-{server.number}-{client.number}",
                    FINDINGS[number % len(FINDINGS)] if server.number < 8 else None,
                    is_running=server.number == 8,
                )
                for number, client in enumerate(MEMBERS, start=server.number)
            ],
        )
        for server in MEMBERS
    ],
    clients=[ProgramView(client, f"client-{client.number}", "") for client in MEMBERS],
)
CLASS = {
    "room": room("kuhn"),
    "path": "/class/i/kuhn",
    "version": "7f-1",
    "grid": GRID,
    "done": 77,
    "total": 121,
    "building": [text("number {number}", number=3)],
    "is_running": True,
    "class_pages": [row(room=room(name), plan=row(path=f"/class/i/{name}")) for name in ("kuhn", "blackjack")],
    "legend": LEGEND,
    "report": "/class/i/report.html",
}
ARENA = {
    "room": room("kuhn"),
    "path": "/arena/i",
    "version": "7f-1",
    "headline": "equilibrium beats all others, by 0.14 coins a hand on average (95%: 0.13 to 0.15)",
    "sections": {
        "setting": "<p>kuhn, 3 bots, 3 pairings, 30,000 hands.</p>",
        "standings": "<h2>Standings</h2>"
        '<figure role="img" aria-label="Winnings"><svg viewBox="0 0 9 1"><path d="M0 0H9"/></svg></figure>'
        '<div class="wide" tabindex="0" role="region" aria-label="Standings"><table><thead><tr>'
        '<th scope="col" class="name">bot</th><th scope="col">wins</th></tr></thead><tbody>'
        '<tr><th scope="row" class="name">Careful</th><td class="won">+0.131<small>0.12 to 0.14</small></td></tr>'
        '<tr><th scope="row" class="name">random</th><td class="lost">−0.131</td></tr></tbody></table></div>'
        '<p class="note">Bots are ranked by what they win on average.</p>',
        "leaks": '<details open data-key="a"><summary>random: 0.1</summary><p>bets with Q</p></details>',
        "faults": "",
        "method": "<dl><dt>command</dt><dd><code>croupier arena kuhn mine.py:Careful random</code></dd></dl>",
    },
    "pairings": 1,
    "total_pairings": 3,
    "hands": grouped(12_400),
    "steps": 1240,
    "total_steps": 3000,
    "is_running": True,
    "is_sure": False,
}
CLASS_CELL = {
    "room": room("kuhn"),
    "path": "/class/i/kuhn",
    "server": verbatim("Ada"),
    "client": verbatim("Bob"),
    "cell": Cell("kuhn", "ada", "bob", "", BROKEN, 1, 1, 2),
    "sign": "§",
    "verdict": finding_text(BROKEN),
    "note": BROKEN.note,
    "stderr": "Traceback (most recent call last):\nValueError: a long line " + 20 * "of characters ",
}
STEPS = {
    "step": 2,
    "steps": 3,
    "parties": [text("you"), text("house")],
    "text_address": "/replay/kuhn/showdown/text",
    "marks": [
        row(party=0, at=0.0, text="STRT P_2"),
        row(party=1, at=0.4, text="CARD C_K"),
        row(party=1, at=3.0, text="ACTN CHK"),
    ],
    "note": text("You are dealt the king."),
    "clause": "kuhn-4.2",
    "has_messages": True,
    "remark": text("Times are not recorded."),
    "deal": "/fair/kuhn/7-1/3",
}
DEAL = row(
    algorithm="croupier-fair-1",
    commitment="630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
    server_seed="000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    client_seed="",
    hand=1000,
    pack=["J", "Q", "K"],
    cards=["Q", "J"],
)

FAIR = {"algorithms": ["croupier-fair-1", "croupier-fair-2"]}

PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "lobby": (
        "lobby.html",
        {
            "rooms": [room(name) for name in TITLES],
            "tables": PUBLIC_TABLES,
            "version": "7f3a-1",
            "own_tables": [row(id="7f", room=room("kuhn"))],
        },
    ),
    "lobby-empty": ("lobby.html", {"rooms": [room("kuhn")], "tables": [], "version": "7f3a-1", "own_tables": []}),
    "error": (
        "error.html",
        {"status": 404, "title": "Page not found", "detail": "There is nothing here, or it is not yours."},
    ),
    **{
        name: table_page(name if name in TITLES else "kuhn", view, frames=LONG_FRAMES if name == "holdem" else FRAMES)
        for name, view in TABLES.items()
    },
    "oldmaid-offer": table_page("oldmaid", OLDMAID_OFFER, frames=FRAMES * 6),
    "watch": ("watch.html", {"rooms": [room("holdem"), room("oldmaid")], "tables": PUBLIC_TABLES, "version": "7f3a-1"}),
    "watch-empty": ("watch.html", {"rooms": [], "tables": [], "version": "7f3a-1"}),
    "watch-table": table_page("holdem", WATCHED, is_watching=True, delay_seconds=30),
    "watch-house": table_page("kuhn", WATCHED_HOUSE, is_watching=True, delay_seconds=0),
    "watch-oldmaid": table_page("oldmaid", WATCHED_OLDMAID, is_watching=True, delay_seconds=0),
    "replays": (
        "replays.html",
        {"groups": [row(title=TITLES["kuhn"], records=[row(room="kuhn", id="showdown", title="A showdown", steps=5)])]},
    ),
    "replay": ("replay.html", {"table": KUHN, "frames": FRAMES, "room": room("kuhn"), "title": "A showdown"} | STEPS),
    "protocols": ("protocols.html", {"protocols": [("kuhn", "Kuhn poker"), ("rulings", "Rulings")]}),
    **{
        f"protocol-{name}": ("protocol.html", {"name": name, "protocol": protocol_page(name)})
        for name in ("kuhn", "holdem")
    },
    "check": (
        "check.html",
        {
            "rooms": [room(name) for name in TITLES],
            "values": row(room="kuhn", target="", has_tls=False, authority=""),
            "error": None,
            "runs": [check_run(state)[1]["run"] for state in (RUNNING, FINISHED, REFUSED)],
        },
    ),
    "check-refused": (
        "check.html",
        {
            "rooms": [room(name) for name in TITLES],
            "values": row(room="kuhn", target="10.0.0.1:22", has_tls=True, authority="-----BEGIN CERTIFICATE-----"),
            "error": text("The address 10.0.0.1 is not allowed."),
            "runs": [],
        },
    ),
    "check-run": check_run(RUNNING),
    "check-finished": check_run(FINISHED),
    "check-stopped": check_run(replace(RUNNING, is_running=False), note=text("You have stopped the run.")),
    "check-impossible": check_run(REFUSED),
    "class": ("class.html", CLASS),
    "class-over": ("class.html", CLASS | {"is_running": False, "building": [], "report": None}),
    "class-cell": ("class_cell.html", CLASS_CELL),
    "fair": ("fair.html", {"deal": DEAL} | FAIR),
    "fair-empty": ("fair.html", {"deal": None} | FAIR),
    "arena": ("arena.html", ARENA),
    "arena-over": ("arena.html", ARENA | {"is_running": False, "pairings": 3, "steps": 3000}),
    "login": (
        "login.html",
        {"error": text("The user name or the password is wrong."), "username": "marta", "keeps_coins": True},
    ),
    "register": (
        "register.html",
        {"error": text("Enter a password."), "username": "marta", "keeps_coins": False},
    ),
    "admin-login": ("admin_login.html", {"error": None}),
    "admin": (
        "admin.html",
        {
            "tables": [row(id="h1", title=text("Hold'em 1/2"), players=["Marta", "Jon"], player_count=2)],
            "accounts": [("marta", 1870, "2026-11-23 12:00:00")],
            "transfers": [
                ("2026-11-23 12:01:33", "marta", -40, "kuhn"),
                ("2026-11-23 12:02:10", "jon", 80, "kuhn"),
            ],
            "account_count": 2,
            "is_stored": True,
            "is_draining": False,
        },
    ),
}
