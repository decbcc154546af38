"""A client of Kuhn poker that plays and then makes a fault: `faulty_kuhn_client.py HOST PORT FAULT HANDS`.

It checks and folds, in both seats by turns. With the fault `absent`, HANDS is a file for the id of its process.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

FAULTS: Mapping[str, bytes] = {"illegal": b"STRT P_1ACTN CAL", "unreadable": b"STRT P_1HELLO..."}
FOREVER_SECONDS = 600


class Client:
    """A connection to the house that checks and folds."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, message: bytes) -> bytes:
        self.socket.sendall(message)
        return self.receive()

    def receive(self) -> bytes:
        answer = self.socket.recv(8, socket.MSG_WAITALL)
        if answer[:4] == b"DISC" or not answer:
            sys.exit(0)
        return answer

    def play_hand(self, seat: int) -> None:
        self.ask(b"STRT P_%d" % (seat + 1))
        answer = self.receive() if seat else self.ask(b"ACTN CHK")
        if seat and answer == b"ACTN CHK":
            answer = self.ask(b"ACTN CHK")
        if answer == b"ACTN BET":
            self.socket.sendall(b"ACTN FLD")

    def commit(self, fault: str) -> None:
        if fault in FAULTS:
            self.socket.sendall(FAULTS[fault])
            self.receive()
        self.ask(b"STRT P_1")
        if fault == "crash":
            raise ValueError("no idea")
        if fault == "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(FOREVER_SECONDS)


def main() -> None:
    host, port, fault, hands = sys.argv[1:]
    if fault == "absent":
        Path(hands).write_text(f"{os.getpid()}\n")
        time.sleep(FOREVER_SECONDS)
    client = Client((host, int(port)))
    for hand in range(int(hands)):
        client.play_hand(0 if fault == "first" else hand % 2)
    client.commit(fault)


if __name__ == "__main__":
    main()
