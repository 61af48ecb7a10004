"""The printed tables of the papers as data files, the claims made about them, and their audits."""
