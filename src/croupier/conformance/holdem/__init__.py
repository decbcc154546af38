"""The tester for hold'em: servers are visited by users of ours, and bots sit down at a table of ours."""

from croupier.conformance.holdem.client import check_client, client_cases
from croupier.conformance.holdem.server import check_server, server_cases
from croupier.conformance.holdem.untestable import UNTESTABLE

__all__ = ["UNTESTABLE", "check_client", "check_server", "client_cases", "server_cases"]
