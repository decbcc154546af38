"""Mutants: correct houses and players of our own, each with one generated fault, for the proof of the tester.

    python -m tests.conformance.mutants.measure [ROOM] [ROLE]

`mutation` describes a fault, `operators` generates faults from the table of a room, and `kuhn`, `sevenhalf` and
`blackjack` are these tables. `mutant_house` and `mutant_player` are the programs under test. `examine` is the only
module that knows the tester.
"""
