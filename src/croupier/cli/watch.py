"""`croupier watch`: watch a table in the terminal."""

from cyclopts import App

app = App(name="watch")
app.command("croupier.cli.holdem:watch_holdem", name="holdem", help="Watch a table of no-limit hold'em.")
app.command("croupier.cli.watch_web:watch_web", name="web", help="Watch a table of any room, through the web app.")
