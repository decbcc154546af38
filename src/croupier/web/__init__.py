"""The web app: people play in a browser through the sessions and codecs that programs use on the wire."""
