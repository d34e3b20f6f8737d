"""What starts things: set-up, the supervisor of one machine, and the operator's commands."""
