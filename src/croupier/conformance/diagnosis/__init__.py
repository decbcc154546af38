"""Diagnosis: guesses the cause of a fault and detects systematic departures from the spelling of a protocol."""
