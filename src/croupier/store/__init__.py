"""The store: journals of tables, accounts with a double-entry ledger, hands and matches, in SQLite or PostgreSQL."""
