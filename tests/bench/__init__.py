"""Figures, each measured beside what it is compared with, in the same run on the same machine."""
