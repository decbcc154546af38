"""A hand told so that others can replay it, though with us a player may leave when he is not asked (H6).

The notations of poker hands, and the programs that read them, know a player as in the hand until he folds in turn. So a
hand is told twice: as it was played, and for the books as a hand without any leaving that ends with the same stacks:

- who has left folds when he is asked next; at a showdown he mucks;
- who is asked where our rules ask nobody, because all others are all in, checks;
- who is left alone calls, and cards come, until the one who has left is asked or can muck: unknown ones, or any that
  are not told, where the reader wants to see a whole board;
- where the one who has left would get back what he forfeited, or nobody could win it, he bets less, and the rest
  changes hands beforehand: the stacks at the beginning differ, those at the end are right;
- where the blinds are too short to be matched as they should, the first who matches them posts what he matches: a
  negative post, which does not change who begins.
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
"""The comment that tells a player who has left from one who has folded."""

STREET_CARDS: Final = (0, 3, 1, 1)
"""How many cards open each betting round."""

BOARD_SIZES: Final = (3, 4, 5)
"""How many cards are on the board when a street is whole."""

MAX_CORRECTIONS: Final = 200
"""The books are corrected at most so often."""


class PlayedHand(NamedTuple):
    """A hand as it was played, players counted from the left of the button. Chips are ints.

    `paid` is what has been put in, and `final` are the stacks at the end, None where there is none yet. `holes` are the
    hole cards that are told, with `??` for the others; `shown` those that were shown, in the order of showing, with
    their `ranks`. `staying` is who has neither folded nor left.
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
    """A hand for the books: the stacks at the beginning, the forced bets by player, and what happens (PHH notation).

    `played` is what has truly happened, in the same notation.
    """

    stacks: list[int]
    antes: list[int]
    posts: list[int]
    actions: list[str]
    played_actions: list[str]


def make_played_hand(hand: Hand, known_seats: Collection[int] | None = None) -> PlayedHand:
    """A hand by players; hole cards are told of the seats in `known` (None: of all)."""
    seats = seat_order(len(hand.stacks), hand.button)
    players = {seat: player for player, seat in enumerate(seats)}
    begun = [stack + paid for stack, paid in zip(hand.stacks, hand.paid, strict=True)]
    for award in hand.awards:
        begun[award.seat] -= award.chips
    holes = [
        format_cards(hand.holes[seat])
        if known_seats is None or seat in known_seats
        else UNKNOWN_CARD * len(hand.holes[seat])
        for seat in seats
    ]
    return PlayedHand(
        stacks=[begun[seat] for seat in seats],
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
    """The blinds and the straddle by player, whether or not the stacks suffice."""
    small, big = hand.blinds
    seats = len(hand.stacks)
    return [big, small] if seats == 2 else [small, big, hand.straddle, *[0] * seats][:seats]


def _entry_by_player(entry: HandLogEntry, players: dict[int, int]) -> HandLogEntry:
    """An entry of the log with the player in place of the seat."""
    match entry:
        case ("deal", seat, cards):
            return ("deal", None if seat is None else players[seat], cards)
        case ("bet", seat, chips):
            return ("bet", players[seat], chips)
        case (kind, seat):
            return (kind, players[seat])


def format_played_actions(hand: PlayedHand) -> list[str]:
    """What has truly happened, in the PHH notation; `# leaves` marks a fold of somebody who has left at this moment."""
    lines: list[str] = []
    bets, top = _posted_bets(hand)
    due = 2 * len(hand.holes)
    for entry in hand.log:
        match entry:
            case ("deal", seat, cards) if seat is None:
                lines.append(f"d db {format_cards(cards)}")
                bets, top = [0 for _ in bets], 0
            case ("bet", player, chips):
                bets[player] += chips
                lines.append(f"p{player + 1} cbr {bets[player]}" if bets[player] > top else f"p{player + 1} cc")
                top = max(top, bets[player])
            case ("fold" | "leave" as kind, player):
                lines.append(f"p{player + 1} f{LEAVES_COMMENT if kind == 'leave' else ''}")
            case _:
                due -= 1
                if not due:
                    lines += _hole_actions(hand)
    return lines if not due else [*lines, *_hole_actions(hand)]


def _hole_actions(told: PlayedHand) -> list[str]:
    """The lines of the hole cards."""
    return [f"d dh p{player + 1} {hole}" for player, hole in enumerate(told.holes) if hole]


def _posted_bets(told: PlayedHand) -> tuple[list[int], int]:
    """What is posted, and what has to be matched: the largest blind, even if nobody could post all of it."""
    left = [stack - min(told.ante, stack) for stack in told.stacks]
    return [min(post, stack) for post, stack in zip(told.posts, left, strict=True)], max(told.posts)


def make_phh_hand(hand: PlayedHand) -> PhhHand:
    """A hand for the books. If it has ended it ends in them, with the same stacks.

    Where the ante takes all of the big blind the books begin with another player; a hand that they cannot hold for that
    reason is told as it was played, and only our own reader replays it.
    """
    stacks = hand.stacks
    limits: dict[int, int] | None = None
    for _ in range(MAX_CORRECTIONS):
        scribe = _PhhActionWriter(hand, stacks, limits)
        scribe.write()
        if hand.final_stacks is None:
            return scribe.result()
        scribe.finish()
        final = scribe.state.final_stacks(hand.ranks)
        if final == hand.final_stacks:
            return scribe.result()
        if limits is None:
            most = max(1, *(hand.paid[player] for player in hand.players_in))
            limits = {player: most for player, paid in enumerate(hand.paid) if paid > most}
            stacks = [
                most if player in limits and not hand.final_stacks[player] else stack
                for player, stack in enumerate(stacks)
            ]
        else:
            assert final is not None, "nobody has paid more than those who stayed"
            stacks = [stack + real - other for stack, real, other in zip(stacks, hand.final_stacks, final, strict=True)]
    return PhhHand(
        hand.stacks,
        [hand.ante for _ in hand.stacks],
        hand.posts,
        format_played_actions(hand),
        format_played_actions(hand),
    )


class _PhhActionWriter:
    """Writes the books of one hand: with these stacks, and limits to what players pay."""

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
        begun = hand.final_stacks is not None or all(len(hole) == len(HIDDEN_HOLE) for hole in hand.holes)
        holes = [hole.ljust(len(HIDDEN_HOLE), UNKNOWN_CARD[0]) for hole in hand.holes] if begun else hand.holes
        self.state.actions += _hole_actions(hand._replace(holes=holes))
        self.out_players: set[int] = set()
        """Who is out, but is in the books until he is asked."""

    def _fix_first_to_act(self) -> None:
        """See to it that the books begin behind the big blind or the straddle, not behind a post that is as large."""
        last = 0 if len(self.posts) == 2 else max(at for at, post in enumerate(self.hand.posts) if post)
        largest = max(
            range(len(self.posts)), key=lambda player: (min(self.posts[player], self.start_stacks[player]), player)
        )
        if largest != last and self.posts[last] + self.antes[last] < self.start_stacks[last]:
            self.posts = [post if player == last else -abs(post) for player, post in enumerate(self.posts)]

    def _first_caller(self) -> int | None:
        """Who is the first to match the whole blind."""
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
        """What has been written."""
        return PhhHand(self.start_stacks, self.antes, self.posts, self.state.actions, format_played_actions(self.hand))

    def write(self) -> None:
        """Tell everything that has happened."""
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
                    raising = bets[player] + chips > max(bets)
                    bets[player] += chips
                    if self._is_asked(player):
                        self._bet(bets[player], raising=raising)
                case ("fold" | "leave" as kind, player):
                    self._fold_player(player, LEAVES_COMMENT if kind == "leave" else "")
                case _:
                    pass

    def _is_asked(self, player: int) -> bool:
        """Whether the books ask a player now, when everybody before him has acted."""
        asked = self.state.to_act
        while player in asked and asked[0] != player:
            self._act_by_default()
            asked = self.state.to_act
        return player in asked

    def _bet(self, total: int, *, raising: bool) -> None:
        """A bet is told: as a raise to a total of the round, as a call, or as a fold where even that is too much."""
        books = self.state
        player = books.to_act[0]
        before = books.paid[player] - books.bets[player]
        everything = books.bets[player] + books.stacks[player]
        limit = self.limits.get(player, before + everything) - before
        if raising and total <= limit and books.may_raise_to(total):
            books.raise_to(total)
        elif min(max(books.bets), everything) > limit:
            books.fold()
        else:
            books.call()

    def _fold_player(self, player: int, comment: str) -> None:
        """A player is out: in the books at once if he is asked."""
        self.out_players.add(player)
        asked = self.state.to_act
        while asked and asked[0] in self.out_players:
            self.state.fold(comment if asked[0] == player else "")
            asked = self.state.to_act

    def _act_by_default(self) -> None:
        """Somebody is asked who has nothing to say."""
        books = self.state
        player = books.to_act[0]
        owes = books.bets[player] < max(books.bets)
        if player in self.out_players or (owes and player not in self.hand.players_in):
            books.fold()
        else:
            books.call()

    def _deal(self, cards: str) -> None:
        """The betting round ends, and the next cards come, unless the hand is over in the books."""
        if self._close_round() and self.state.street < RIVER:
            self.state.deal(cards)

    def _close_round(self) -> bool:
        """End a betting round, and let hands be shown if it is time. Whether the hand goes on."""
        books, shown = self.state, self.hand.shown_hands
        while books.to_act:
            self._act_by_default()
        if books.is_over:
            return False
        if books.is_betting_open:
            books.close_round()
        if (
            self.hand.final_stacks is not None
            and not books.has_shown_down
            and (books.is_all_in or books.street == RIVER)
        ):
            if shown or books.street == RIVER:
                books.show(shown or dict.fromkeys(self.hand.players_in, HIDDEN_HOLE))
            else:
                books.hide_hands(sorted(books.players_in))
        return True

    def finish(self) -> None:
        """Bring the hand to its end: as it is told, it may have ended earlier than in the books."""
        books = self.state
        while self._close_round() and books.street < RIVER:
            wanted = STREET_CARDS[books.street + 1]
            told = {card for line in books.actions for card in _line_cards(line)}
            free = [card for card in CARD_TEXTS if card not in told]
            compared = any(not books.stacks[player] for player in books.players_in)
            books.deal("".join(free[:wanted]) if compared else UNKNOWN_CARD * wanted)


def _line_cards(line: str) -> list[str]:
    """The cards at the end of a line."""
    cards = line.rsplit(maxsplit=1)[-1]
    return [cards[at : at + 2] for at in range(0, len(cards), 2)]
