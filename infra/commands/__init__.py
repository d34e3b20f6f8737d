"""The operator's commands, one module a subject; `add` enters a module's words, each with the function that does it."""
