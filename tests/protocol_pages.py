"""The protocol pages of the rooms: their clauses, and what else is on them."""

import re
from functools import cached_property

import pytest

from croupier.core.transcript import Transcript
from croupier.rooms import ROOMS
from tests.processes import ROOT
from tests.transcripts import transcripts


class ProtocolPage:
    """The protocol page of a room, with its clauses and transcripts.

    `entries` are the anchors of the clauses, each with the name and the text of its clause; `unshown` are the clauses
    that the page lists as shown by no conversation.
    """

    def __init__(self, room: str) -> None:
        self.room = room
        self.text = (ROOT / "docs" / "protocols" / f"{room}.md").read_text()
        self.entries: list[tuple[str, str, str]] = re.findall(
            rf"^\(({room}-\d+\.\d+)\)=\n\*\*({room}-\d+\.\d+)\*\* (.+?)(?=\n\n|\Z)", self.text, re.MULTILINE | re.DOTALL
        )
        self.clauses = [anchor for anchor, _, _ in self.entries]
        unshown = self.text.partition("## Clauses that no conversation shows")[2]
        self.unshown = re.findall(rf"^- \*\*({room}-\d+\.\d+)\*\*", unshown, re.MULTILINE)

    @cached_property
    def transcripts(self) -> list[Transcript]:
        return transcripts(self.room)

    def cited_in(self, text: str) -> set[str]:
        """The clauses of the room that a text names."""
        return {*re.findall(rf"\b{self.room}-\d+\.\d+", text)}


PROTOCOL_PAGES = {room: ProtocolPage(room) for room in ROOMS}

every_page = pytest.mark.parametrize("page", PROTOCOL_PAGES.values(), ids=PROTOCOL_PAGES)
