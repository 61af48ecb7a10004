"""How scores and evidence are shown; nothing is computed here."""
