"""What the clients of blackjack are tested with."""

from collections.abc import Callable, Mapping
from typing import Final

from croupier.conformance.clients import Break, Guests, Situation, Spelling, behind, replaced, without
from croupier.conformance.clients.responders import honest
from croupier.conformance.clients.test_server import Point
from croupier.conformance.conversation import Conversation
from croupier.rooms.blackjack import ROOM
from croupier.rooms.blackjack.referee import Game
from croupier.rooms.blackjack.rules import BEST, MOST, hand, limit
from croupier.rooms.blackjack.wire import Mon


def word(talk: Conversation) -> str:
    """The clause by which the client has the word; with nothing to bet it can only leave."""
    if talk.referee.game is not None:
        return "blackjack-4.6"
    said = talk.lines[-1].message if talk.lines else None
    return "blackjack-4.1" if isinstance(said, Mon) and limit(said.coins) else ""


def betting(talk: Conversation) -> bool:
    """The house has told the balance, and the client has to bet."""
    return bool(talk.lines) and isinstance(talk.lines[-1].message, Mon)


def deciding(holds: Callable[[Game], bool]) -> Point:
    """The client has the word in a round that has come to this."""
    return lambda talk: talk.referee.game is not None and holds(talk.referee.game)


def over(holds: Callable[[Game], bool]) -> Point:
    """A round has ended like this."""

    def here(talk: Conversation) -> bool:
        last = talk.referee.last
        return talk.referee.game is None and last is not None and holds(last)

    return here


def surrendered(game: Game) -> bool:
    """The client has given the round up."""
    return game.state.node.pays == -1


def stood(game: Game) -> bool:
    """The client has stood: the bank has drawn."""
    return len(game.bank) > 1


def won(game: Game) -> bool:
    """The client has won."""
    return game.net > 0


BALANCES: Final[Mapping[str, tuple[int, str]]] = {
    "one": (1, "The balance is one coin"),
    "ten": (10, "The last byte of the balance is a line feed"),
    "header": (int.from_bytes(b"\0PLY"), "The balance looks like a header"),
    "line-ends": (0x0D0A0D0A, "The balance looks like line ends"),
    "spaces": (0x20202020, "The balance looks like spaces"),
    "high-bytes": (0x00FFFEFF, "The balance is no text"),
    "large": (MOST, "The balance is large"),
}
"""Balances whose bytes are not what they look like."""

TENS: Final[Mapping[str, str]] = {"X": "X", "10": "the number ten", "digits": "two digits"}

PLAINEST: Final = Situation(
    slug="balance",
    title="The client begins a round, hears its balance, and bets",
    clause="blackjack-4.1",
    point=betting,
    missing="the client never began a round",
    farewell=True,
)
DEALT: Final = Situation(
    slug="dealt",
    title="The client is dealt its cards and decides",
    clause="blackjack-4.2",
    point=deciding(lambda game: len(game.cards) == 2),
    missing="the client never bet",
    farewell=True,
)
HITS: Final = Situation(
    slug="hits",
    title="A hit that leaves the client below 21 is followed by another decision",
    clause="blackjack-4.3",
    point=deciding(lambda game: len(game.cards) == 3),
    missing="the client never hit below 21",
    decks="2H 3D TS 2C 3C 2D 4C TH QD / 2S 2D TS 3C 4C 2H TD 5D / 3H 2D 9S 4C 5C 8D TH",
    farewell=True,
)
STANDS: Final = Situation(
    slug="stands",
    title="The client stands: the bank draws and the round ends",
    clause="blackjack-4.4",
    point=over(stood),
    missing="the client never stood",
    decks="TH QD 9S 8C TC / KH QC 6S TD / TS 9D 7H TC",
)

SITUATIONS: Final = (
    PLAINEST,
    DEALT,
    HITS,
    STANDS,
    Situation(
        slug="hits-to-21",
        title="A hit to 21 wins at once",
        clause="blackjack-3.5",
        point=over(lambda game: won(game) and not stood(game)),
        missing="the client never hit to 21",
        decks="6H 5D 9S TC 2C / 5H 6D 9C KC 2S / 7H 4D TS QC 2C",
        games=20,
    ),
    Situation(
        slug="hits-too-much",
        title="A hit over 21 loses at once",
        clause="blackjack-3.6",
        point=over(lambda game: hand(game.cards).total > BEST),
        missing="the client never hit too much",
        decks="TH 2D TS KC 2C / 7H 5D TC QC 2S / TD 3D TH KS 2C",
        games=20,
    ),
    Situation(
        slug="21-in-two-cards",
        title="21 in two cards is nothing special: the client decides",
        clause="blackjack-3.7",
        point=deciding(lambda game: len(game.cards) == 2 and hand(game.cards).total == BEST),
        missing="the client never bet",
        decks="AH KD 5S TC TH / TS AC 6S TD KH",
        demands=True,
    ),
    Situation(
        slug="bank-draws-many",
        title="The bank draws many cards",
        clause="blackjack-3.8",
        point=over(lambda game: len(game.bank) >= 5),
        missing="the client never stood",
        decks="TH QD 2S 2H 2C 3S 3H 3C KS / KH QC AS 2H 2C AC AD 3S 7S TS",
    ),
    Situation(
        slug="wins",
        title="The client wins by its cards",
        clause="blackjack-5.1",
        point=over(lambda game: won(game) and stood(game)),
        missing="the client never stood with the better hand",
        decks="TH QD 9S 8C TC / KH QC 6S TD 9D",
    ),
    Situation(
        slug="loses",
        title="The client loses by its cards",
        clause="blackjack-5.2",
        point=over(lambda game: game.net < 0 and stood(game)),
        missing="the client never stood with the worse hand",
        decks="TH 8D TS KC 2C / KH 7C 9S TD 2D",
    ),
    Situation(
        slug="ties",
        title="A tie below 21 is the client's",
        clause="blackjack-3.10",
        point=over(lambda game: won(game) and stood(game) and hand(game.cards).total == hand(game.bank).total),
        missing="the client never stood on as much as the bank has",
        decks="TH 9D TS 9C 2C / KH TC TD QS 2D",
    ),
    Situation(
        slug="surrenders",
        title="A surrender is answered by its result alone",
        clause="blackjack-4.5",
        point=over(surrendered),
        missing="the client never surrendered",
        decks="TH 6D TS KC 2C / KH 6C AS TD 2D",
        games=20,
    ),
    Situation(
        slug="next-round",
        title="One round after another on the same connection",
        clause="blackjack-4.8",
        point=lambda talk: talk.referee.finished >= 2,
        missing="the client never played a second round on its connection",
    ),
    Situation(
        slug="many-rounds",
        title="In ten rounds nothing is said that is not in the table of frames",
        clause="blackjack-2.2",
        point=lambda talk: talk.referee.finished >= 10,
        missing="the client played fewer than ten rounds",
        settings={"money": 100000},
        games=24,
    ),
    Situation(
        slug="tens",
        title="A ten is dealt as T",
        clause="blackjack-2.6",
        point=deciding(lambda game: "TH" in game.cards),
        missing="the client never bet",
        demands=True,
        decks="TH 9D TS TC TD / TH 2D TC 9C TS TD",
    ),
    Situation(
        slug="aces",
        title="Aces are dealt",
        clause="blackjack-3.2",
        point=deciding(lambda game: "AH" in game.cards),
        missing="the client never bet",
        demands=True,
        decks="AH AD AS AC 9D 8S 7H 6H / AH 5D 6S KC 9D 8S 7H 6H",
    ),
    Situation(
        slug="several-decks",
        title="The same card twice, as from several decks",
        clause="blackjack-3.1",
        point=over(lambda game: len({*game.cards}) < len(game.cards)),
        missing="the client never finished a round",
        settings={"decks": 2},
        decks="9H 9H TS TS TC / 8H 8H TS 9C TC",
    ),
    Situation(
        slug="empty-purse",
        title="With an empty purse there is nothing to bet: the client leaves",
        clause="blackjack-7.5",
        point=betting,
        missing="the client never began a round",
        settings={"money": 0},
        rests=True,
    ),
    Situation(
        slug="loses-everything",
        title="A client bets no more than it has left",
        clause="blackjack-7.4",
        point=lambda talk: talk.referee.finished >= 3,
        missing="the client did not play three rounds with the few coins that it had",
        settings={"money": 25},
        decks="TH 7D TS KC 2C / KH 7C 9S TD 2D",
        games=6,
    ),
    Situation(
        slug="small-purse",
        title="The balance says how much may be bet",
        clause="blackjack-7.2",
        point=deciding(lambda _: True),
        missing="the client never bet",
        settings={"money": 3},
    ),
    *(
        Situation(
            slug=f"balance-{slug}",
            title=title,
            clause="blackjack-2.3",
            point=over(lambda _: True),
            missing="the client never finished a round",
            settings={"money": money},
            games=3,
        )
        for slug, (money, title) in BALANCES.items()
    ),
)

SPELLINGS: Final = (
    *(
        Spelling(
            slug=f"ten-as-{told.replace(' ', '-').lower()}",
            title=f"A house that writes the ten as {told}",
            clause="blackjack-2.7",
            habit=honest,
            tolerated=True,
            settings={"ten": ten},
            decks="TH 9D TS TC TD / 2H TD 9S TC TS",
        )
        for ten, told in TENS.items()
    ),
    Spelling(
        slug="no-300",
        title="A house that says STP without ERR 300 before it",
        clause="blackjack-8.3",
        habit=without(b"ERR\0\0\x01\x2c"),
        tolerated=True,
    ),
)

BREAKS: Final = (
    Break(
        slug="lower-case-header",
        title="The house writes a header in lower case",
        clause="blackjack-2.5",
        habit=replaced(b"TRN", b"trn"),
    ),
    Break(
        slug="garbage",
        title="The house says what cannot be read",
        clause="blackjack-2.10",
        habit=replaced(b"MON", b"\xff\xfe\0\x01"),
    ),
    Break(
        slug="http",
        title="The house speaks HTTP",
        clause="blackjack-2.10",
        habit=replaced(b"MON", b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    ),
    Break(
        slug="line-end",
        title="The house ends a frame with a line end",
        clause="blackjack-2.10",
        habit=behind(b"MON", b"\r\n"),
    ),
    Break(
        slug="no-such-card",
        title="The house deals a card that is none",
        clause="blackjack-2.9",
        habit=replaced(b"CRD", b"CRD\0C\0001\0A"),
    ),
    Break(
        slug="nobodys-card",
        title="The house deals a card for nobody",
        clause="blackjack-2.9",
        habit=replaced(b"CRD", b"CRD\0X\0A\0H"),
    ),
    Break(
        slug="draw",
        title="The house calls a round a draw",
        clause="blackjack-2.9",
        habit=replaced(b"RES", b"RES\0D\0\0\0\x0a"),
    ),
    Break(
        slug="unknown-error",
        title="The house complains with a number that nobody knows",
        clause="blackjack-2.12",
        habit=replaced(b"MON", b"ERR\0\0\x01\x94"),
    ),
    Break(
        slug="balance-below-nothing",
        title="The balance is less than nothing",
        clause="blackjack-7.1",
        habit=replaced(b"MON", b"MON\xff\xff\xff\xff"),
    ),
    Break(
        slug="asks-twice",
        title="The house asks twice",
        clause="blackjack-4.7",
        habit=behind(b"TRN", b"TRN"),
    ),
    Break(
        slug="refuses",
        title="The house refuses what is allowed",
        clause="blackjack-4.1",
        habit=replaced(b"MON", b"ERR\0\0\x01\xf5"),
    ),
)

UNTESTABLE: Final[Mapping[str, str]] = {
    "blackjack-1.1": "the tester tells the client where to connect",
    "blackjack-1.4": "what a client does that is sent away is shown on blackjack-1.5",
    "blackjack-2.1": "what cannot be read is found in every case, on blackjack-2.10",
    "blackjack-2.4": "characters in other widths are found in every case, on blackjack-2.10 or blackjack-2.11",
    "blackjack-2.8": "nothing on the wire tells a dialect: the house would have to be set to it",
    "blackjack-2.11": "a move that is none is found in every case",
    "blackjack-3.4": "moves out of turn are found in every case, on blackjack-6.3",
    "blackjack-3.9": "it binds the house",
    "blackjack-3.11": "what there is not is found in every case, on blackjack-2.10",
    "blackjack-4.6": "a second bet is found in every case, on blackjack-6.3; who does not decide fails on this clause",
    "blackjack-5.3": "it binds the house",
    "blackjack-5.4": "it binds the house",
    "blackjack-6.1": "it binds the house",
    "blackjack-6.2": "it binds the house",
    "blackjack-6.3": "a frame that is not expected is found in every case",
    "blackjack-6.4": "a word of the house is found in every case",
    "blackjack-6.5": "a bet of nothing or less is found in every case",
    "blackjack-6.6": "a bet that cannot be paid is found in every case; those of section 7 tempt a client to it",
    "blackjack-6.7": "it binds the house",
    "blackjack-6.8": "an ERR of the client is swallowed: none is wrong",
    "blackjack-7.3": "it binds the house",
    "blackjack-7.6": "it binds the house",
    "blackjack-8.4": "what is forfeited is not said on the wire",
    "blackjack-8.6": "it binds the house",
}

GUESTS: Final = Guests(
    room=ROOM,
    situations=SITUATIONS,
    glued=(DEALT, HITS, STANDS),
    spellings=SPELLINGS,
    breaks=BREAKS,
    word=word,
    first="blackjack-1.2",
    message="blackjack-2.1",
    stream="blackjack-1.3",
    limit="blackjack-1.5",
    seat="blackjack-1.6",
    goodbye="blackjack-8.2",
    closing="blackjack-8.5",
    untestable=UNTESTABLE,
    waits=(b"STP", "blackjack-8.1"),
)
