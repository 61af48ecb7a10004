"""What all features stand on: texts, metrics, the loop that counts, significance, checks, tables.

Nothing here knows a feature.
"""
