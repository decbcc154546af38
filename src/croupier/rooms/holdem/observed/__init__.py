"""Observation of hold'em tables from outside, for clients and referees."""
