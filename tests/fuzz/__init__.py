"""Fuzzing: mutated files and command lines, checked for crashes and other violations."""
