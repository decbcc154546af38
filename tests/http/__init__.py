"""Tests of croupier.http."""  # noqa: A005 -- named as the package it tests
