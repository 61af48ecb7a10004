"""Word alignment: models, links from files, and how well they fit a text."""
