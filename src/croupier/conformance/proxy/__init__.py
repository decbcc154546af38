"""What is overheard between clients and a house that is no private table: hold'em over HTTP, and Old Maid."""
