"""Several servers as one: who owns which house of hold'em tables, and requests that reach its owner."""
