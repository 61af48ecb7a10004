"""Texts: read, checked and written; segments, tokens, parallel files, tables, batches."""
