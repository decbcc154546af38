"""Minimal server or client of any house game, which always plays the same game; its run time is mostly Python's start.

Usage: python -I -S student_program.py ROOM server PORT
       python -I -S student_program.py ROOM client HOST PORT
"""

import socket
import sys

GAME = {
    "kuhn": [(b"STRT P_1", b"CARD C_K"), (b"ACTN BET", b"CARD C_J"), (b"DISC", b"")],
    "sevenhalf": [
        (b"STRT", b"STBT \x00\x00\x00\x64"),
        (b"DRAW", b"CARD 7o"),
        (b"PASS", b"BKSC \x00\x00\x00\x027ccc 07.5GAIN \xff\xff\xff\x9c"),
    ],
    "blackjack": [
        (b"PLY", b"MON\x00\x00\x03\xe8"),
        (b"BET\x00\x00\x00\x0a", b"CRD\x00C\x00A\x00SCRD\x00C\x00K\x00SCRD\x00S\x00T\x00DTRN"),
        (b"MOV\x00S", b"CRD\x00S\x00J\x00CRES\x00W\x00\x00\x00\x14"),
        (b"STP", b"STP"),
    ],
}
"""The messages of the client and the answers of the house."""


def receives(connection: socket.socket, expected: bytes) -> bool:
    """Return whether `expected` arrives next."""
    found = b""
    while len(found) < len(expected) and (data := connection.recv(len(expected) - len(found))):
        found += data
    return found == expected


def serve(room: str, port: int) -> None:
    """Play with clients, one after another."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                for message, answer in GAME[room]:
                    if not receives(connection, message):
                        break
                    connection.sendall(answer)


def play(room: str, host: str, port: int) -> None:
    """Play one game as the client."""
    with socket.create_connection((host, port)) as connection:
        for message, answer in GAME[room]:
            connection.sendall(message)
            if not receives(connection, answer):
                sys.exit(f"not what was expected after {message!r}")


if __name__ == "__main__":
    room, role, *place = sys.argv[1:]
    if role == "server":
        serve(room, int(place[0]))
    else:
        play(room, place[0], int(place[1]))
