"""The embedded backend: files and SQLite, used by many processes at once, nothing to start."""
