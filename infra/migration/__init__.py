"""Moving a whole site from one storage to another, over nothing but the contracts of shared.

Blobs first, then tables, so that no record arrives before what it names. Run again it copies what changed since and
removes what is gone, so a site is moved in two runs: one while it serves, one, short, after it was stopped. Queues are
not read: a message can only be taken, and every ticket follows from the catalog: the first sweep at the new place
sends each active video its next step.
"""
