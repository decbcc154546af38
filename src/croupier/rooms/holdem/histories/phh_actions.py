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
from croupier.rooms.holdem.engine.log import Entry
from croupier.rooms.holdem.engine.ranks import rank
from croupier.rooms.holdem.histories.notation import HIDDEN, SPELLINGS, UNKNOWN, order, spelt
from croupier.rooms.holdem.histories.pokerkit_state import RIVER, Books

LEAVES: Final = " # leaves"
"""The comment that tells a player who has left from one who has folded."""

STREETS: Final = (0, 3, 1, 1)
"""How many cards open each betting round."""

WHOLE: Final = (3, 4, 5)
"""How many cards are on the board when a street is whole."""

TRIES: Final = 200
"""The books are corrected at most so often."""


class Story(NamedTuple):
    """A hand as it was played, players counted from the left of the button. Chips are ints.

    `paid` is what has been put in, and `final` are the stacks at the end, None where there is none yet. `holes` are the
    hole cards that are told, with `??` for the others; `shown` those that were shown, in the order of showing, with
    their `ranks`. `staying` is who has neither folded nor left.
    """

    stacks: list[int]
    paid: list[int]
    final: list[int] | None
    ante: int
    posts: list[int]
    least: int
    log: list[Entry]
    holes: list[str]
    shown: dict[int, str]
    ranks: dict[int, int]
    staying: list[int]


class Told(NamedTuple):
    """A hand for the books: the stacks at the beginning, the forced bets by player, and what happens (PHH notation).

    `played` is what has truly happened, in the same notation.
    """

    stacks: list[int]
    antes: list[int]
    posts: list[int]
    actions: list[str]
    played: list[str]


def story(hand: Hand, known: Collection[int] | None = None) -> Story:
    """A hand by players; hole cards are told of the seats in `known` (None: of all)."""
    seats = order(len(hand.stacks), hand.button)
    players = {seat: player for player, seat in enumerate(seats)}
    begun = [stack + paid for stack, paid in zip(hand.stacks, hand.paid, strict=True)]
    for award in hand.awards:
        begun[award.seat] -= award.chips
    holes = [
        spelt(hand.holes[seat]) if known is None or seat in known else UNKNOWN * len(hand.holes[seat]) for seat in seats
    ]
    return Story(
        stacks=[begun[seat] for seat in seats],
        paid=[hand.paid[seat] for seat in seats],
        final=[hand.stacks[seat] for seat in seats] if hand.turn is Turn.OVER else None,
        ante=hand.ante,
        posts=forced(hand),
        least=hand.blinds[1],
        log=[_by_player(entry, players) for entry in hand.log],
        holes=holes,
        shown={players[seat]: spelt(hand.holes[seat]) for seat in hand.shown},
        ranks={players[seat]: rank(hand.holes[seat] + hand.board) for seat in hand.shown},
        staying=[player for player, seat in enumerate(seats) if not hand.folded[seat]],
    )


def forced(hand: Hand) -> list[int]:
    """The blinds and the straddle by player, whether or not the stacks suffice."""
    small, big = hand.blinds
    seats = len(hand.stacks)
    return [big, small] if seats == 2 else [small, big, hand.straddle, *[0] * seats][:seats]


def _by_player(entry: Entry, players: dict[int, int]) -> Entry:
    """An entry of the log with the player in place of the seat."""
    match entry:
        case ("deal", seat, cards):
            return ("deal", None if seat is None else players[seat], cards)
        case ("bet", seat, chips):
            return ("bet", players[seat], chips)
        case (kind, seat):
            return (kind, players[seat])


def played(told: Story) -> list[str]:
    """What has truly happened, in the PHH notation; `# leaves` marks a fold of somebody who has left at this moment."""
    lines: list[str] = []
    bets, top = _posted(told)
    due = 2 * len(told.holes)
    for entry in told.log:
        match entry:
            case ("deal", seat, cards) if seat is None:
                lines.append(f"d db {spelt(cards)}")
                bets, top = [0 for _ in bets], 0
            case ("bet", player, chips):
                bets[player] += chips
                lines.append(f"p{player + 1} cbr {bets[player]}" if bets[player] > top else f"p{player + 1} cc")
                top = max(top, bets[player])
            case ("fold" | "leave" as kind, player):
                lines.append(f"p{player + 1} f{LEAVES if kind == 'leave' else ''}")
            case _:
                due -= 1
                if not due:
                    lines += _deals(told)
    return lines if not due else [*lines, *_deals(told)]


def _deals(told: Story) -> list[str]:
    """The lines of the hole cards."""
    return [f"d dh p{player + 1} {hole}" for player, hole in enumerate(told.holes) if hole]


def _posted(told: Story) -> tuple[list[int], int]:
    """What is posted, and what has to be matched: the largest blind, even if nobody could post all of it."""
    left = [stack - min(told.ante, stack) for stack in told.stacks]
    return [min(post, stack) for post, stack in zip(told.posts, left, strict=True)], max(told.posts)


def tell(told: Story) -> Told:
    """A hand for the books. If it has ended it ends in them, with the same stacks.

    Where the ante takes all of the big blind the books begin with another player; a hand that they cannot hold for that
    reason is told as it was played, and only our own reader replays it.
    """
    stacks = told.stacks
    limits: dict[int, int] | None = None
    for _ in range(TRIES):
        scribe = _Scribe(told, stacks, limits)
        scribe.write()
        if told.final is None:
            return scribe.told()
        scribe.finish()
        final = scribe.books.final(told.ranks)
        if final == told.final:
            return scribe.told()
        if limits is None:
            most = max(1, *(told.paid[player] for player in told.staying))
            limits = {player: most for player, paid in enumerate(told.paid) if paid > most}
            stacks = [
                most if player in limits and not told.final[player] else stack for player, stack in enumerate(stacks)
            ]
        else:
            assert final is not None, "nobody has paid more than those who stayed"
            stacks = [stack + real - other for stack, real, other in zip(stacks, told.final, final, strict=True)]
    return Told(told.stacks, [told.ante for _ in told.stacks], told.posts, played(told), played(told))


class _Scribe:
    """Writes the books of one hand: with these stacks, and limits to what players pay."""

    def __init__(self, told: Story, stacks: Sequence[int], limits: dict[int, int] | None) -> None:
        self.story = told
        self.begun = list(stacks)
        self.limits = limits or {}
        self.antes = [min(told.ante, self.limits.get(player, told.ante)) for player in range(len(stacks))]
        self.posts = list(told.posts)
        bets, top = _posted(told)
        if limits is not None:
            self.posts = [
                min(post, max(self.limits.get(player, post + ante) - ante, 0))
                for player, (post, ante) in enumerate(zip(bets, self.antes, strict=True))
            ]
        caller = self._first_caller() if max(bets) < top else None
        if caller is not None:
            self.posts[caller] = -min(top, max(self.limits.get(caller, top + told.ante) - self.antes[caller], 0))
        self._put_last()
        self.books = Books(stacks, self.antes, self.posts, told.least)
        begun = told.final is not None or all(len(hole) == len(HIDDEN) for hole in told.holes)
        holes = [hole.ljust(len(HIDDEN), UNKNOWN[0]) for hole in told.holes] if begun else told.holes
        self.books.actions += _deals(told._replace(holes=holes))
        self.gone: set[int] = set()
        """Who is out, but is in the books until he is asked."""

    def _put_last(self) -> None:
        """See to it that the books begin behind the big blind or the straddle, not behind a post that is as large."""
        last = 0 if len(self.posts) == 2 else max(at for at, post in enumerate(self.story.posts) if post)
        largest = max(range(len(self.posts)), key=lambda player: (min(self.posts[player], self.begun[player]), player))
        if largest != last and self.posts[last] + self.antes[last] < self.begun[last]:
            self.posts = [post if player == last else -abs(post) for player, post in enumerate(self.posts)]

    def _first_caller(self) -> int | None:
        """Who is the first to match the whole blind."""
        bets, top = _posted(self.story)
        for entry in self.story.log:
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

    def told(self) -> Told:
        """What has been written."""
        return Told(self.begun, self.antes, self.posts, self.books.actions, played(self.story))

    def write(self) -> None:
        """Tell everything that has happened."""
        bets, _ = _posted(self.story)
        board: list[Card] = []
        street: list[Card] = []
        self.books.ask()
        for entry in self.story.log:
            match entry:
                case ("deal", seat, cards) if seat is None:
                    board += cards
                    street += cards
                    if len(board) in WHOLE or entry is self.story.log[-1]:
                        self._deal(spelt(street))
                        street = []
                    bets = [0 for _ in bets]
                case ("bet", player, chips):
                    raising = bets[player] + chips > max(bets)
                    bets[player] += chips
                    if self._is_asked(player):
                        self._bet(bets[player], raising=raising)
                case ("fold" | "leave" as kind, player):
                    self._out(player, LEAVES if kind == "leave" else "")
                case _:
                    pass

    def _is_asked(self, player: int) -> bool:
        """Whether the books ask a player now, when everybody before him has acted."""
        asked = self.books.asked
        while player in asked and asked[0] != player:
            self._pass()
            asked = self.books.asked
        return player in asked

    def _bet(self, total: int, *, raising: bool) -> None:
        """A bet is told: as a raise to a total of the round, as a call, or as a fold where even that is too much."""
        books = self.books
        player = books.asked[0]
        before = books.paid[player] - books.bets[player]
        everything = books.bets[player] + books.stacks[player]
        limit = self.limits.get(player, before + everything) - before
        if raising and total <= limit and books.may_raise_to(total):
            books.raise_to(total)
        elif min(max(books.bets), everything) > limit:
            books.fold()
        else:
            books.call()

    def _out(self, player: int, comment: str) -> None:
        """A player is out: in the books at once if he is asked."""
        self.gone.add(player)
        asked = self.books.asked
        while asked and asked[0] in self.gone:
            self.books.fold(comment if asked[0] == player else "")
            asked = self.books.asked

    def _pass(self) -> None:
        """Somebody is asked who has nothing to say."""
        books = self.books
        player = books.asked[0]
        owes = books.bets[player] < max(books.bets)
        if player in self.gone or (owes and player not in self.story.staying):
            books.fold()
        else:
            books.call()

    def _deal(self, cards: str) -> None:
        """The betting round ends, and the next cards come, unless the hand is over in the books."""
        if self._close() and self.books.street < RIVER:
            self.books.deal(cards)

    def _close(self) -> bool:
        """End a betting round, and let hands be shown if it is time. Whether the hand goes on."""
        books, shown = self.books, self.story.shown
        while books.asked:
            self._pass()
        if books.over:
            return False
        if books.betting:
            books.close()
        if self.story.final is not None and not books.shown and (books.all_in or books.street == RIVER):
            if shown or books.street == RIVER:
                books.show(shown or dict.fromkeys(self.story.staying, HIDDEN))
            else:
                books.keep(sorted(books.staying))
        return True

    def finish(self) -> None:
        """Bring the hand to its end: as it is told, it may have ended earlier than in the books."""
        books = self.books
        while self._close() and books.street < RIVER:
            wanted = STREETS[books.street + 1]
            told = {card for line in books.actions for card in _cards(line)}
            free = [card for card in SPELLINGS if card not in told]
            compared = any(not books.stacks[player] for player in books.staying)
            books.deal("".join(free[:wanted]) if compared else UNKNOWN * wanted)


def _cards(line: str) -> list[str]:
    """The cards at the end of a line."""
    cards = line.rsplit(maxsplit=1)[-1]
    return [cards[at : at + 2] for at in range(0, len(cards), 2)]
