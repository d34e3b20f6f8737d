"""The work: pools of processes that take tickets, do them, and only then delete them."""
