"""The proof: one folder for each part of the house, and whole sites walked end to end."""
