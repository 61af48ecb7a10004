"""Systems beside each other: table, tests, verdict, gates and the report."""
