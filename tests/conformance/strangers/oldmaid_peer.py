"""Connections of a student's Old Maid player: JSON objects over asyncio streams, and sockets that share a port."""

import asyncio
import json
import socket


class GoneError(Exception):
    """The peer has closed the connection, or what it says cannot be read."""


class Peer:
    """JSON objects over one connection, however they are cut."""

    def __init__(self, reader, writer, options):
        self.reader, self.writer, self.options = reader, writer, options
        self.text = b""
        self.answers = asyncio.Queue()  # from the left neighbour; None when it is gone
        self.asked = ""  # the command that it has not answered
        self.may_pick = False

    async def receive(self):
        """Return the next JSON value. Raises GoneError at the end, and ValueError for a value that is none."""
        while True:
            self.text = self.text.lstrip()
            end = self.end_of_value()
            if end:
                text, self.text = self.text[:end], self.text[end:]
                return json.loads(text.decode())
            try:
                data = await self.reader.read(4096)
            except OSError:
                data = b""
            if not data or len(self.text) > 65_536:
                raise GoneError
            self.text += data

    def end_of_value(self):
        """Return where the first value ends, 0 if it is incomplete."""
        if self.text and self.text[:1] not in {b"{", b"["}:
            ends = [self.text.find(b"\n") + 1, self.text.find(b"{")]
            return min((end for end in ends if end > 0), default=0)
        depth, quoted, escaped = 0, False, False
        for place, byte in enumerate(self.text):
            character = chr(byte)
            if escaped:
                escaped = False
            elif quoted:
                escaped, quoted = character == "\\", character != '"'
            elif character == '"':
                quoted = True
            elif character in "{[":
                depth += 1
            elif character in "}]":
                depth -= 1
                if not depth:
                    return place + 1
        return 0

    async def send(self, value):
        if self.options.json == "compact":
            text = json.dumps(dict(reversed(value.items())), separators=(",", ":"))
        elif self.options.json == "pretty":
            text = json.dumps(value, indent=2)
        else:
            text = json.dumps(value)
        try:
            self.writer.write((text + self.options.ending).encode())
            await self.writer.drain()
        except OSError:
            raise GoneError from None

    def close(self):
        self.writer.close()


def make_socket(host, port):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.setblocking(False)
    sock.bind((host, port))
    return sock


def listening_socket(host, port):
    sock = make_socket(host, port)
    sock.listen()
    return sock
