"""Where RQ's workers find their Redis."""

import os

REDIS_URL = os.environ["BENCH_REDIS"]
