"""A random source without chance."""


class Dial:
    """A random source that returns a fixed number and records the bound."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.bound = 1

    def below(self, bound: int) -> int:
        self.bound = bound
        return self.number
