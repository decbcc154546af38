"""Writes the parts of the documentation that are made from the code: `make docs` runs it, and a test holds it to it."""

import json
from collections.abc import Iterator
from pathlib import Path

from cyclopts.argument import Argument
from docs.public_api import public_api_page

from croupier.cli import app
from croupier.cli.serve import EVERY_ROOM
from croupier.core.dealer import FAIR_ALGORITHM, HOUSE_DECISIONS_HAND_NUMBER, FairDealer, commitment, derive_server_seed
from croupier.core.transcript import Transcript, parse_transcript
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.blackjack import solution as solved_blackjack
from croupier.rooms.blackjack.rules import BANK_STANDS_AT, client_wins
from croupier.rooms.blackjack.rules import TARGET_TOTAL as TWENTY_ONE
from croupier.rooms.kuhn import solution as solved_kuhn
from croupier.rooms.kuhn.rules import BETTING_TREE, SHOWDOWN, TERMINAL_HISTORIES, BettingHistory
from croupier.rooms.kuhn.wire import HOUSE_DECISIONS
from croupier.rooms.oldmaid.odds import solution as solved_oldmaid
from croupier.rooms.sevenhalf import solution as solved_sevenhalf
from croupier.rooms.sevenhalf.house import COMMANDS
from croupier.rooms.sevenhalf.rules import MOVES, RAISE_PHASES, TARGET_HALVES, Phase, payout_in_bets
from croupier.strategy.solution import Solution, headline

DOCS = Path(__file__).parent
ROOT = DOCS.parent


def pages() -> Iterator[tuple[Path, str]]:
    """Every file with generated parts, and what has to stand in it."""
    for room, parts in PARTS.items():
        page = DOCS / "protocols" / f"{room}.md"
        text = page.read_text()
        for name, part in parts.items():
            text = placed(text, name, part())
        yield page, text
    yield DOCS / "settings.md", placed((DOCS / "settings.md").read_text(), "settings", settings())
    yield DOCS / "api.md", public_api_page()
    yield DOCS / "fair-deal.json", vectors()
    yield DOCS / "solutions.md", solutions((DOCS / "solutions.md").read_text())
    for room in ROOMS:
        yield DOCS / "transcripts" / f"{room}.md", transcripts(room)


def placed(text: str, name: str, part: str) -> str:
    """Put a generated part between its marks."""
    before, mark, rest = text.partition(f"<!-- generated: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not mark or not end:
        raise ValueError(f"found no place for {name!r}; allowed: <!-- generated: {name} --> and <!-- end -->")
    return f"{before}{mark}\n{part}\n{end}{after}"


def betting() -> str:
    """The betting tree of Kuhn poker as a table and as a diagram."""
    rows = ["| What has been done | Decides | Choices |", "|---|---|---|"]
    for history, (seat, actions) in BETTING_TREE.items():
        rows.append(f"| {told(history) or 'nothing yet'} | P_{seat + 1} | {', '.join(actions)} |")
    rows += ["", "| What has been done | The game ends | Worth |", "|---|---|---|"]
    for history, (winner, coins) in TERMINAL_HISTORIES.items():
        ends = "with a showdown" if winner == SHOWDOWN else f"and P_{int(winner) + 1} wins"
        rows.append(f"| {told(history)} | {ends} | {coins} |")
    return "\n".join([*rows, "", "```text", *tree(()), "```", ""])


def tree(history: BettingHistory) -> list[str]:
    """The betting tree from here on, as lines to be read from left to right."""
    if history in TERMINAL_HISTORIES:
        winner, coins = TERMINAL_HISTORIES[history]
        return [f"showdown for {coins}" if winner == SHOWDOWN else f"P_{int(winner) + 1} wins {coins}"]
    seat, actions = BETTING_TREE[history]
    lines = []
    for number, action in enumerate(actions):
        first, last = number == 0, number == len(actions) - 1
        branch = tree((*history, action))
        lines.append(f"P_{seat + 1} ─┬─ {action} ── {branch[0]}" if first else f"     └─ {action} ── {branch[0]}")
        lines += [f"     {' ' if last else '│'}{' ' * 9}{line}" for line in branch[1:]]
    return lines


def told(history: BettingHistory) -> str:
    """What has been done, in the words of the wire."""
    return " ".join(history)


def replies() -> str:
    """What the house may answer to every action of the client."""
    rows = ["| Client | After | Client says | House answers |", "|---|---|---|---|"]
    rows.append("| | between games | `STRT P_1` | `CARD` |")
    rows.append(f"| | between games | `STRT P_2` | `CARD`, then {answers(())} |")
    for history, (seat, actions) in BETTING_TREE.items():
        for action in actions:
            after = (*history, action)
            if after not in TERMINAL_HISTORIES:
                answer = answers(after)
            elif TERMINAL_HISTORIES[after][0] == SHOWDOWN:
                answer = "`CARD`"
            else:
                answer = "nothing"
            rows.append(f"| P_{seat + 1} | {said(history)} | `ACTN {action}` | {answer} |")
    return "\n".join([*rows, ""])


def answers(history: BettingHistory) -> str:
    """What the house may say when it decides."""
    return " or ".join("`CARD`" if says == "CARD" else f"`ACTN {says}`" for says in HOUSE_DECISIONS[history])


def said(history: BettingHistory) -> str:
    """What has been done, by whom: the house and the client take turns."""
    sides = ("house",) if len(history) == 1 else ("client", "house")
    return ", ".join(f"{side} {action}" for side, action in zip(sides, history, strict=False)) or "`CARD`"


def payment() -> str:
    """What seven and a half pays, by both scores."""
    banks = {"½ to 7": range(1, TARGET_HALVES), "7½": (TARGET_HALVES,), "over": (TARGET_HALVES + 1,)}
    rows = ["| Player | " + " | ".join(f"bank {told}" for told in banks) + " |", "|---" * (len(banks) + 1) + "|"]
    for told, client in {
        "½ to 7": range(1, TARGET_HALVES),
        "7½": (TARGET_HALVES,),
        "over": (TARGET_HALVES + 1,),
    }.items():
        cells = [
            gains({payout_in_bets(own, bank) for own in client for bank in found if ends(own, bank)})
            for found in banks.values()
        ]
        rows.append(f"| {told} | {' | '.join(cells)} |")
    return "\n".join([*rows, "", "An empty cell is a score at which the bank does not stop.", ""])


def ends(client: int, bank: int) -> bool:
    """Whether the bank of seven and a half stops there: ahead, at seven and a half, or behind one card."""
    return client > TARGET_HALVES or bank > client or bank == TARGET_HALVES


def gains(found: set[int]) -> str:
    """What is paid, in bets."""
    return " or ".join({-1: "−bet", 0: "0", 1: "+bet", 2: "+2·bet"}[bets] for bets in sorted(found))


def allowed() -> str:
    """The commands of seven and a half that are allowed in each state."""
    rows = [
        "| State | LIST | LIST in the dialect `lenient` |",
        "|---|---|---|",
        "| between games | `STRT` | `STRT, DRAW` |",
    ]
    states: dict[Phase, str] = {"bet": "after STBT", "hand": "after CARD", "raised": "after ANTE"}
    for phase, told in states.items():
        lists = []
        for lenient in (False, True):
            may = {
                *MOVES[lenient][phase],
                *(["ANTE"] if phase in RAISE_PHASES[lenient] else []),
                *(["STRT"] if lenient else []),
            }
            lists.append(", ".join(command for command in COMMANDS if command in may))
        rows.append(f"| {told} | `{lists[0]}` | `{lists[1]}` |")
    return "\n".join([*rows, ""])


def stands() -> str:
    """Who wins at blackjack when the client stands."""
    banks = range(BANK_STANDS_AT, TWENTY_ONE + 2)
    head = " | ".join("bank over" if bank > TWENTY_ONE else f"bank {bank}" for bank in banks)
    rows = [f"| Client stands on | {head} |", "|---" * (len(banks) + 1) + "|"]
    for client in range(BANK_STANDS_AT - 1, TWENTY_ONE + 1):
        told = f"{client} or less" if client < BANK_STANDS_AT else str(client)
        rows.append(f"| {told} | {' | '.join('client' if client_wins(client, bank) else 'bank' for bank in banks)} |")
    return "\n".join([*rows, ""])


PARTS = {
    "kuhn": {"betting": betting, "replies": replies},
    "sevenhalf": {"payment": payment, "allowed": allowed},
    "blackjack": {"stands": stands},
}
"""The generated parts of every protocol's page."""


def settings() -> str:
    """Every setting of every room, with its flag, its variable, its place in the TOML file, and what it does."""
    parts = []
    shared: list[Argument] = []
    for name, room in ROOMS.items():
        own: list[Argument] = []
        shared.clear()
        for found in arguments("serve", name):
            (shared if found.parameter.group == (EVERY_ROOM,) else own).append(found)
        parts += [f"## The room of {room.title}\n\n`croupier serve {name}` has these of its own."]
        parts += [table(own, f"CROUPIER_SERVE_{name.upper()}_", f"[serve.{name}]")]
        where = "HOST:PORT" if name != "holdem" else "URL"
        parts += [f"## Playing {room.title}\n\n`croupier play {name} [{where}]` has these."]
        parts += [table(arguments("play", name), f"CROUPIER_PLAY_{name.upper()}_", f"[play.{name}]")]
    title = "## Every room\n\n`croupier serve` has these, and so has every room."
    return "\n\n".join([title, table(shared, "CROUPIER_SERVE_", "[serve]"), *parts]) + "\n"


def arguments(*command: str) -> list[Argument]:
    """The flags of a command."""
    found = app[command[0]][command[1]].assemble_argument_collection(parse_docstring=True)
    return [argument for argument in found if argument.show and argument.names[0].startswith("--")]


def table(arguments: list[Argument], prefix: str, section: str) -> str:
    """Settings as a table."""
    rows = [f"| Flag | Variable | TOML, in `{section}` | Default | |", "|---|---|---|---|---|"]
    for argument in arguments:
        flags = " ".join(f"`{name}`" for name in argument.names if not name.startswith("--no-"))
        key = argument.names[0].removeprefix("--")
        default = argument.field_info.default
        if callable(shown := argument.parameter.show_default):
            default = json.loads(shown(default))
        written = "" if default is None else f"`{json.dumps(default)}`"
        variable = prefix + key.replace("-", "_").upper()
        rows.append(f"| {flags} | `{variable}` | `{key}` | {written} | {cell(argument.parameter.help or '')} |")
    return "\n".join(rows)


def cell(text: str) -> str:
    """Text for one cell of a table: on one line, with its vertical bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def vectors() -> str:
    """Test vectors of the fair deal, a line each; the text of docs/fair-deal.md says what each of them is."""
    server_seed = bytes(range(32))
    hands = []
    for client_seed in ("", "señor"):
        for cards, hand in ((3, 1), (3, 2), (3, 1000), (40, 1), (52, 1), (52, 3688), (416, 1)):
            dealer = FairDealer(server_seed, client_seed.encode())
            dealer.hands = hand - 1
            order = [*dealer.next_deck(cards)]
            hands.append({"client_seed": client_seed, "hand": hand, "cards": cards, "order": order})
    luck = FairDealer(server_seed).luck
    bounds = [3, 3, 2, 10, 1, 65536, 52, 40000, 40000, 40000]
    derived = [
        {"seed": seed, "room": room, "table": table, "server_seed": derive_server_seed(seed, room, table).hex()}
        for seed, room, table in ((1, "kuhn", 1), (1, "kuhn", 2), (42, "blackjack", 7))
    ]
    found = {
        "algorithm": FAIR_ALGORITHM,
        "server_seed": server_seed.hex(),
        "commitment": commitment(server_seed).hex(),
        "hands": hands,
        "draws": {
            "hand": HOUSE_DECISIONS_HAND_NUMBER,
            "bounds": bounds,
            "drawn": [luck.below(bound) for bound in bounds],
        },
        "derived": derived,
    }
    lines = []
    for name, value in found.items():
        if isinstance(value, list):
            written = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        else:
            written = json.dumps(value)
        lines.append(f' "{name}": {written}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def solutions(text: str) -> str:
    """What perfect play is worth: the page with its generated parts."""
    games = {"kuhn": solved_kuhn, "sevenhalf": solved_sevenhalf, "blackjack": solved_blackjack}
    for name, game in games.items():
        text = placed(text, name, solution(game.solve()))
    text = placed(text, "oldmaid", solution(solved_oldmaid.solve(3)))
    return placed(text, "raises", raises())


def solution(solved: Solution) -> str:
    """A solved game as `croupier solve` prints it."""
    parts = [headline(solved)]
    for grid in solved.grids:
        rows = [f"| {' | '.join(grid.head)} |", "|---" * len(grid.head) + "|"]
        rows += [f"| {' | '.join(row)} |".replace("*", "\\*") for row in grid.rows]
        parts += [f"{grid.title}:", "\n".join(rows)]
    parts.append("\n".join(f"- {note}" for note in solved.notes).replace("*", "\\*"))
    return "\n\n".join(parts) + "\n"


def raises() -> str:
    """What seven and a half is worth with several limits."""
    rows = ["| Largest total bet | Worth | |", "|---|---|---|"]
    for most in (1, 2, 10, 100):
        value = solved_sevenhalf.solve(most).value
        assert value is not None, "it has decisions"
        rows.append(f"| {most} | {float(value):+.10f} | {value} |")
    return "\n".join(rows) + "\n"


STREAMS = (
    "Every conversation on this page is played by the tests against the house (whole, in pieces of 1, 2, 3 and 7 "
    "bytes, and over real connections) and, in reverse, against the client; the referee watches both.",
    "`p>` is what the client says, `p<` what it hears, `*` what happens besides. A line `fault:` says who breaks "
    "the protocol.",
)
REQUESTS = (
    "Every conversation on this page is played by the tests against the service, with a clock of its own and, where no "
    "time passes, over real connections, whole and in pieces.",
    "`ann>` is what the user ann asks, with the password `secret`; `ann<` is the status, the headers in brackets and "
    "the body that she is told. `nobody` has no credentials. `$name` stands for whatever is told there first, and for "
    "the same afterwards; `$_` for anything. `*` is what happens besides.",
)
RING = (
    "The conversations on this page are played by the tests, whole and in pieces: with the table, and, where the title "
    "says player, with a player, whose table and neighbours are on the paper. Those of the table are also played over "
    "real connections, where no time passes.",
    "`p>` is what a peer of the table says, `p<` what it hears. Of a player, the lines tell what `table`, `left`, "
    "`next` and `right` say to him and hear from him. JSON is compared as JSON; `$name` stands for whatever is told "
    "there first, and for the same afterwards; `$_` for anything. `*` is what happens besides.",
)
"""How a page of transcripts begins."""


def transcripts(room: str) -> str:
    """All transcripts of a room on one page."""
    paths = sorted((ROOT / "transcripts" / room).glob("*.txt"))
    found = sorted((parse_transcript(path.read_text(), path.stem) for path in paths), key=by_clause)
    parts = [
        f"# Transcripts: {ROOMS[room].title}",
        *(STREAMS if room in HOUSE_ROOMS else {"holdem": REQUESTS, "oldmaid": RING}[room]),
    ]
    for transcript in found:
        clauses = ", ".join(f"[{clause}](#{clause})" for clause in transcript.clauses)
        path = f"../../transcripts/{room}/{transcript.name}.txt"
        parts.append(f"## {transcript.title}\n\n{clauses}\n\n```{{literalinclude}} {path}\n:language: text\n```")
    return "\n\n".join(parts) + "\n"


def by_clause(transcript: Transcript) -> list[int]:
    """The order of the protocol page: by the first clause that is shown."""
    return [int(number) for number in transcript.clauses[0].rpartition("-")[2].split(".")]


def main() -> None:
    """Write what has changed."""
    for path, text in pages():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
