"""Systems beside each other: table, tests, statements, gates and the report."""
