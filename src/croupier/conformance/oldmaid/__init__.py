"""The Old Maid part of the conformance tester: cases for tables and for players."""
