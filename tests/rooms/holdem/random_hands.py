"""Random hands of hold'em, with all table and stack sizes, settings and kinds of bets."""

from collections.abc import Callable, Iterator, Mapping
from random import Random

from croupier.core.rules import Turn
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.engine.stakes import Stakes


def begin(luck: Random) -> Hand:
    """Return a hand before the first card. Most stacks are short, so that many players are all in."""
    seats = luck.randint(2, 10)
    deep = luck.choice([40, 300, 2_000, 10_000])
    stacks = [luck.randint(1, deep) for _ in range(seats)]
    blinds = luck.choice([(10, 20), (10, 20), (5, 5), (0, 2), (7, 15)])
    straddle = luck.choice([0, 0, 0, 2, 3]) * blinds[1]
    button = luck.randrange(seats)
    return Hand(stacks, button=button, stakes=Stakes(*blinds, luck.choice([0, 0, 0, 1, 7]), straddle))


def move(hand: Hand, luck: Random) -> Move:
    """Choose a move: often a call, seldom a fold, else a listed or any legal raise."""
    legal = hand.legal
    chance = luck.random()
    if chance < 0.12:
        return FOLD
    if chance < 0.6 or legal.raise_range is None:
        return legal.call
    low, high = legal.raise_range
    return luck.choice([low, high, luck.randint(low, high), luck.randint(low, min(high, 3 * low)), *legal.moves[2:]])


def act(hand: Hand, chosen: Move) -> None:
    """Make a move, a call by the method that chooses the chips itself."""
    if chosen == hand.legal.call:
        hand.call()
    else:
        hand.play(chosen)


def steps(
    hand: Hand, luck: Random, choose: Callable[[Hand, Random], Move] = move, leaving: float = 0.0
) -> Iterator[Hand]:
    """Play a hand to its end, yielding the same object after every step. Cards are dealt in random portions."""
    pack = luck.sample(hand.unseen, len(hand.unseen))
    yield hand
    while not hand.over:
        if luck.random() < leaving:
            hand.leave(luck.choice([seat for seat, out in enumerate(hand.folded) if not out]))
        elif hand.turn is Turn.CHANCE:
            hand.deal(pack.pop() for _ in range(luck.choice([hand.cards_due, luck.randint(1, hand.cards_due)])))
        else:
            act(hand, choose(hand, luck))
        yield hand


def end(hand: Hand, luck: Random, leaving: float = 0.0) -> Hand:
    """Play a hand to its end."""
    for _ in steps(hand, luck, leaving=leaving):
        pass
    return hand


def redealt(hand: Hand, instead: Mapping[int, int]) -> Hand:
    """Return the same hand with some cards replaced."""
    return hand.replay(
        ("deal", entry[1], tuple(instead.get(card, card) for card in entry[2])) if entry[0] == "deal" else entry
        for entry in hand.log
    )


def exchanged(hand: Hand, one: int, other: int) -> Hand:
    """Return the same hand with the hole cards of two seats exchanged."""
    first, second = hand.holes[one], hand.holes[other]
    return redealt(hand, dict(zip([*first, *second], [*second, *first], strict=True)))
