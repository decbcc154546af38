"""Conversations of a person with a house that is the test, and what their tables show as plain strings."""

import re
from collections.abc import Iterator
from gettext import translation
from typing import Any

from docs.messages import LOCALES, SOURCE, forms, read_catalogue
from msgspec import Struct
from msgspec.structs import fields

from croupier.core.presentation import ActionView, TableCommand, TableView, Text
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Joined, Left, Received, Submitted

CATALOGUES = [translation("croupier", SOURCE / "locales", [locale]) for locale in LOCALES]
TRANSLATED = {form for message in read_catalogue(LOCALES[0]) for form in forms(message.id)}


class Conversation:
    """A person at a table of a room, as its presenter describes it. The house is the test."""

    def __init__(self, room: HouseRoom, purse: int | None = None) -> None:
        self._room = room
        self._purse = purse
        self.presenter = room.load_extra("presenter")()
        self.sit()

    def sit(self) -> TableView:
        """Start a connection, and send what the presenter sends at once."""
        self.player: Any = self._room.player(self._room.options())
        self.player.on(Joined(HOUSE, None), 0.0)
        first = self.presenter.sit(self.player, self._purse)
        if first is not None:
            self._send(first)
        return self.table

    def press(self, action: str, amount: int | None = None) -> TableView:
        """Do an action of the view."""
        message = self.presenter.move(action, amount)
        assert not isinstance(message, TableCommand)
        self._send(message)
        return self.table

    def hear(self, *messages: Any) -> TableView:
        """Receive messages of the house."""
        for message in messages:
            self.player.on(Received(HOUSE, message), 0.0)
            self.presenter.received(message)
        return self.table

    def hear_at_once(self, *messages: Any) -> TableView:
        """Receive messages of the house in one piece: the session handles all before the presenter gets the first."""
        for message in messages:
            self.player.on(Received(HOUSE, message), 0.0)
        for message in messages:
            self.presenter.received(message)
        return self.table

    def lose_connection(self) -> TableView:
        """Let the house close the connection."""
        self.player.on(Left(HOUSE), 0.0)
        return self.table

    @property
    def table(self) -> TableView:
        view = self.presenter.table(0.0)
        check_table(view)
        return view

    def _send(self, message: Any) -> None:
        self.player.on(Submitted(message), 0.0)
        self.presenter.sent(message)


def action_keys(view: TableView) -> list[str]:
    """The actions of a view, each as its key and its id."""
    return [f"{action.key} {action.id}" for action in view.actions]


def announcements(view: TableView) -> list[str]:
    return [str(text) for text in view.announcements]


def captions(view: TableView) -> list[str]:
    """The seats of a view, each as its name and its caption."""
    return [f"{seat.name}: {seat.caption}" for seat in view.seats]


def other_actions(view: TableView) -> list[ActionView]:
    """The actions of a view other than leaving."""
    return [action for action in view.actions if action.id != TableCommand.LEAVE.value]


def check_table(view: TableView) -> None:
    """Check what is true of every view."""
    ids, keys = [action.id for action in view.actions], [action.key for action in view.actions]
    assert len({*ids}) == len(ids)
    assert len({*keys}) == len(keys)
    assert all(len(key) == 1 for key in keys)
    assert (view.blocked is None) == (view.is_over or bool(other_actions(view)))
    assert sum(seat.is_viewer for seat in view.seats) <= 1
    for action in view.actions:
        if (amount := action.amount) is not None:
            suggested = [coins for _, coins in amount.presets]
            assert len({*suggested}) == len(suggested), action
            suggested += [] if amount.initial is None else [amount.initial]
            assert all(amount.low <= coins <= amount.high for coins in suggested), action
    for text in texts(view):
        assert text.message in TRANSLATED or not re.sub(r"\{\w+\}|, ", "", text.message), text
        for catalogue in CATALOGUES:
            assert "{" not in text.translate(catalogue)


def texts(value: object) -> Iterator[Text]:
    """All texts in a value, also those in the arguments of other texts."""
    if isinstance(value, Text):
        yield value
        for argument in value.args.values():
            yield from texts(argument)
    elif isinstance(value, Struct):
        for field in fields(value):
            yield from texts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)
