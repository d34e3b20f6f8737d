"""Azure Storage as the second backend: the contracts of shared over blobs, queues and tables of one account.

Tested against Azurite, which differs from the service in what tests/azure/test_azurite_differs.py asserts; where it
does, the service's documented behaviour is followed.
"""
