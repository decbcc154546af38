"""The hold'em part of the conformance tester: cases for servers and for bots."""

from croupier.conformance.holdem.client import check_client, client_cases
from croupier.conformance.holdem.server import check_server, server_cases
from croupier.conformance.holdem.untestable import UNTESTABLE

__all__ = ["UNTESTABLE", "check_client", "check_server", "client_cases", "server_cases"]
