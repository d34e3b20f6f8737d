"""Whose turn it is: queues by weight, the heavier more often, the lightest never starved."""

from collections.abc import Mapping


class Turns:
    """The order in which one dequeue task asks its queues, smooth weighted round robin.

    Of every sum-of-weights turns each queue comes first exactly its weight's number of times, spread evenly.
    """

    def __init__(self, weights: Mapping[str, int]) -> None:
        self._weights = dict(weights)
        self._credit = dict.fromkeys(weights, 0)

    def next(self) -> list[str]:
        """Every queue, the one whose turn it is first; the others follow by how long they have waited."""
        for queue, weight in self._weights.items():
            self._credit[queue] += weight
        order = sorted(self._credit, key=lambda queue: -self._credit[queue])
        self._credit[order[0]] -= sum(self._weights.values())
        return order
