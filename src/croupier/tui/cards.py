"""Cards for the terminal, in letters, so that no font and no colour is needed to tell them apart."""

from rich.text import Text

HEIGHT = 5


def card(rank: str | None, *, lively: bool = False) -> Text:
    """One card, face up, or face down when `rank` is None; `lively` when it matters now."""
    if rank is None:
        lines = ["╭───────╮", *["│░░░░░░░│"] * (HEIGHT - 2), "╰───────╯"]
    else:
        lines = ["╭───────╮", f"│ {rank:<2}    │", f"│   {rank:<2}  │", f"│    {rank:>2} │", "╰───────╯"]
    return Text("\n".join(lines), style="bold" if lively else "dim" if rank is None else "")
