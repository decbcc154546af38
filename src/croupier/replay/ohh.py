"""Replay of a hand in the Open Hand History format, from croupier or another program."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, convert

from croupier.core.card_names import FRENCH_CARDS
from croupier.core.presentation import CardView, SeatView, TableView, text, verbatim
from croupier.replay.steps import GameReplay, ReplayStep
from croupier.rooms.holdem.histories.ohh import OhhPlayer, OhhPot, OhhRound

ACTION_VERBS: Final = {
    "Fold": "folds", "Check": "checks", "Bet": "bets", "Raise": "raises by adding", "Call": "calls",
    "Post Ante": "posts the ante,", "Post SB": "posts the small blind,", "Post BB": "posts the big blind,",
    "Post Dead": "posts dead", "Post Extra Blind": "posts an extra blind,", "Straddle": "straddles with",
    "Dealt Cards": "is dealt", "Mucks Cards": "mucks", "Shows Cards": "shows", "Sits Down": "sits down",
    "Stands Up": "leaves the table", "Added Chips": "adds",
}  # fmt: skip
"""Verb phrases by the action names of Open Hand History."""


class ParsedHistory(Struct, frozen=True):
    """The fields used of an Open Hand History."""

    players: tuple[OhhPlayer, ...]
    rounds: tuple[OhhRound, ...]
    pots: tuple[OhhPot, ...] = ()
    table_name: str = ""
    game_number: str = ""


def ohh_replay(fields: Mapping[str, Any]) -> GameReplay:
    """Return the replay of an Open Hand History, of any game. Raises ValueError."""
    history = convert(fields["ohh"], ParsedHistory)
    return GameReplay(f"{history.table_name}/{history.game_number}", [*_replay_steps(history)])


def _replay_steps(history: ParsedHistory) -> Iterator[ReplayStep]:
    names = {player.id: player.name for player in history.players}
    starting_stacks = {player.id: player.starting_stack for player in history.players}
    stacks = dict(starting_stacks)
    holes: dict[int, Sequence[str]] = {}
    board: list[str] = []
    pot = 0.0

    def name(player: int) -> str:
        if player not in names:
            raise ValueError(f"found the player {player}; allowed: {', '.join(map(str, names))}")
        return names[player]

    def step(note: str) -> ReplayStep:
        seats = (
            SeatView(
                name=verbatim(each),
                cards=_card_views(holes.get(player, ())),
                caption=verbatim(f"{stacks[player]:g} chips"),
            )
            for player, each in names.items()
        )
        status = text("{name}: {coins}", name=text("Pot"), coins=f"{pot:g}")
        title = verbatim(history.table_name)
        return ReplayStep(note, TableView(title=title, seats=tuple(seats), board=_card_views(board), status=status))

    for each in history.rounds:
        board += each.cards
        yield step(f"{each.street}{': ' if each.cards else ''}{' '.join(each.cards)}.")
        for action in each.actions:
            verb = ACTION_VERBS.get(action.action, action.action.lower())
            player = name(action.player_id)
            if action.amount:
                stacks[action.player_id] -= action.amount
                pot += action.amount
            if action.cards:
                holes[action.player_id] = action.cards
            words = [player, verb, f"{action.amount:g}" if action.amount else "", " ".join(action.cards or ())]
            yield step(f"{' '.join(filter(None, words))}{', all-in' if action.is_allin else ''}.")
    uncalled = pot - sum(won.amount for won in history.pots)
    if history.pots and uncalled > 0:
        bettor = max(names, key=lambda each: starting_stacks[each] - stacks[each])
        stacks[bettor] += uncalled
        pot -= uncalled
        yield step(f"{names[bettor]} takes back an uncalled bet of {uncalled:g}.")
    for won in history.pots:
        for win in won.player_wins:
            stacks[win.player_id] = stacks.get(win.player_id, 0) + win.win_amount
            pot -= win.win_amount
            yield step(f"{name(win.player_id)} wins {win.win_amount:g}.")


def _card_views(cards: Sequence[str]) -> tuple[CardView, ...]:
    """Return cards as people see them, such as `Th`; those of another pack by their names."""
    return tuple(FRENCH_CARDS.get(card.upper(), CardView(card, verbatim(card))) for card in cards)
