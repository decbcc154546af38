"""What survives a crash: journals, game records, accounts, seeds and the dealer's promises."""
