"""Ours and the queues others use, each behind the same few strokes: send tickets, start workers, kill them, count what they ask."""
