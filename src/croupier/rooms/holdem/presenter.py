"""What a person sees of a hold'em table, from a seat or as a watcher, in words and cards."""

from collections.abc import Iterator, Sequence
from typing import Final

from croupier.core.card_names import FRENCH_CARDS
from croupier.core.presentation import (
    BACK,
    LEAVE,
    ActionView,
    Amount,
    CardView,
    PotView,
    Presenter,
    SeatStatus,
    SeatView,
    TableView,
    Text,
    counted,
    leave_action,
    listed,
    presets_within,
    text,
)
from croupier.rooms.holdem.engine.legal import FOLD, Legal, Move
from croupier.rooms.holdem.hand_names import hand_name
from croupier.rooms.holdem.live_history import LiveHistory, clockwise, is_running, outcome, player_name, pot_total
from croupier.rooms.holdem.player import Player as Seat
from croupier.rooms.holdem.table.wording import parse_expiry
from croupier.rooms.holdem.wire import Act, Game, Guid, Player

FOLD_VIEW: Final = ActionView("fold", text("Fold"), "f", text("gives up the hand and what you have bet"))
GIVE_UP_SEAT: Final = leave_action(text("gives up your seat"))
JOIN_AGAIN: Final = ActionView("rejoin", text("Join again"), "j", text("takes a new seat with new chips"))
WATCHING: Final = text("You watch this table.")


class HoldemPresenter(Presenter[Seat, Game, Act]):
    """Presents a table of hold'em to a person in a seat, or to a watcher until somebody `sit`s.

    Its messages are the Games that a viewer receives, and the Acts of the seat. Bets are totals of the betting round.
    `table` takes the server's time, in seconds since the epoch. `is_removed_late`: a player whose time is over loses
    the seat, as users of the REST service do.
    """

    title = text("Hold'em")
    rules = text(
        "Each player gets two cards; five more come on the board: three, one and one. The best five of the seven cards "
        "win. Two players post blinds before the deal. In each of the four betting rounds you fold, call (or check, "
        "if there is nothing to call) or raise. If all others fold, you win the pot without showing your cards."
    )
    welcome = text("Welcome. The best five of seven cards win.")

    def __init__(self, *, is_removed_late: bool = True) -> None:
        super().__init__()
        self._is_removed_late = is_removed_late
        self._seat: Seat | None = None
        self._game: Game | None = None
        self._history = LiveHistory()
        self._hand_count = 0
        self._won = 0
        self._nets_seen = 0
        self._was_to_act = False  # in the last state that was seen
        self._last_stack = 0  # in the last state that was seen, without bets
        self._has_noted_loss = False

    def sit(self, player: Seat, purse: int | None = None) -> Act | None:
        """Start to show a seat, after joining or rejoining; see `Presenter`."""
        self._seat = player
        self._game, self._history = None, LiveHistory(self._history.hands_seen)
        self._nets_seen, self._was_to_act, self._last_stack, self._has_noted_loss = 0, False, 0, False
        return super().sit(player, purse)

    def received(self, message: Game) -> None:
        """Announce what has happened since the last Game."""
        hand_number, nets, self._game = self._history.hands_seen, self._new_nets(), message
        self._announcements.add(*self._history.update(message, self._own_guid, nets))
        if self._seat is None:
            if self._history.winners:
                hand = text("hand {number}", number=hand_number)
                self._results.append(text("{game}: {net}", game=hand, net=self._winners_text()))
            return
        self._add_results(hand_number, nets)
        if (own := self._own_player) is not None:
            self._last_stack = own.wealth
            self._was_to_act = bool(self._seat.legal)

    def sent(self, message: Act) -> None:
        """Note an act of the person; see `Presenter`."""
        super().sent(message)
        self._was_to_act = False
        self._last_stack -= message.amount

    def refused(self, reason: Text) -> None:
        """Announce why the server has not accepted an act: a sentence."""
        self._announcements.add(reason)

    def _draw(self, now: float) -> TableView:
        self._note_lost_seat()
        game = self._game
        return TableView(
            title=self.title,
            seats=() if game is None else tuple(self._seats(game)),
            board=() if game is None else _views(game.cards.board),
            pots=() if game is None else tuple(_pots(game)),
            deadline=self._seconds_left(now) if self._end_reason is None else None,
            score=None if self._seat is None else self._score(),
        )

    # What has happened.

    def _new_nets(self) -> list[int]:
        """Return the results of the person's hands that have ended since the last call."""
        nets = [] if self._seat is None else self._seat.nets[self._nets_seen :]
        self._nets_seen += len(nets)
        return nets

    def _add_results(self, hand_number: int, nets: Sequence[int]) -> None:
        """Add results of the person; the last hand is the one with this number."""
        for at, net in enumerate(nets, start=hand_number - len(nets) + 1):
            self._hand_count += 1
            self._won += net
            self._results.append(text("{game}: {net}", game=self._hand_text(at), net=f"{net:+d}"))

    def _hand_text(self, hand_number: int) -> Text:
        """Return the number of a hand, and the others who have won it if it has just ended."""
        if not self._history.winners:
            return text("hand {number}", number=hand_number)
        return text("hand {number} ({winners})", number=hand_number, winners=self._winners_text())

    def _winners_text(self) -> Text:
        return listed(text("{name} +{chips}", name=name, chips=chips) for name, chips in self._history.winners)

    def _note_lost_seat(self) -> None:
        """Announce how the seat was lost, and the result of the last hand: the chips that were bet in it."""
        if self._is_seat_lost and not self._has_noted_loss:
            self._has_noted_loss = True
            nets = self._new_nets()
            self._announcements.add(self._loss_reason(), *map(outcome, nets))
            self._add_results(self._history.hands_seen, nets)

    # The table.

    @property
    def _own_guid(self) -> Guid:
        return "" if self._seat is None else self._seat.guid

    @property
    def _own_player(self) -> Player | None:
        """The person's own entry at the table, None without a seat."""
        table = () if self._game is None or not self._own_guid else self._game.table
        return next((one for one in table if one.player_id == self._own_guid), None)

    @property
    def _is_seat_lost(self) -> bool:
        return self._seat is not None and self._seat.is_exhausted

    def _seats(self, game: Game) -> Iterator[SeatView]:
        """Yield the seats in the order of play; the viewer's own is the last."""
        for player in clockwise(game.table, self._own_guid, 1):
            is_own = player is self._own_player
            hole = (game.cards.hole or ()) if is_own else ()
            is_dealt = is_running(game) and player.state != "folded"
            yield SeatView(
                name=text("You") if is_own else player_name(player),
                cards=_views(hole) or ((BACK, BACK) if is_dealt else ()),
                caption=self._caption(game, player, hole),
                chips=player.wealth,
                bet=player.bet_so_far,
                status=self._seat_status(game, player),
                is_viewer=is_own,
                is_dealer=is_running(game) and player.player_id == self._history.button,
            )

    def _seat_status(self, game: Game, player: Player) -> SeatStatus:
        if not is_running(game):
            return ""
        if player.player_id == game.turn.player_id:
            return "" if self._end_reason else "to act"
        if player.state == "folded":
            return "folded"
        return "" if player.wealth else "all in"

    def _caption(self, game: Game, player: Player, hole: Sequence[str]) -> Text | None:
        """Describe the cards of a seat if they are known, or its blind."""
        hand = hand_name([*hole, *game.cards.board]) if hole else None
        if hand is not None or not is_running(game):
            return hand
        if player.small_blind:
            return text("small blind")
        return text("big blind") if player.player_id == self._history.big_blind else None

    def _status(self) -> Text:
        game = self._game
        if self._is_seat_lost:
            return text("You have no seat at this table.")
        if game is None:
            return text("Waiting for the server.")
        if self._seat is not None and self._own_player is None:
            return text("You are dealt in with the next hand in which a seat is free.")
        if len(game.table) < 2:
            return text("Waiting for another player.")
        if not is_running(game):
            return text("The next hand is about to begin.")
        if game.turn.player_id != self._own_guid:
            return text("It is the turn of {name}.", name=self._player_to_act(game))
        legal = self._legal
        if legal is None:
            return text("Waiting for the server.")
        if legal.call:
            return counted(
                "It is your turn: {count} chip to call.", "It is your turn: {count} chips to call.", legal.call
            )
        return text("It is your turn: nothing to call.")

    def _blocked(self) -> Text:
        return WATCHING if self._seat is None else self._status()

    def _player_to_act(self, game: Game) -> Text:
        names = (player_name(one) for one in game.table if one.player_id == game.turn.player_id)
        return next(names, text("another player"))

    def _loss_reason(self) -> Text:
        if self._was_to_act and self._is_removed_late:
            return text("Your time ran out: you are out of the game.")
        if not self._last_stack:
            return text("You have lost your last chip: you are out of the game.")
        return text("You no longer have a seat in this game.")

    def _seconds_left(self, now: float) -> float | None:
        """Return the time that the player to act has, None if nobody is or the time is unknown."""
        end = None if self._game is None or not is_running(self._game) else parse_expiry(self._game.turn.expiry)
        return None if end is None or self._is_seat_lost else max(0.0, end - now)

    def _score(self) -> Text:
        return counted(
            "{count} hand, chips won: {chips}",
            "{count} hands, chips won: {chips}",
            self._hand_count,
            chips=f"{self._won:+d}",
        )

    # Actions.

    @property
    def _legal(self) -> Legal | None:
        """The legal moves of the person, None if there are none now."""
        legal = () if self._seat is None else self._seat.legal
        return legal if isinstance(legal, Legal) and legal else None

    def _actions(self) -> Iterator[ActionView]:
        legal = self._legal
        if legal is not None:
            yield self._call_view(legal)
            yield FOLD_VIEW
            yield from self._raise_views(legal)
        if self._is_seat_lost:
            yield JOIN_AGAIN
            yield LEAVE
        elif self._seat is not None:
            yield self._leave_view()

    def _call_view(self, legal: Legal) -> ActionView:
        if not legal.call:
            return ActionView("call", text("Check"), "c", text("adds nothing to the pot"))
        label = text("Call {chips}, all-in") if legal.call == self._stack else text("Call {chips}")
        return ActionView(
            "call", label.fill(chips=legal.call), "c", text("makes the pot {pot}", pot=legal.pot + legal.call)
        )

    def _raise_views(self, legal: Legal) -> Iterator[ActionView]:
        """Yield the bet or raise, if there is one, as a total of this betting round."""
        if legal.raise_range is None:
            return
        low, high = legal.raise_range
        is_raise = self._game is not None and self._game.turn.bet_to_player > 0
        if low == high:
            yield ActionView(
                "raise", text("All-in {chips}", chips=self._own_bet + high), "r", text("bets all your chips")
            )
            return
        sizes = (
            (text("Min"), low),
            (text("½ pot"), legal.pot_sized(1, 2)),
            (text("Pot"), legal.pot_sized()),
            (text("All-in"), high),
        )
        low, high = self._own_bet + low, self._own_bet + high
        presets = [(name, None if chips is None else self._own_bet + chips) for name, chips in sizes]
        yield ActionView(
            "raise",
            text("Raise to") if is_raise else text("Bet"),
            "r",
            text("the others have to call it, raise, or fold"),
            Amount(low, high, presets_within(presets, low, high), low),
        )

    def _leave_view(self) -> ActionView:
        chips = self._chips_at_stake
        if not chips:
            return GIVE_UP_SEAT
        lost = counted(
            "gives up your seat, and you lose your {count} chip in the pot",
            "gives up your seat, and you lose your {count} chips in the pot",
            chips,
        )
        warning = counted(
            "Your {count} chip in the pot is lost if you leave now.",
            "Your {count} chips in the pot are lost if you leave now.",
            chips,
        )
        return leave_action(lost, warning)

    def _message(self, offered: ActionView, amount: int | None) -> Act:
        assert self._seat is not None, "watchers have no moves"
        return self._seat.act(self._chips(offered, amount))

    def _chips(self, action: ActionView, amount: int | None) -> Move:
        """Return the move of an action: the chips that it adds, or FOLD."""
        legal = self._legal
        assert legal is not None, "only legal moves are offered"
        match action.id:
            case "fold":
                return FOLD
            case "call":
                return legal.call
        assert legal.raise_range is not None, "a raise is offered only if it is legal"
        return legal.raise_range[1] if amount is None else amount - self._own_bet

    @property
    def _stack(self) -> int:
        own = self._own_player
        return 0 if own is None else own.wealth

    @property
    def _own_bet(self) -> int:
        return 0 if self._game is None else self._game.turn.bet_so_far

    @property
    def _chips_at_stake(self) -> int:
        """The chips in the pots that the person would lose by leaving now."""
        own, game = self._own_player, self._game
        if own is None or game is None or own.state == "folded" or not is_running(game) or self._is_seat_lost:
            return 0
        return max(own.bet_so_far, self._history.stacks_before.get(own.player_id, 0) - own.wealth)


def _views(cards: Sequence[str]) -> tuple[CardView, ...]:
    return tuple(FRENCH_CARDS[card] for card in cards)


def _pots(game: Game) -> Iterator[PotView]:
    """Yield the main pot, and the side pots with the players who can win them."""
    if not pot_total(game):
        return
    main, *sides = game.pots
    yield PotView(main.size, text("Main pot") if sides else text("Pot"))
    contenders = {one.player_id: player_name(one) for one in game.table if one.state != "folded"}
    for side in sides:
        names = [contenders[guid] for guid in side.players if guid in contenders]
        yield PotView(side.size, text("Side pot ({names})", names=listed(names)) if names else text("Side pot"))
