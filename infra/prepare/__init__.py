"""Set-up: runs on a bare Python, before any package is installed, and is quick when nothing is to do."""
