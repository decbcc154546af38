"""A hand as Open Hand History has it, ours or that of another program, as a story: what its actions say."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, convert

from croupier.tui.replay.steps import GameReplay, ReplayStep, align_columns

ACTION_VERBS: Final = {
    "Fold": "folds", "Check": "checks", "Bet": "bets", "Raise": "raises by adding", "Call": "calls",
    "Post Ante": "posts the ante,", "Post SB": "posts the small blind,", "Post BB": "posts the big blind,",
    "Post Dead": "posts dead", "Post Extra Blind": "posts an extra blind,", "Straddle": "straddles with",
    "Dealt Cards": "is dealt", "Mucks Cards": "mucks", "Shows Cards": "shows", "Sits Down": "sits down",
    "Stands Up": "leaves the table", "Added Chips": "adds",
}  # fmt: skip
"""What a player does, by the name of the action in Open Hand History."""


class ParsedPlayer(Struct, frozen=True):
    """Of an Open Hand History: somebody who plays."""

    id: int
    name: str
    starting_stack: float


class ParsedAction(Struct, frozen=True):
    """Of an Open Hand History: what somebody has done."""

    player_id: int
    action: str
    amount: float = 0
    is_allin: bool = False
    cards: tuple[str, ...] = ()


class ParsedRound(Struct, frozen=True):
    """Of an Open Hand History: a betting round."""

    street: str
    actions: tuple[ParsedAction, ...]
    cards: tuple[str, ...] = ()


class ParsedWin(Struct, frozen=True):
    """Of an Open Hand History: what somebody wins."""

    player_id: int
    win_amount: float


class ParsedPot(Struct, frozen=True):
    """Of an Open Hand History: a pot."""

    number: int
    amount: float
    player_wins: tuple[ParsedWin, ...] = ()


class ParsedHistory(Struct, frozen=True):
    """What is read of an Open Hand History, ours or that of somebody else."""

    players: tuple[ParsedPlayer, ...]
    rounds: tuple[ParsedRound, ...]
    pots: tuple[ParsedPot, ...] = ()
    table_name: str = ""
    game_number: str = ""


def ohh_replay(fields: Mapping[str, Any]) -> GameReplay:
    """A hand as Open Hand History has it: what its actions say, in whatever game. Raises ValueError."""
    told = convert(fields["ohh"], ParsedHistory)
    return GameReplay(f"{told.table_name}/{told.game_number}", [*_replay_steps(told)])


def _replay_steps(told: ParsedHistory) -> Iterator[ReplayStep]:
    names = {player.id: player.name for player in told.players}
    began = {player.id: player.starting_stack for player in told.players}
    left = dict(began)
    holes: dict[int, Sequence[str]] = {}
    board: list[str] = []
    pot = 0.0

    def name(player: int) -> str:
        if player not in names:
            raise ValueError(f"found the player {player}; allowed: {', '.join(map(str, names))}")
        return names[player]

    def step(words: str) -> ReplayStep:
        rows = [["player", "chips", "cards"]]
        rows += [[names[each], f"{left[each]:g}", " ".join(holes.get(each, ()))] for each in names]
        shown = [f"Board: {' '.join(board)}"] if board else []
        return ReplayStep(words, [*align_columns(rows), *shown, f"Pot: {pot:g}"])

    for each in told.rounds:
        board += each.cards
        yield step(f"{each.street}{': ' if each.cards else ''}{' '.join(each.cards)}.")
        for action in each.actions:
            verb = ACTION_VERBS.get(action.action, action.action.lower())
            player = name(action.player_id)
            if action.amount:
                left[action.player_id] -= action.amount
                pot += action.amount
            if action.cards:
                holes[action.player_id] = action.cards
            words = [player, verb, f"{action.amount:g}" if action.amount else "", " ".join(action.cards)]
            yield step(f"{' '.join(filter(None, words))}{', all-in' if action.is_allin else ''}.")
    uncalled = pot - sum(won.amount for won in told.pots)
    if told.pots and uncalled > 0:
        most = max(names, key=lambda each: began[each] - left[each])
        left[most] += uncalled
        pot -= uncalled
        yield step(f"{names[most]} takes {uncalled:g} back, which nobody has called.")
    for won in told.pots:
        for win in won.player_wins:
            left[win.player_id] = left.get(win.player_id, 0) + win.win_amount
            pot -= win.win_amount
            yield step(f"{name(win.player_id)} wins {win.win_amount:g}.")
