"""Sample messages of Old Maid, of every kind."""

from typing import Final

from croupier.rooms.oldmaid.wire import (
    DISCARD_OK,
    OK,
    OUT,
    Discard,
    Draw,
    Join,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
    YourTurn,
)

VOCABULARY: Final[tuple[Message, ...]] = (
    Join("ann"),
    Join("Ægir \u2660", 4001),
    Draw(),
    Discard((("3", "spades"), ("3", "clubs")), "false"),
    Discard((("10", "hearts"), ("10", "diamonds")), "true"),
    Discard((("A", "spades"), ("A", "clubs"))),
    OutOfCards(),
    Status(),
    YourTurn(),
    Offer(0),
    Offer(27),
    Pick(0),
    Pick(26),
    OK,
    OUT,
    DISCARD_OK,
    Reply("ok", card=("3", "spades")),
    Reply("last_card", card=("joker", "maid")),
    Reply("error", "oldmaid-4.3: a text for people"),
    Reply("ok", players=((("192.0.2.1", 40001), "ann"), (("2001:db8::1", 9), "Ægir"))),
    Standing(("ann",), ("bob", "cyd")),
    Standing((), ()),
)
