"""`python -m tests.bench.peers.apps.sender MODULE`: for each line `FIRST COUNT` sends so many tickets and says when each."""

import importlib
import json
import sys
import time


def main(module: str) -> None:
    send = importlib.import_module(module).send
    print("ready", flush=True)
    for line in sys.stdin:
        first, count = map(int, line.split())
        times = []
        for number in range(first, first + count):
            times.append(time.monotonic())
            send(number)
        print(json.dumps([*times, time.monotonic()]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
