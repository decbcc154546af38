"""Conformance tester: checks servers and clients against the clauses of their protocol and reports what they break."""
