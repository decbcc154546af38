"""A student's no-limit hold'em table: seats, queue, cards, betting, side pots and showdowns, without any HTTP."""

import itertools
import random
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

RANKS = "23456789TJQKA"
DECK = [rank + suit for rank in RANKS for suit in "CDHS"]
HAND_KINDS = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
NEXT_STREET = {0: 3, 3: 4, 4: 5}
HOUSE = threading.RLock()
"""The one lock: every thread that reads or changes a game holds it."""


class RefusedError(Exception):
    """A request that is refused with this status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def rank_five(cards):
    """Return a value of five cards that is greater for a better hand."""
    values = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    groups = sorted(((values.count(value), value) for value in set(values)), reverse=True)
    order = tuple(value for _, value in groups)
    if values == [12, 3, 2, 1, 0]:
        order = (3, 2, 1, 0, -1)
    flush = len({card[1] for card in cards}) == 1
    straight = len(order) == 5 and order[0] - order[4] == 4
    if straight:
        return 8 if flush else 4, order
    if flush:
        return 5, order
    return HAND_KINDS.get(tuple(count for count, _ in groups), 0), order


def best(cards):
    return max(map(rank_five, itertools.combinations(cards, 5)))


def split_pots(bets, live, all_in, dead="apart"):
    """Return [(size, contributors, claimants)], main pot first.

    `bets` are the chips of each player in this hand, `live` the players who have not folded, and `all_in` those of
    them who have no chips left. Chips that only players who are gone have bet are a pot of their own, or `joined` to
    the last pot that somebody can win.
    """
    top = max(bets.values()) if dead == "apart" else max(bets[one] for one in live)
    pots, below = [], 0
    for level in sorted({bets[one] for one in all_in if bets[one] < top} | {max(bets.values())}):
        size = sum(min(bet, level) - min(bet, below) for bet in bets.values())
        if size:
            inside = [one for one, bet in bets.items() if bet > below]
            pots.append((size, inside, [one for one in live if bets[one] > below]))
        below = level
    return pots


def share(pots, values, order):
    """Return what each player wins: odd chips go to the first winners in `order`."""
    won = dict.fromkeys(order, 0)
    claimants = order
    for size, _, own_claimants in pots:
        claimants = own_claimants or claimants
        top = max(values[one] for one in claimants)
        winners = [one for one in order if one in claimants and values[one] == top]
        for place, one in enumerate(winners):
            won[one] += size // len(winners) + (place < size % len(winners))
    return won


class Decks:
    """Where the cards come from: shuffled decks, or those of a file, in turn."""

    def __init__(self, options):
        self.random = random.Random(options.seed)
        self.listed = []
        if options.deck:
            blocks = Path(options.deck).read_text(encoding="ascii").split("\n\n")
            self.listed = [block.split() for block in blocks if block.strip()]
        self.number = 0

    def next(self):
        rest = DECK.copy()
        self.random.shuffle(rest)
        if not self.listed:
            return rest
        first = self.listed[self.number % len(self.listed)]
        self.number += 1
        return first + [card for card in rest if card not in first]


class Seat:
    def __init__(self, user, guid, chips):
        self.user, self.guid, self.wealth = user, guid, chips
        self.place = 0
        self.playing = False
        self.reset(playing=False)

    def reset(self, *, playing):
        self.playing = playing
        self.folded = not playing
        self.hole = []
        self.bet = self.total = 0
        self.new_round()

    def new_round(self):
        self.bet = 0
        self.acted = False
        self.seen_level = self.seen_raises = 0

    def put_in(self, chips):
        chips = min(chips, self.wealth)
        self.wealth -= chips
        self.bet += chips
        self.total += chips


class Game:
    def __init__(self, options, decks):
        self.options, self.decks = options, decks
        self.guid = make_guid(options)
        self.seats = [None] * options.seats
        self.queue = []
        self.players = []  # those dealt into the hand, clockwise, the button last
        self.board, self.shown = [], 0
        self.button = self.small = self.last_big_blind = self.turn = None
        self.expiry = self.level = self.step = self.raises = 0
        self.running = self.resting = False

    def sitting(self):
        return [seat for seat in self.seats if seat]

    def find(self, guid):
        return next((one for one in self.sitting() + self.queue if one.guid == guid), None)

    def has_room(self):
        return None in self.seats and not self.queue

    def join(self, user, guid):
        """Seat a user, or put it in the queue; return whether it has a seat."""
        if any(one.user == user for one in self.sitting() + self.queue):
            raise RefusedError(409, "You are in this game already.")
        has_seat = self.has_room()
        self.queue.append(Seat(user, guid, self.options.stack))
        if has_seat or not self.running:
            self.fill_seats()
        self.begin_if_possible()
        return has_seat

    def fill_seats(self):
        while self.queue and None in self.seats:
            self.seats[self.seats.index(None)] = self.queue.pop(0)

    def remove(self, one):
        if one in self.queue:
            self.queue.remove(one)
            return
        self.seats[self.seats.index(one)] = None
        one.folded = True
        if not self.running:
            self.fill_seats()
            self.begin_if_possible()
        elif one.playing:
            self.go_on(self.turn)

    def begin_if_possible(self):
        if not self.sitting():
            self.button = None
        if self.running or self.resting or len(self.sitting()) < 2:
            return
        numbers = [number for number, seat in enumerate(self.seats) if seat]
        if self.button is None:
            self.button = random.choice(numbers) if self.options.button == "random" else numbers[0]
        else:
            self.button = next((number for number in numbers if number > self.button), numbers[0])
        order = self.clockwise_from_button(numbers)
        big_blind = self.seats[order[1] if len(order) > 2 else order[0]]
        if self.options.big_blind_twice == "avoided" and big_blind is self.last_big_blind:
            self.button = order[0]
            order = self.clockwise_from_button(numbers)
        self.players = [self.seats[number] for number in order]
        for one, number in zip(self.players, order, strict=True):
            one.reset(playing=True)
            one.place = number
        blinds = self.players[:2] if len(self.players) > 2 else self.players[::-1]
        self.small, big = blinds
        self.last_big_blind = big
        cards = iter(self.decks.next())
        first = self.players.index(self.small)
        for one in (self.players[first:] + self.players[:first]) * 2:
            one.hole.append(next(cards))
        self.board, self.shown = list(itertools.islice(cards, 5)), 0
        self.running = True
        self.small.put_in(self.options.small_blind)
        big.put_in(self.options.big_blind)
        self.level = self.step = self.options.big_blind
        self.raises = 0
        self.next_turn(big)

    def clockwise_from_button(self, numbers):
        return [number for number in numbers if number > self.button] + [
            number for number in numbers if number <= self.button
        ]

    def live(self):
        return [one for one in self.players if not one.folded]

    def go_on(self, current):
        """Go on after an act or when somebody has left: the turn stays if its player still has to act."""
        if len(self.live()) == 1:
            self.finish()
        elif not self.must_act(current):
            self.next_turn(current)

    def next_turn(self, after):
        start = self.players.index(after) + 1
        while True:
            for one in self.players[start:] + self.players[:start]:
                if self.must_act(one):
                    self.give_turn(one)
                    return
            if self.shown == 5:
                self.finish()
                return
            self.shown = NEXT_STREET[self.shown]
            start = self.level = self.raises = 0
            self.step = self.options.big_blind
            for one in self.players:
                one.new_round()

    def must_act(self, one):
        if one.folded or not one.wealth:
            return False
        others = [other for other in self.live() if other is not one]
        if not any(other.wealth for other in others) and one.bet >= max(other.bet for other in others):
            return False
        return not one.acted or one.bet < self.level

    def give_turn(self, one):
        self.turn = one
        now = time.time_ns() // 1000
        self.expiry = max(self.expiry + 1, now + int(self.options.turn_seconds * 1e6))
        start_timer((self.expiry - now) / 1e6, self.time_out, one, self.expiry)

    def time_out(self, one, expiry):
        if self.turn is one and self.expiry == expiry:
            self.remove(one)

    def act(self, one, action, amount):
        """Carry out an act; return why it folds the hand if it was an invalid bet."""
        why = self.objection(one, amount) if action else ""
        if why or not action:
            one.folded = True
        else:
            one.put_in(amount)
            if one.bet > self.level:
                self.raises += one.bet - self.level >= self.step
                self.step = max(self.step, one.bet - self.level)
                self.level = one.bet
        one.acted, one.seen_level, one.seen_raises = True, self.level, self.raises
        self.go_on(one)
        return why

    def objection(self, one, amount):
        raised = one.bet + amount - self.level
        others_can_bet = any(other.wealth for other in self.live() if other is not one)
        if amount < 0:
            return "a negative bet"
        if amount > one.wealth:
            return "more than your wealth"
        if raised < 0 and amount < one.wealth:
            return "less than the amount to call"
        if raised > 0 and others_can_bet and not self.may_raise(one):
            return "the betting is not open to you"
        if raised > 0 and not others_can_bet and self.options.unanswered_raises == "calls":
            return ""
        if 0 < raised < self.step and amount < one.wealth:
            return f"a raise of less than {self.step}"
        return ""

    def may_raise(self, one):
        if not one.acted:
            return True
        if self.options.short_raises == "add":
            return self.level - one.seen_level >= self.step
        return self.raises > one.seen_raises

    def smallest_raise(self):
        """Return the smallest raise to be shown to the player to act."""
        shown = self.options.minimum_raise
        chips = max(0, self.turn.wealth + self.turn.bet - self.level)
        if shown == "full":
            return self.step
        return min(self.step, chips) if shown == "wealth" or self.may_raise(self.turn) else 0

    def pots(self):
        order = sorted(self.players, key=lambda one: one.place)
        live = [one.guid for one in order if not one.folded]
        all_in = [one.guid for one in order if not one.folded and not one.wealth]
        return split_pots({one.guid: one.total for one in order}, live, all_in, self.options.dead_chips)

    def finish(self):
        live = self.live()
        highest = max(live, key=lambda one: one.total)
        called = max(one.total for one in self.players if one is not highest)
        if highest.total > called:
            highest.wealth += highest.total - called
            highest.total = called
        if len(live) == 1:
            live[0].wealth += sum(one.total for one in self.players)
        else:
            self.shown = 5
            values = {one.guid: best(one.hole + self.board) for one in live}
            won = share(self.pots(), values, [one.guid for one in live])
            for one in live:
                one.wealth += won[one.guid]
        for one in self.players:
            one.bet = one.total = 0
        self.running, self.turn = False, None
        if self.options.pause:
            self.resting = True
            start_timer(self.options.pause, self.next_hand)
        else:
            self.next_hand()

    def next_hand(self):
        self.resting = False
        for number, one in enumerate(self.seats):
            if one:
                one.reset(playing=False)
                if not one.wealth:
                    self.seats[number] = None
        self.shown = 0
        self.fill_seats()
        self.begin_if_possible()

    def show(self, user):
        """Return the Game as this user sees it, None for the public."""
        options = self.options
        in_hand = (self.running or self.resting) and options.newcomers == "later"
        mine = next((one for one in self.sitting() if one.user == user and one.playing), None)
        shown = self.board[: self.shown]
        cards = {"hole": mine.hole if mine else []}
        for street, begin, end in (("flop", 0, 3), ("turn", 3, 4), ("river", 4, 5)):
            cards[street] = shown[begin:end] or None
        pots = [{"size": size, "players": inside} for size, inside, _ in self.pots()] if self.running else []
        if not self.running and options.idle_pots == "one":
            pots = [{"size": 0, "players": []}]
        return {
            "gameID": self.guid,
            "table": [self.show_player(one) for one in self.sitting() if one.playing or not in_hand],
            "turn": self.show_turn(),
            "cards": cards,
            "pots": pots,
        }

    def show_player(self, one):
        state = "folded" if one.folded and one.playing else "called"
        is_all_in = self.running and one.playing and not one.folded and not one.wealth
        may_be_active = is_all_in and not one.acted and self.options.all_in_state == "active"
        is_idle = not one.playing and self.options.idle_state == "active"
        if may_be_active or is_idle or (self.running and self.must_act(one)):
            state = "active"
        return {
            "playerID": one.guid,
            "handle": one.user,
            "state": state,
            "wealth": one.wealth,
            "bet_so_far": one.bet,
            "small_blind": one.playing and one is self.small,
        }

    def show_turn(self):
        if not self.turn:
            if self.options.idle_turn == "null":
                return None
            empty = {"playerID": "", "bet_so_far": 0, "bet_to_player": 0, "minimum_raise": 0}
            return empty | {"expiry": "0001-01-01T00:00:00Z"}
        seconds, micros = divmod(self.expiry, 1_000_000)
        moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        zone = "+00:00" if self.options.expiry == "offset" else "Z"
        digits = f"{micros:06}000" if self.options.expiry == "nanoseconds" else f"{micros:06}"
        return {
            "playerID": self.turn.guid,
            "bet_so_far": self.turn.bet,
            "bet_to_player": self.level,
            "minimum_raise": self.smallest_raise(),
            "expiry": f"{moment}.{digits}{zone}",
        }


def start_timer(seconds, function, *arguments):
    def run():
        with HOUSE:
            function(*arguments)

    timer = threading.Timer(seconds, run)
    timer.daemon = True
    timer.start()


def make_guid(options):
    guid = str(uuid.uuid4())
    return guid.upper() if options.guid == "upper" else guid
