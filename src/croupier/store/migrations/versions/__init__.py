"""The migrations, each in a module named after its revision."""
