"""The attack as part of the project: mutated files and command lines, checked by what must hold."""
