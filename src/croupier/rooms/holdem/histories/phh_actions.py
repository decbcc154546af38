"""Conversion of a hand to PHH actions that other programs can replay, although our players may leave out of turn (H6).

Hand history formats and their readers assume that a player stays in the hand until they fold in turn. A hand is
therefore written twice: as it was played, and as an equivalent PHH hand without departures that ends with the same
stacks:

- A player who has left folds at their next turn; at a showdown they muck.
- A player whom our rules do not ask, because all others are all in, checks.
- If one player remains, they call and cards are dealt until the player who has left is to act or can muck. The cards
  are unknown, or unused ones where the reader needs a complete board.
- If a player who has left would get back chips that they forfeited, or if nobody could win these, the player bets less
  and the difference is moved before the hand: the starting stacks differ from the true ones, the final stacks do not.
- If a blind is short, the first player to match the full blind posts that amount as a negative post, which does not
  change who acts first.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import HandLogEntry
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.histories.notation import CARD_TEXTS, HIDDEN_HOLE, UNKNOWN_CARD, format_cards, seat_order
from croupier.rooms.holdem.histories.pokerkit_state import RIVER, PokerKitState

LEAVES_COMMENT: Final = " # leaves"
"""The comment that distinguishes leaving from folding."""

STREET_CARDS: Final = (0, 3, 1, 1)
"""The number of board cards dealt before each betting round."""

BOARD_SIZES: Final = (3, 4, 5)
"""The numbers of board cards after complete streets."""

MAX_CORRECTIONS: Final = 200
"""The most attempts to adjust the starting stacks until the final stacks are right."""


class PlayedHand(NamedTuple):
    """A hand as it was played, with players numbered from the left of the button.

    `paid` are the chips put in by each player; `final_stacks` is None while the hand is running. `holes` are the hole
    cards, with `??` for unknown cards; `shown_hands` are the hands shown, in the order of showing, and `ranks` their
    ranks. `players_in` are the players who have neither folded nor left.
    """

    stacks: list[int]
    paid: list[int]
    final_stacks: list[int] | None
    ante: int
    posts: list[int]
    min_bet: int
    log: list[HandLogEntry]
    holes: list[str]
    shown_hands: dict[int, str]
    ranks: dict[int, int]
    players_in: list[int]


class PhhHand(NamedTuple):
    """The equivalent PHH hand: starting stacks, forced bets by player, and actions in PHH notation.

    `played_actions` are the actions that were really played, in the same notation.
    """

    stacks: list[int]
    antes: list[int]
    posts: list[int]
    actions: list[str]
    played_actions: list[str]


def make_played_hand(hand: Hand, known_seats: Collection[int] | None = None) -> PlayedHand:
    """Convert a hand from seats to players, with the hole cards of the seats in `known_seats` (None: of all seats)."""
    seats = seat_order(len(hand.stacks), hand.button)
    players = {seat: player for player, seat in enumerate(seats)}
    start_stacks = [stack + paid for stack, paid in zip(hand.stacks, hand.paid, strict=True)]
    for award in hand.awards:
        start_stacks[award.seat] -= award.chips
    holes = [
        format_cards(hand.holes[seat])
        if known_seats is None or seat in known_seats
        else UNKNOWN_CARD * len(hand.holes[seat])
        for seat in seats
    ]
    return PlayedHand(
        stacks=[start_stacks[seat] for seat in seats],
        paid=[hand.paid[seat] for seat in seats],
        final_stacks=[hand.stacks[seat] for seat in seats] if hand.turn is Turn.OVER else None,
        ante=hand.ante,
        posts=forced_bets(hand),
        min_bet=hand.blinds[1],
        log=[_entry_by_player(entry, players) for entry in hand.log],
        holes=holes,
        shown_hands={players[seat]: format_cards(hand.holes[seat]) for seat in hand.showdown_order},
        ranks={players[seat]: rank(hand.holes[seat] + hand.board) for seat in hand.showdown_order},
        players_in=[player for player, seat in enumerate(seats) if not hand.folded[seat]],
    )


def forced_bets(hand: Hand) -> list[int]:
    """Return the blinds and the straddle by player, not limited by the stacks."""
    small, big = hand.blinds
    seats = len(hand.stacks)
    return [big, small] if seats == 2 else [small, big, hand.straddle, *[0] * seats][:seats]


def _entry_by_player(entry: HandLogEntry, players: dict[int, int]) -> HandLogEntry:
    """Return a log entry with the player instead of the seat."""
    match entry:
        case ("deal", seat, cards):
            return ("deal", None if seat is None else players[seat], cards)
        case ("bet", seat, chips):
            return ("bet", players[seat], chips)
        case (kind, seat):
            return (kind, players[seat])


def format_played_actions(hand: PlayedHand) -> list[str]:
    """Return the played actions in PHH notation; the comment `# leaves` marks the fold of a player who left."""
    actions: list[str] = []
    bets, top = _posted_bets(hand)
    due = 2 * len(hand.holes)
    for entry in hand.log:
        match entry:
            case ("deal", seat, cards) if seat is None:
                actions.append(f"d db {format_cards(cards)}")
                bets, top = [0 for _ in bets], 0
            case ("bet", player, chips):
                bets[player] += chips
                actions.append(f"p{player + 1} cbr {bets[player]}" if bets[player] > top else f"p{player + 1} cc")
                top = max(top, bets[player])
            case ("fold" | "leave" as kind, player):
                actions.append(f"p{player + 1} f{LEAVES_COMMENT if kind == 'leave' else ''}")
            case _:
                due -= 1
                if not due:
                    actions += _hole_actions(hand)
    return actions if not due else [*actions, *_hole_actions(hand)]


def _hole_actions(hand: PlayedHand) -> list[str]:
    """Return the actions that deal the hole cards."""
    return [f"d dh p{player + 1} {hole}" for player, hole in enumerate(hand.holes) if hole]


def _posted_bets(hand: PlayedHand) -> tuple[list[int], int]:
    """Return the chips posted by player, and the bet to match: the largest blind, even if nobody could post it all."""
    left = [stack - min(hand.ante, stack) for stack in hand.stacks]
    return [min(post, stack) for post, stack in zip(hand.posts, left, strict=True)], max(hand.posts)


def make_phh_hand(hand: PlayedHand) -> PhhHand:
    """Convert a hand to an equivalent PHH hand. A finished hand ends with the same stacks.

    If the ante takes the whole stack of the big blind, PokerKit lets another player act first. A hand that cannot be
    expressed for that reason is returned as it was played; then only our own reader can replay it.
    """
    stacks = hand.stacks
    limits: dict[int, int] | None = None
    for _ in range(MAX_CORRECTIONS):
        writer = _PhhActionWriter(hand, stacks, limits)
        writer.write()
        if hand.final_stacks is None:
            return writer.result()
        writer.finish()
        final = writer.state.final_stacks(hand.ranks)
        if final == hand.final_stacks:
            return writer.result()
        if limits is None:
            limit = max(1, *(hand.paid[player] for player in hand.players_in))
            limits = {player: limit for player, paid in enumerate(hand.paid) if paid > limit}
            stacks = [
                limit if player in limits and not hand.final_stacks[player] else stack
                for player, stack in enumerate(stacks)
            ]
        else:
            assert final is not None, "with limits, no player pays more than the remaining players"
            stacks = [stack + real - other for stack, real, other in zip(stacks, hand.final_stacks, final, strict=True)]
    return PhhHand(
        hand.stacks,
        [hand.ante for _ in hand.stacks],
        hand.posts,
        format_played_actions(hand),
        format_played_actions(hand),
    )


class _PhhActionWriter:
    """Writes the PHH actions of one hand, with given starting stacks and limits on the chips that players pay."""

    def __init__(self, hand: PlayedHand, stacks: Sequence[int], limits: dict[int, int] | None) -> None:
        self.hand = hand
        self.start_stacks = list(stacks)
        self.limits = limits or {}
        self.antes = [min(hand.ante, self.limits.get(player, hand.ante)) for player in range(len(stacks))]
        self.posts = list(hand.posts)
        bets, top = _posted_bets(hand)
        if limits is not None:
            self.posts = [
                min(post, max(self.limits.get(player, post + ante) - ante, 0))
                for player, (post, ante) in enumerate(zip(bets, self.antes, strict=True))
            ]
        caller = self._first_caller() if max(bets) < top else None
        if caller is not None:
            self.posts[caller] = -min(top, max(self.limits.get(caller, top + hand.ante) - self.antes[caller], 0))
        self._fix_first_to_act()
        self.state = PokerKitState(stacks, self.antes, self.posts, hand.min_bet)
        needs_holes = hand.final_stacks is not None or all(len(hole) == len(HIDDEN_HOLE) for hole in hand.holes)
        holes = [hole.ljust(len(HIDDEN_HOLE), UNKNOWN_CARD[0]) for hole in hand.holes] if needs_holes else hand.holes
        self.state.actions += _hole_actions(hand._replace(holes=holes))
        self.out_players: set[int] = set()
        """The players who have folded or left; in `state` they stay in the hand until their next turn."""

    def _fix_first_to_act(self) -> None:
        """Make the first turn follow the big blind or the straddle, not another post of the same size."""
        last = 0 if len(self.posts) == 2 else max(at for at, post in enumerate(self.hand.posts) if post)
        largest = max(
            range(len(self.posts)), key=lambda player: (min(self.posts[player], self.start_stacks[player]), player)
        )
        if largest != last and self.posts[last] + self.antes[last] < self.start_stacks[last]:
            self.posts = [post if player == last else -abs(post) for player, post in enumerate(self.posts)]

    def _first_caller(self) -> int | None:
        """Return the first player to match the full blind, None if there is none before the flop."""
        bets, top = _posted_bets(self.hand)
        for entry in self.hand.log:
            match entry:
                case ("deal", seat, _) if seat is None:
                    return None
                case ("bet", player, chips):
                    bets[player] += chips
                    if bets[player] >= top:
                        return player
                case _:
                    pass
        return None

    def result(self) -> PhhHand:
        """Return the hand as written so far."""
        return PhhHand(self.start_stacks, self.antes, self.posts, self.state.actions, format_played_actions(self.hand))

    def write(self) -> None:
        """Write all entries of the log."""
        bets, _ = _posted_bets(self.hand)
        board: list[Card] = []
        street: list[Card] = []
        self.state.open_round()
        for entry in self.hand.log:
            match entry:
                case ("deal", seat, cards) if seat is None:
                    board += cards
                    street += cards
                    if len(board) in BOARD_SIZES or entry is self.hand.log[-1]:
                        self._deal(format_cards(street))
                        street = []
                    bets = [0 for _ in bets]
                case ("bet", player, chips):
                    is_raise = bets[player] + chips > max(bets)
                    bets[player] += chips
                    if self._advance_to(player):
                        self._bet(bets[player], is_raise=is_raise)
                case ("fold" | "leave" as kind, player):
                    self._fold_player(player, LEAVES_COMMENT if kind == "leave" else "")
                case _:
                    pass

    def _advance_to(self, player: int) -> bool:
        """Write default actions for the players before a player. Return whether the player is still to act."""
        to_act = self.state.to_act
        while player in to_act and to_act[0] != player:
            self._act_by_default()
            to_act = self.state.to_act
        return player in to_act

    def _bet(self, total: int, *, is_raise: bool) -> None:
        """Write a bet as a raise to a total of the round, as a call, or as a fold if a call exceeds the limit."""
        state = self.state
        player = state.to_act[0]
        paid_before = state.paid[player] - state.bets[player]
        all_in = state.bets[player] + state.stacks[player]
        limit = self.limits.get(player, paid_before + all_in) - paid_before
        if is_raise and total <= limit and state.may_raise_to(total):
            state.raise_to(total)
        elif min(max(state.bets), all_in) > limit:
            state.fold()
        else:
            state.call()

    def _fold_player(self, player: int, comment: str) -> None:
        """Mark a player as out, and write the folds of players who are out as far as they are next to act."""
        self.out_players.add(player)
        to_act = self.state.to_act
        while to_act and to_act[0] in self.out_players:
            self.state.fold(comment if to_act[0] == player else "")
            to_act = self.state.to_act

    def _act_by_default(self) -> None:
        """Fold or call for a player to act who has no action in the log."""
        state = self.state
        player = state.to_act[0]
        owes = state.bets[player] < max(state.bets)
        if player in self.out_players or (owes and player not in self.hand.players_in):
            state.fold()
        else:
            state.call()

    def _deal(self, cards: str) -> None:
        """End the betting round and deal the next cards, unless the PHH hand is over."""
        if self._close_round() and self.state.street < RIVER:
            self.state.deal(cards)

    def _close_round(self) -> bool:
        """End a betting round, and hold the showdown if it is due. Return whether the hand goes on."""
        state, shown = self.state, self.hand.shown_hands
        while state.to_act:
            self._act_by_default()
        if state.is_over:
            return False
        if state.is_betting_open:
            state.close_round()
        if (
            self.hand.final_stacks is not None
            and not state.has_shown_down
            and (state.is_all_in or state.street == RIVER)
        ):
            if shown or state.street == RIVER:
                state.show(shown or dict.fromkeys(self.hand.players_in, HIDDEN_HOLE))
            else:
                state.hide_hands(sorted(state.players_in))
        return True

    def finish(self) -> None:
        """Play the PHH hand to its end, which may come later than the end of the played hand."""
        state = self.state
        while self._close_round() and state.street < RIVER:
            missing = STREET_CARDS[state.street + 1]
            known = {card for action in state.actions for card in _last_cards(action)}
            unused = [card for card in CARD_TEXTS if card not in known]
            is_showdown = any(not state.stacks[player] for player in state.players_in)
            state.deal("".join(unused[:missing]) if is_showdown else UNKNOWN_CARD * missing)


def _last_cards(action: str) -> list[str]:
    """Return the cards at the end of an action."""
    cards = action.rsplit(maxsplit=1)[-1]
    return [cards[at : at + 2] for at in range(0, len(cards), 2)]
