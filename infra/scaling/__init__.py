"""How many processes each pool should have: looked at now and then, decided by rules that are data, done by others.

`rules` (what infra/pools.toml says) and `history` (what was seen) go into `decision`, which is pure. `figures` reads
the queues, `scaler` puts these together. On one machine the supervisor starts and drains processes accordingly
(`processes`); elsewhere `serving` hands the wanted sizes to whoever does it, such as KEDA.
"""
