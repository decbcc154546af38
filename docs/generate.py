"""Generates the parts of the documentation that come from the code. Run by `make docs`; a test checks the result."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from cyclopts.argument import Argument
from docs.public_api import public_api_page

from croupier.cli import app
from croupier.cli.serve import EVERY_ROOM
from croupier.core.dealer import (
    FAIR_ALGORITHM,
    FAIR_DEALERS,
    HOUSE_DECISIONS_HAND_NUMBER,
    SMALL_PACK_ALGORITHM,
    FairDealer,
    commitment,
    derive_server_seed,
)
from croupier.core.transcript import Transcript, parse_transcript
from croupier.observers.metrics import METRICS
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
    """Yield every file with generated parts, and its text."""
    for room, parts in PARTS.items():
        page = DOCS / "protocols" / f"{room}.md"
        text = page.read_text()
        for name, part in parts.items():
            text = replace_part(text, name, part())
        yield page, text
    yield DOCS / "settings.md", replace_part((DOCS / "settings.md").read_text(), "settings", settings())
    yield DOCS / "metrics.md", replace_part((DOCS / "metrics.md").read_text(), "metrics", metrics())
    yield DOCS / "api.md", public_api_page()
    yield DOCS / "fair-deal.json", vectors()
    yield DOCS / "solutions.md", solutions((DOCS / "solutions.md").read_text())
    for room in ROOMS:
        yield DOCS / "transcripts" / f"{room}.md", transcripts(room)


def replace_part(text: str, name: str, part: str) -> str:
    """Replace the part of a page between its marks. Raises ValueError if the marks are missing."""
    before, mark, rest = text.partition(f"<!-- generated: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not mark or not end:
        raise ValueError(f"found no marks for {name!r}; allowed: <!-- generated: {name} --> and <!-- end -->")
    return f"{before}{mark}\n{part}\n{end}{after}"


def betting() -> str:
    """Return the betting tree of Kuhn poker as a table and as a diagram."""
    rows = ["| Actions so far | To act | Choices |", "|---|---|---|"]
    for history, (seat, actions) in BETTING_TREE.items():
        rows.append(f"| {history_text(history) or 'none'} | P_{seat + 1} | {', '.join(actions)} |")
    rows += ["", "| Actions | The game ends | Coins |", "|---|---|---|"]
    for history, (winner, coins) in TERMINAL_HISTORIES.items():
        ends = "with a showdown" if winner == SHOWDOWN else f"and P_{int(winner) + 1} wins"
        rows.append(f"| {history_text(history)} | {ends} | {coins} |")
    return "\n".join([*rows, "", "```text", *tree(()), "```", ""])


def tree(history: BettingHistory) -> list[str]:
    """Return the betting tree after a history as lines, to be read from left to right."""
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


def history_text(history: BettingHistory) -> str:
    """Return a betting history as its wire codes."""
    return " ".join(history)


def replies() -> str:
    """Return the possible answers of the house to every action of the client, as a table."""
    rows = ["| Client | After | Client sends | House answers |", "|---|---|---|---|"]
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
            rows.append(f"| P_{seat + 1} | {history_with_sides(history)} | `ACTN {action}` | {answer} |")
    return "\n".join([*rows, ""])


def answers(history: BettingHistory) -> str:
    """Return the possible messages of the house when it has to act."""
    return " or ".join(
        "`CARD`" if decision == "CARD" else f"`ACTN {decision}`" for decision in HOUSE_DECISIONS[history]
    )


def history_with_sides(history: BettingHistory) -> str:
    """Return a betting history with the side of each action; house and client take turns."""
    sides = ("house",) if len(history) == 1 else ("client", "house")
    return ", ".join(f"{side} {action}" for side, action in zip(sides, history, strict=False)) or "`CARD`"


def payment() -> str:
    """Return what seven and a half pays, by both scores, as a table."""
    banks = {"½ to 7": range(1, TARGET_HALVES), "7½": (TARGET_HALVES,), "over": (TARGET_HALVES + 1,)}
    rows = ["| Player | " + " | ".join(f"bank {label}" for label in banks) + " |", "|---" * (len(banks) + 1) + "|"]
    for label, client in {
        "½ to 7": range(1, TARGET_HALVES),
        "7½": (TARGET_HALVES,),
        "over": (TARGET_HALVES + 1,),
    }.items():
        cells = [
            gains({payout_in_bets(own, bank) for own in client for bank in scores if bank_stops(own, bank)})
            for scores in banks.values()
        ]
        rows.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join([*rows, "", "An empty cell is a score at which the bank does not stop.", ""])


def bank_stops(client: int, bank: int) -> bool:
    """Return whether the bank stops: the client is over, or the bank is ahead or at seven and a half."""
    return client > TARGET_HALVES or bank > client or bank == TARGET_HALVES


def gains(payouts: set[int]) -> str:
    """Return payouts in bets as text."""
    return " or ".join({-1: "−bet", 0: "0", 1: "+bet", 2: "+2·bet"}[bets] for bets in sorted(payouts))


def allowed() -> str:
    """Return the commands of seven and a half that are allowed in each state, as a table."""
    rows = [
        "| State | LIST | LIST in the dialect `lenient` |",
        "|---|---|---|",
        "| between games | `STRT` | `STRT, DRAW` |",
    ]
    states: dict[Phase, str] = {"bet": "after STBT", "hand": "after CARD", "raised": "after ANTE"}
    for phase, label in states.items():
        lists = []
        for lenient in (False, True):
            commands = {
                *MOVES[lenient][phase],
                *(["ANTE"] if phase in RAISE_PHASES[lenient] else []),
                *(["STRT"] if lenient else []),
            }
            lists.append(", ".join(command for command in COMMANDS if command in commands))
        rows.append(f"| {label} | `{lists[0]}` | `{lists[1]}` |")
    return "\n".join([*rows, ""])


def stands() -> str:
    """Return the winner of blackjack when the client stands, as a table."""
    banks = range(BANK_STANDS_AT, TWENTY_ONE + 2)
    head = " | ".join("bank over" if bank > TWENTY_ONE else f"bank {bank}" for bank in banks)
    rows = [f"| Client stands on | {head} |", "|---" * (len(banks) + 1) + "|"]
    for client in range(BANK_STANDS_AT - 1, TWENTY_ONE + 1):
        label = f"{client} or less" if client < BANK_STANDS_AT else str(client)
        rows.append(f"| {label} | {' | '.join('client' if client_wins(client, bank) else 'bank' for bank in banks)} |")
    return "\n".join([*rows, ""])


PARTS = {
    "kuhn": {"betting": betting, "replies": replies},
    "sevenhalf": {"payment": payment, "allowed": allowed},
    "blackjack": {"stands": stands},
}
"""The functions that generate the parts of each protocol page."""


def settings() -> str:
    """Return tables of all settings, with flag, environment variable, TOML key, default and help."""
    parts = []
    shared: list[Argument] = []
    for name, room in ROOMS.items():
        own: list[Argument] = []
        shared.clear()
        for argument in arguments("serve", name):
            (shared if argument.parameter.group == (EVERY_ROOM,) else own).append(argument)
        parts += [f"## The room of {room.title_in_sentence}\n\n`croupier serve {name}` has these of its own."]
        parts += [table(own, f"CROUPIER_SERVE_{name.upper()}_", f"[serve.{name}]")]
        where = "HOST:PORT" if name != "holdem" else "URL"
        parts += [f"## Playing {room.title}\n\n`croupier play {name} [{where}]` has these."]
        parts += [table(arguments("play", name), f"CROUPIER_PLAY_{name.upper()}_", f"[play.{name}]")]
    title = "## Every room\n\n`croupier serve` has these, and so has every room."
    return "\n\n".join([title, table(shared, "CROUPIER_SERVE_", "[serve]"), *parts]) + "\n"


def metrics() -> str:
    """Return all metrics of the server as a table."""
    rows = ["| Metric | Type | Unit | Labels | Meaning |", "|---|---|---|---|---|"]
    for info in METRICS:
        labels = ", ".join(f"`{label}`" for label in info.labels) or "none"
        rows.append(f"| `{info.name}` | {info.type} | {info.unit} | {labels} | {info.meaning} |")
    return "\n".join([*rows, ""])


def arguments(*command: str) -> list[Argument]:
    """Return the arguments of a command that are flags."""
    collected = app[command[0]][command[1]].assemble_argument_collection(parse_docstring=True)
    return [argument for argument in collected if argument.show and argument.names[0].startswith("--")]


def table(arguments: list[Argument], prefix: str, section: str) -> str:
    """Return settings as a table."""
    rows = [f"| Flag | Variable | TOML, in `{section}` | Default | |", "|---|---|---|---|---|"]
    for argument in arguments:
        first, *others = argument.names
        flags = " ".join(f"`{name}`" for name in (first, *others) if name == first or not name.startswith("--no-"))
        key = argument.names[0].removeprefix("--")
        default = argument.field_info.default
        if callable(shown := argument.parameter.show_default):
            default = json.loads(shown(default))
        default_text = "" if default is None else f"`{json.dumps(default)}`"
        variable = prefix + key.replace("-", "_").upper()
        rows.append(f"| {flags} | `{variable}` | `{key}` | {default_text} | {cell(argument.parameter.help or '')} |")
    return "\n".join(rows)


def cell(text: str) -> str:
    """Return text for a table cell: on one line, with vertical bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


VECTOR_HANDS = {
    FAIR_ALGORITHM: [(3, 1), (3, 2), (3, 1000), (40, 1), (52, 1), (52, 3688), (416, 1)],
    SMALL_PACK_ALGORITHM: [(3, 1), (3, 2), (3, 8), (3, 9), (3, 1000), (4, 5), (4, 6)],
}
"""The numbers of cards and of the hand of each test vector, by algorithm."""


def vectors() -> str:
    """Return the test vectors of the fair deal as JSON; docs/fair-deal.md describes them."""
    server_seed = bytes(range(32))
    hands = []
    for client_seed in ("", "señor"):
        for algorithm, sizes in VECTOR_HANDS.items():
            for cards, hand in sizes:
                dealer = FAIR_DEALERS[algorithm](server_seed, client_seed.encode())
                dealer.hands = hand - 1
                order = [*dealer.next_deck(cards)]
                hands.append(
                    {"algorithm": algorithm, "client_seed": client_seed, "hand": hand, "cards": cards, "order": order}
                )
    luck = FairDealer(server_seed).luck
    bounds = [3, 3, 2, 10, 1, 65536, 52, 40000, 40000, 40000]
    derived = [
        {"seed": seed, "room": room, "table": table, "server_seed": derive_server_seed(seed, room, table).hex()}
        for seed, room, table in ((1, "kuhn", 1), (1, "kuhn", 2), (42, "blackjack", 7))
    ]
    parts = {
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
    for name, value in parts.items():
        if isinstance(value, list):
            written = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        else:
            written = json.dumps(value)
        lines.append(f' "{name}": {written}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def solutions(text: str) -> str:
    """Return the page of solutions with its generated parts."""
    games = {"kuhn": solved_kuhn, "sevenhalf": solved_sevenhalf, "blackjack": solved_blackjack}
    for name, game in games.items():
        text = replace_part(text, name, solution(game.solve()))
    text = replace_part(text, "oldmaid", solution(solved_oldmaid.solve(3)))
    return replace_part(text, "raises", raises())


def solution(solved: Solution) -> str:
    """Return a solved game as Markdown, with the content of `croupier solve`."""
    parts = [headline(solved)]
    for grid in solved.grids:
        rows = [f"| {' | '.join(grid.head)} |", "|---" * len(grid.head) + "|"]
        rows += [f"| {' | '.join(row)} |".replace("*", "\\*") for row in grid.rows]
        parts += [f"{grid.title}:", "\n".join(rows)]
    parts.append("\n".join(f"- {note}" for note in solved.notes).replace("*", "\\*"))
    return "\n\n".join(parts) + "\n"


def raises() -> str:
    """Return the value of seven and a half for several limits, as a table."""
    rows = ["| Largest total bet | Value | |", "|---|---|---|"]
    for max_bet in (1, 2, 10, 100):
        value = solved_sevenhalf.solve(max_bet).value
        assert isinstance(value, Fraction), "the game has decisions"
        rows.append(f"| {max_bet} | {float(value):+.10f} | {value} |")
    return "\n".join(rows) + "\n"


STREAMS = (
    "The tests play every conversation on this page against the house (whole, in pieces of 1, 2, 3 and 7 bytes, and "
    "over real connections) and, in reverse, against the client. The referee checks both.",
    "`p>` is a message that the client sends, `p<` one that it receives, `*` any other event. A line `fault:` names "
    "the side that breaks the protocol.",
)
REQUESTS = (
    "The tests play every conversation on this page against the service with a simulated clock and, where no time "
    "passes, over real connections, whole and in pieces.",
    "`ann>` is a request of the user ann, whose password is `secret`; `ann<` is the response: the status, the headers "
    "in brackets, and the body. `nobody` sends no credentials. `$name` matches any value at its first occurrence and "
    "the same value afterwards; `$_` matches any value. `*` is any other event.",
)
RING = (
    "The tests play the conversations on this page, whole and in pieces: against the table or, where the title says "
    "player, against a player, whose table and neighbours are simulated. Those of the table are also played over real "
    "connections, where no time passes.",
    "`p>` is a message that a peer sends to the table, `p<` one that it receives. In transcripts of a player, `table`, "
    "`left`, `next` and `right` are the peers that send to the player and receive from it. JSON is compared as JSON. "
    "`$name` matches any value at its first occurrence and the same value afterwards; `$_` matches any value. `*` is "
    "any other event.",
)
"""The introductions of the pages of transcripts."""


def transcripts(room: str) -> str:
    """Return the page with all transcripts of a room."""
    paths = sorted((ROOT / "transcripts" / room).glob("*.txt"))
    ordered = sorted((parse_transcript(path.read_text(), path.stem) for path in paths), key=by_clause)
    parts = [
        f"# Transcripts: {ROOMS[room].title}",
        *(STREAMS if room in HOUSE_ROOMS else {"holdem": REQUESTS, "oldmaid": RING}[room]),
    ]
    for transcript in ordered:
        clauses = ", ".join(f"[{clause}](#{clause})" for clause in transcript.clauses)
        path = f"../../transcripts/{room}/{transcript.name}.txt"
        parts.append(f"## {transcript.title}\n\n{clauses}\n\n```{{literalinclude}} {path}\n:language: text\n```")
    return "\n\n".join(parts) + "\n"


def by_clause(transcript: Transcript) -> list[int]:
    """Return a sort key: the number of the transcript's first clause, as on the protocol page."""
    return [int(number) for number in transcript.clauses[0].rpartition("-")[2].split(".")]


def main() -> None:
    """Write the files that have changed."""
    for path, text in pages():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
