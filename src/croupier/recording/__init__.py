"""Crash-safe recording: journals, game records, accounts, seeds and the dealer's promises."""
