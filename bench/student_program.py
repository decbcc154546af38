"""A student's server or client of any house game, which always plays the same one: it takes little but Python's start.

python -I -S pupil.py ROOM server PORT, and python -I -S pupil.py ROOM client HOST PORT
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
"""What the client says, and what the house answers."""


def heard(line: socket.socket, expected: bytes) -> bool:
    """Whether this comes next."""
    found = b""
    while len(found) < len(expected) and (data := line.recv(len(expected) - len(found))):
        found += data
    return found == expected


def serve(room: str, port: int) -> None:
    """Play with one client after another."""
    with socket.create_server(("127.0.0.1", port)) as listening:
        while True:
            line, _ = listening.accept()
            with line:
                for said, answer in GAME[room]:
                    if not heard(line, said):
                        break
                    line.sendall(answer)


def visit(room: str, host: str, port: int) -> None:
    """Play once."""
    with socket.create_connection((host, port)) as line:
        for said, answer in GAME[room]:
            line.sendall(said)
            if not heard(line, answer):
                sys.exit(f"not what was expected after {said!r}")


if __name__ == "__main__":
    room, role, *place = sys.argv[1:]
    if role == "server":
        serve(room, int(place[0]))
    else:
        visit(room, place[0], int(place[1]))
