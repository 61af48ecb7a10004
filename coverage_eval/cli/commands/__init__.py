"""The commands, a file each, of the command's name; ``score`` has what those of metrics share."""
