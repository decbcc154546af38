"""The bytes of messages as they pass through a codec."""

from collections import deque

from croupier.rooms.oldmaid.wire import Draw, Reply, Wire
from croupier.web.frames import FrameCodec


def test_each_message_of_a_read_has_its_own_bytes() -> None:
    received: deque[bytes] = deque()
    codec = FrameCodec(Wire("player"), lambda *_: None, received)
    assert list(codec.feed(b'{"result":"ok"}\n{"result":')) == [Reply("ok")]
    assert [*received] == [b'{"result":"ok"}']
    assert list(codec.feed(b'"ok" }\n')) == [Reply("ok")]
    assert [*received] == [b'\n{"result":"ok" }']


def test_messages_that_were_not_handled_are_forgotten_with_the_next_read_of_any_codec() -> None:
    received: deque[bytes] = deque()
    first, second = (FrameCodec(Wire("player"), lambda *_: None, received) for _ in range(2))
    first.feed(b'{"result":"ok"}\n')
    second.feed(b'{"result": "ok"}\n')
    assert [*received] == [b'{"result": "ok"}']


def test_sent_messages_have_the_bytes_that_the_codec_makes() -> None:
    sent: list[tuple[object, bytes]] = []
    codec = FrameCodec(Wire("player"), lambda message, data: sent.append((message, data)), deque())
    assert codec.encode(Draw()) == b'{"cmd":"draw"}\n'
    assert sent == [(Draw(), b'{"cmd":"draw"}\n')]
