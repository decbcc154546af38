"""View of a hold'em table: players with their chips, cards and pots."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.engine.ranks import describe_rank, rank
from croupier.rooms.holdem.wire import Game, Guid, Player
from croupier.tui.cards import TwoHands, french_face
from croupier.tui.holdem.hand_history import (
    LiveHandHistory,
    cards_text,
    display_name,
    is_running,
    pot_total,
    truncate,
)

MIN_CARD_COLUMNS_AND_LINES: Final = (60, 22)
"""Terminal size needed to draw cards: columns for two hands side by side, and lines without those of the players."""


class HoldemTableView:
    """A game as the player `own_guid` sees it.

    Cards are drawn if the terminal is large enough, and printed as text otherwise.
    """

    def __init__(self, game: Game, own_guid: Guid, history: LiveHandHistory) -> None:
        self._game = game
        self._own_guid = own_guid
        self._history = history

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, lines = MIN_CARD_COLUMNS_AND_LINES
        yield self._render_players(options.max_width, spacious=options.max_width >= columns)
        yield from self._render_cards(
            drawn=options.max_width >= columns and console.height >= lines + len(self._game.table)
        )
        if pot_total(self._game):
            yield Text(self._pots_text())

    def _render_players(self, width: int, *, spacious: bool) -> RenderableType:
        """Return a table of the players, with a marker at the player to act. Names are shortened to fit `width`."""
        table = self._game.table
        rows = [(" ", "", "chips", "bet", ""), *map(self._row, table)]
        names = ["player", *(self._name(one, spacious=spacious) for one in table)]
        styles = ["dim", *("bold" if self._is_own(one) else "" for one in table)]
        gap = 2 if spacious else 1
        name_width = width - sum(max(map(len, column)) + gap for column in zip(*rows, strict=True))
        grid = Table.grid(padding=(0, gap, 0, 0))
        for justify in ("left", "left", "left", "right", "right", "left"):
            grid.add_column(no_wrap=True, justify=justify)
        for (marker, *row), name, style in zip(rows, names, styles, strict=True):
            grid.add_row(marker, Text(truncate(name, max(name_width, 1))), *row, style=style)
        return grid

    def _row(self, player: Player) -> tuple[str, ...]:
        """Return a player's row without the name: marker, position, chips, bet and state."""
        bet = str(player.bet_so_far or "")
        return (
            ">" if self._is_to_act(player) else " ",
            self._position(player),
            str(player.wealth),
            bet,
            self._state(player),
        )

    def _name(self, player: Player, *, spacious: bool) -> str:
        if not self._is_own(player):
            return display_name(player)
        return f"{display_name(player)} (you)" if spacious else "you"

    def _is_own(self, player: Player) -> bool:
        return player.player_id == self._own_guid

    def _is_to_act(self, player: Player) -> bool:
        return is_running(self._game) and player.player_id == self._game.turn.player_id

    def _position(self, player: Player) -> str:
        """Return the player's position: `D` for the button, `SB`, `BB`, or "" for none of them."""
        if not is_running(self._game):
            return ""
        guids = {"D": self._history.button, "BB": self._history.big_blind}
        positions = [position for position, guid in guids.items() if guid == player.player_id]
        if player.small_blind:
            positions.insert(len(positions) if positions == ["D"] else 0, "SB")
        return " ".join(positions)

    def _state(self, player: Player) -> str:
        if self._is_to_act(player):
            return "acts"
        if player.state == "folded":
            return "folded"
        if not is_running(self._game):
            return ""
        if not player.wealth:
            return "all-in"
        return "to act" if player.state == "active" else "called"

    def _render_cards(self, *, drawn: bool) -> RenderResult:
        hole, board = self._game.cards.hole or (), self._game.cards.board
        if not hole and not board:
            return
        hand = hand_name(hole, board)
        if drawn:
            yield TwoHands(
                ([french_face(card) for card in hole], f"you: {hand}" if hand else "you"),
                ([french_face(card) for card in board], "board" if board else ""),
                is_active=is_running(self._game),
            )
            return
        if hole:
            yield Text(f"Cards: {cards_text(hole)}  {hand}", style="bold")
        if board:
            yield Text(f"Board: {cards_text(board)}")

    def _pots_text(self) -> str:
        """Return the main pot, and side pots with the players who can win them."""
        main, *sides = self._game.pots
        contenders = {one.player_id: display_name(one) for one in self._game.table if one.state != "folded"}
        texts = [f"{'Main pot' if sides else 'Pot'}: {main.size}"]
        for side in sides:
            names = ", ".join(contenders[guid] for guid in side.players if guid in contenders)
            texts.append(f"Side pot: {side.size}{f' ({names})' if names else ''}")
        return "   ".join(texts)


def hand_name(hole: Sequence[str], board: Sequence[str]) -> str:
    """Return the name of the best hand, "" with fewer than five cards."""
    cards = [*hole, *board]
    return describe_rank(rank([CARD_NUMBERS[card] for card in cards])) if 5 <= len({*cards}) == len(cards) <= 7 else ""
