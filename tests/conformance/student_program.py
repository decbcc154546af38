"""A student's Kuhn poker: a server or a client with a habit, in plain Python and as slow on the uptake as can be.

python -I -S student_program.py server HABIT PORT
python -I -S student_program.py client HABIT HOST PORT
"""

import os
import signal
import socket
import sys
import time
from pathlib import Path

WAIT = 60.0


def exactly(line: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        data = line.recv(length - len(found))
        if not data:
            raise SystemExit(0)
        found += data
    return found


def heard(line: socket.socket) -> str:
    """The next message."""
    code = exactly(line, 4).decode()
    return code if code == "DISC" else code + exactly(line, 4).decode()


def serve(habit: str, port: int) -> None:
    if habit == "never-listens":
        time.sleep(WAIT)
    if habit == "ends-at-once":
        sys.exit("I cannot find my configuration")
    if habit == "chatty":
        os.write(1, b"debug " * 20_000)
    with socket.create_server(("127.0.0.1", port)) as listening:
        while True:
            line, _ = listening.accept()
            with line:
                table(line, habit)
            if habit in {"ends-slowly", "crashes-slowly"}:
                time.sleep(0.5)
                sys.exit("list index out of range" if habit == "crashes-slowly" else 0)
            if habit == "serves-once":
                return


def table(line: socket.socket, habit: str) -> None:
    """One conversation: the client is dealt the king and the house the jack, and calls every bet."""
    shown = b"CARD C_K" if habit == "deals-twice" else b"CARD C_J"
    bets = 0
    while True:
        data = line.recv(4)
        if not data:
            return
        code = data if len(data) == 4 else data + exactly(line, 4 - len(data))
        if code == b"DISC":
            return
        said = code + exactly(line, 4)
        if habit == "hangs":
            time.sleep(WAIT)
        if habit == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if habit == "thinks":
            time.sleep(1.5)
        bets = bets + 1 if said == b"ACTN BET" else bets * (said[:4] != b"ACTN")
        if habit == "says-nonsense" or (habit == "fears-four-bets" and bets == 4):
            answer = b"CARD 1_1"
        elif said == b"STRT P_1":
            answer = b"CARD C_K"
        elif said == b"STRT P_2":
            answer = b"CARD C_KACTN CHK"
        elif said in {b"ACTN BET", b"ACTN CHK"}:
            answer = shown
        else:
            answer = b"FAIL W_A"
        line.sendall(answer + (b"\0" if habit == "ends-in-nul" else b""))


def visit(habit: str, host: str, port: int) -> None:  # noqa: C901 -- one branch for each habit
    if habit == "never-connects":
        time.sleep(WAIT)
    if habit == "cannot-start":
        with Path("begun.txt").open("a") as file:
            file.write("1")
        raise ImportError("no module named cards")
    with socket.create_connection((host, port)) as line:
        if habit == "gives-up":
            line.settimeout(1.0)
        if habit == "says-nothing":
            time.sleep(WAIT)
        if habit == "leaves-at-once":
            return
        if habit == "plays-for-ever":
            while True:
                game(line)
        if habit == "acts-first":
            line.sendall(b"ACTN BET")
            heard(line)
        for _ in range(2):
            game(line)
            if habit == "crashes":
                os.abort()
        if habit == "chatty":
            os.write(2, b"debug " * 20_000)
        line.sendall(b"DISC")
        if habit == "stays":
            time.sleep(WAIT)
    if habit == "hangs-at-its-end":
        time.sleep(WAIT)


def game(line: socket.socket) -> None:
    line.sendall(b"STRT P_1")
    heard(line)
    line.sendall(b"ACTN BET")
    heard(line)


if __name__ == "__main__":
    role, habit, *place = sys.argv[1:]
    if role == "server":
        serve(habit, int(place[0]))
    else:
        visit(habit, place[0], int(place[1]))
