"""Azure Storage as the second backend: the contracts of shared over blobs, queues and tables of one account."""
