"""Paper runs: our table says what is on every paper about a table, however the bytes arrive."""

import pytest

from croupier.core.json_transcript import play_json_transcript
from croupier.core.transcript import Transcript, parse_transcript
from tests.rooms.oldmaid.tables import TABLE_PAPERS, rehearsal

papers = pytest.mark.parametrize("paper", TABLE_PAPERS, ids=lambda paper: paper.name)


@pytest.mark.parametrize("chop", [0, 1, 3], ids=["whole", "byte-by-byte", "in-threes"])
@papers
def test_the_table_says_what_is_on_the_paper(paper: Transcript, chop: int) -> None:
    play_json_transcript(paper, rehearsal(paper, chop))


GUESSED = {
    "another-answer": 'p> {"cmd": "draw"}\np< {"result": "error", "message": "oldmaid-4.5: $_"}',
    "an-answer-that-is-not-heard": 'p> {"cmd": "draw"}',
    "an-answer-to-nothing": 'p> {"cmd": "join", "nick": "ann"}\np< {"result": "ok"}',
    "a-drop-that-is-not-told": 'p> \'{\\xff}\'\np< {"result": "error", "message": "oldmaid-8.8: $_"}',
    "a-drop-that-did-not-happen": 'p> {"cmd": "join", "nick": "ann"}\n* dropped p',
}


@pytest.mark.parametrize("body", GUESSED.values(), ids=GUESSED.keys())
def test_a_paper_that_is_wrong_is_found_out(body: str) -> None:
    paper = parse_transcript(f"title: Wrong\nclause: oldmaid-1.1\n{body}\n", "wrong")
    with pytest.raises(AssertionError):
        play_json_transcript(paper, rehearsal(paper))
