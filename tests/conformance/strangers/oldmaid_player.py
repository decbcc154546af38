"""A student's Old Maid player, written from the exercise and the rulings alone, with asyncio streams.

    python -S oldmaid_player.py HOST PORT NICK [OPTIONS]

Each option is another legal reading of what the document leaves open; `--help` lists them.
"""

import argparse
import asyncio
import itertools
import random
import sys

from oldmaid_peer import GoneError, Peer, listening_socket, make_socket

COLOUR = {"spades": "black", "clubs": "black", "diamonds": "red", "hearts": "red", "maid": "none"}
ORDER = ["spades", "clubs", "diamonds", "hearts"]
CONNECT_SECONDS = 5.0
RETRY_SECONDS = 0.1
LINGER_SECONDS = 0.3
STAY_SECONDS = 60.0


class Player:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.hand = []
        self.players = []
        self.me = 0
        self.skipped = set()
        self.outs = set()
        self.peers = {}
        self.left_peer = None
        self.left = None
        self.is_out = False
        self.deck_is_empty = False
        self.has_turn = False
        self.turn_passed = False  # and nothing has been heard about the turn since
        self.listed = asyncio.Event()
        self.over = asyncio.Event()
        self.table_lock = asyncio.Lock()
        self.left_lock = asyncio.Lock()
        self.tasks = set()
        self.right_peers = set()

    # the table

    async def run(self):
        sock = listening_socket("0.0.0.0", 0)
        server = await asyncio.start_server(self.serve, sock=sock)
        port = sock.getsockname()[1]
        try:
            self.table = Peer(*await self.call(self.options.host, self.options.port, port), self.options)
            join = {"cmd": "join", "nick": self.options.nick}
            if self.options.listen == "named":
                join["port"] = port
            answer = await self.ask_table(join)
            if answer.get("result") != "ok":
                sys.exit(f"The table refuses me: {answer.get('message')}")
            self.read_players(answer["players"])
            self.listed.set()
            self.start(self.take_card() if self.me == 0 else self.next_peer())
            await self.over.wait()
        finally:
            server.close()
            for peer in [*self.right_peers, *self.peers.values(), getattr(self, "table", None)]:
                if peer:
                    peer.close()

    async def call(self, host, port, own_port):
        if self.options.listen == "named":
            return await asyncio.open_connection(host, port)
        sock = make_socket("0.0.0.0", own_port)
        await asyncio.get_running_loop().sock_connect(sock, (host, port))
        return await asyncio.open_connection(sock=sock)

    async def ask_table(self, request):
        async with self.table_lock:
            try:
                await self.table.send(request)
                while True:
                    answer = await self.table.receive()
                    if isinstance(answer, dict):
                        return answer
            except (GoneError, ValueError):
                self.over.set()
                raise GoneError from None

    def read_players(self, players):
        if isinstance(players, dict):
            players = [players[f"player{number}"] for number in range(1, len(players) + 1)]
        self.players = [(host.removeprefix("::ffff:"), port, nick) for (host, port), nick in players]
        self.me = [nick for _, _, nick in self.players].index(self.options.nick)

    def start(self, work):
        async def guarded():
            try:
                await work
            except GoneError:
                pass
            except Exception:
                self.over.set()
                raise

        task = asyncio.create_task(guarded())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def take_card(self):
        """Draw a card at my turn, and pass the turn on or offer."""
        self.has_turn = True
        answer = await self.ask_table({"cmd": "draw"})
        if answer.get("result") not in {"ok", "last_card"}:
            self.has_turn = False
            return
        self.deck_is_empty = answer["result"] == "last_card"
        await self.add(answer["card"])
        if self.deck_is_empty:
            await self.report_if_out()
            await self.offer()
        else:
            await self.pass_turn()

    async def add(self, card):
        """Put a card at a random place in the hand, and discard the pair that it makes."""
        card = tuple(card)
        self.hand.insert(self.random.randrange(len(self.hand) + 1), card)
        if self.deck_is_empty or self.options.discards == "early":
            await self.discard_pairs()

    async def discard_pairs(self):
        for first, second in itertools.combinations(self.hand.copy(), 2):
            if first[0] == second[0] and COLOUR[first[1]] == COLOUR[second[1]]:
                pair = sorted((first, second), key=lambda one: ORDER.index(one[1]))
                for one in pair:
                    self.hand.remove(one)
                last = self.deck_is_empty and not self.hand
                request = {"cmd": "discard", "cards": [list(one) for one in pair]}
                await self.ask_table(request | {"last_cards": "true" if last else "false"})

    async def report_if_out(self):
        if not self.hand and not self.is_out and self.deck_is_empty:
            self.is_out = True
            await self.ask_table({"cmd": "out_of_cards"})
            self.start(self.wait_for_end())

    async def wait_for_end(self):
        """Being out, go on answering until one player is left, or, without asking for the status, for a long time."""
        if self.options.end == "stay":
            await asyncio.sleep(STAY_SECONDS)
        else:
            while len((await self.ask_table({"cmd": "status"})).get("in", ())) > 1:
                await asyncio.sleep(self.options.status_seconds)
            await asyncio.sleep(LINGER_SECONDS)
        self.over.set()

    # the left neighbour

    async def next_peer(self):
        """Return the connection to the next player who is in the game, None if there is none."""
        async with self.left_lock:
            return await self.find_next_peer()

    async def find_next_peer(self):
        if self.left_peer:
            return self.left_peer
        for step in range(1, len(self.players)):
            number = (self.me + step) % len(self.players)
            if number in self.skipped:
                continue
            if number in self.peers:
                self.left, self.left_peer = number, self.peers[number]
                return self.left_peer
            host, port, _ = self.players[number]
            end = asyncio.get_running_loop().time() + CONNECT_SECONDS
            while asyncio.get_running_loop().time() < end:
                try:
                    self.left_peer = Peer(*await asyncio.open_connection(host, port), self.options)
                except OSError:
                    await asyncio.sleep(RETRY_SECONDS)
                else:
                    self.left, self.peers[number] = number, self.left_peer
                    self.start(self.hear_left(self.left_peer))
                    return self.left_peer
            self.skipped.add(number)
        return None

    def skip_left(self):
        self.skipped.add(self.left)
        if self.left_peer and self.left not in self.outs:
            self.left_peer.close()
            self.peers.pop(self.left, None)
        self.left_peer = None

    def begin_with_left(self):
        """Begin a turn with the players again who were out in the last one: they answer out again."""
        self.skipped -= self.outs
        self.outs.clear()
        self.left_peer = None

    async def hear_left(self, peer):
        """Sort what the left neighbour says: answers to my requests, and picks."""
        while True:
            try:
                message = await peer.receive()
            except ValueError:
                await peer.send({"result": "error", "message": "This is no JSON."})
                continue
            except GoneError:
                peer.answers.put_nowait(None)
                self.left_is_gone(peer)
                raise
            if isinstance(message, dict) and "cmd" not in message:
                if peer.asked == "offer" and message.get("result") == "ok":
                    peer.may_pick = self.has_turn = bool(self.hand)
                if peer.asked:
                    peer.asked = ""
                    peer.answers.put_nowait(message)
            else:
                await self.answer_pick(peer, message)

    async def answer_pick(self, peer, request):
        number = request.get("card_num") if isinstance(request, dict) and request.get("cmd") == "pick" else None
        if not peer.may_pick or type(number) is not int or not 0 <= number <= len(self.hand):
            await peer.send({"result": "error", "message": "There is no such card to pick."})
            return
        peer.may_pick = False
        card = self.hand.pop(min(number, len(self.hand) - 1))
        self.has_turn = False
        await peer.send({"result": "ok", "card": list(card)})
        await self.report_if_out()
        peer.answers.put_nowait({"result": "picked"})

    def left_is_gone(self, peer):
        if self.turn_passed and not peer.asked and peer is self.left_peer and self.options.lost_turn == "retake":
            self.turn_passed = False
            self.skip_left()
            self.start(self.pass_turn())

    async def ask_left(self, peer, request):
        """Return the answer of the left neighbour. Raises GoneError."""
        peer.asked = request["cmd"]
        await peer.send(request)
        return await self.hear_answer(peer)

    async def hear_answer(self, peer):
        answer = await peer.answers.get()
        if answer is None:
            raise GoneError
        return answer

    async def pass_turn(self):
        while peer := await self.next_peer():
            try:
                self.has_turn, self.turn_passed = False, True
                await self.ask_left(peer, {"cmd": "your_turn"})
            except GoneError:
                self.skip_left()
            else:
                return
        self.over.set()

    async def offer(self):
        """Offer the hand until somebody takes a card, or the turn of an empty hand."""
        if self.options.out == "again":
            self.begin_with_left()
        self.has_turn = True
        while peer := await self.next_peer():
            try:
                cards = len(self.hand)
                answer = await self.ask_left(peer, {"cmd": "offer", "num_cards": cards})
                if answer.get("result") == "out" and self.options.out == "again":
                    self.outs.add(self.left)
                if answer.get("result") == "out":
                    self.skip_left()
                    continue
                if answer.get("result") == "ok" and cards:
                    await self.hear_answer(peer)
                elif answer.get("result") != "ok":
                    self.has_turn = False
            except GoneError:
                self.skip_left()
                continue
            return
        self.over.set()  # nobody else is in: the cards that are left are mine

    # the right neighbour

    async def serve(self, reader, writer):
        peer = Peer(reader, writer, self.options)
        self.right_peers.add(peer)
        try:
            while True:
                try:
                    request = await peer.receive()
                except ValueError:
                    await peer.send({"result": "error", "message": "This is no JSON."})
                    continue
                await self.answer(peer, request)
        except GoneError:
            pass
        finally:
            self.right_peers.discard(peer)
            peer.close()

    async def answer(self, peer, request):
        if isinstance(request, dict) and "cmd" not in request and "result" in request:
            return
        if isinstance(request, dict) and request.get("cmd") in {"your_turn", "offer"}:
            self.turn_passed = False
            await self.settle_empty_offer()
        match request:
            case {"cmd": "your_turn"} if not self.has_turn and not self.deck_is_empty:
                self.has_turn = True
                await peer.send({"result": "ok"})
                self.start(self.draw_when_listed())
            case {"cmd": "offer", "num_cards": int(number)} if self.may_be_offered(number):
                await self.take_offer(peer, number)
            case _:
                await peer.send({"result": "error", "message": "Not now."})

    async def settle_empty_offer(self):
        """Wait for the answer to my offer of no cards: it may arrive after what its sender did next."""
        for _ in range(20):
            if not self.left_peer or self.left_peer.asked != "offer" or self.hand:
                return
            await asyncio.sleep(0.01)

    def may_be_offered(self, number):
        return type(number) is int and number >= 0 and self.listed.is_set() and not self.has_turn

    async def draw_when_listed(self):
        await self.listed.wait()
        await self.take_card()

    async def take_offer(self, peer, number):
        self.deck_is_empty = True
        await self.discard_pairs()
        await self.report_if_out()
        if self.is_out:
            await peer.send({"result": "out"})
            return
        self.has_turn = True
        try:
            await peer.send({"result": "ok"})
            if number:
                await asyncio.sleep(self.options.pick_pause)
                await peer.send({"cmd": "pick", "card_num": self.random.randrange(number)})
                answer = await peer.receive()
                if isinstance(answer, dict) and answer.get("result") == "ok":
                    await self.add(answer["card"])
                    await self.report_if_out()
        finally:
            self.start(self.offer())


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("nick")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--listen", choices=["same", "named"], default="same")
    parser.add_argument("--json", choices=["plain", "compact", "pretty"], default="plain")
    parser.add_argument("--ending", choices=["\n", "\r\n", ""], default="\n")
    parser.add_argument("--discards", choices=["early", "late"], default="early")
    parser.add_argument("--lost-turn", choices=["retake", "wait"], default="retake")
    parser.add_argument("--end", choices=["status", "stay"], default="status")
    parser.add_argument("--out", choices=["skip", "again"], default="skip")
    parser.add_argument("--status-seconds", type=float, default=0.5)
    parser.add_argument("--pick-pause", type=float, default=0.02)
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(Player(parse_options()).run())
