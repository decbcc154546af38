"""Containment of programs under test: their environment, limits and sandbox, and the end of everything they start.

The tester starts one launcher, a small process without threads. For each program the launcher forks a supervisor, and
the supervisor starts the program. A fork of the launcher takes 1 ms; a new interpreter for each program would take 15.
The supervisor is the parent of whatever the program leaves behind, and ends it with the program. It also ends all of it
when the tester has ended, for any reason.
"""
