"""Azure Storage as the second backend: the contracts of shared over blobs, queues and tables of one account.

Names and keys of any Unicode are written with the characters the service takes (escapes.py, names.py, keys.py), queue
bodies as base64. Times are the service's own. Requests it is too busy for are tried again within a budget of seconds,
later each time and by chance (transport.py), and every request is counted by the name its bill gives it
(operations.py).

What the service cannot do, on Azure as on Azurite:

- Staged blocks beside content that was put whole cannot be dropped; they go by themselves in a week.
- Of a name with nothing but staged blocks, the time told may be that of the first block instead of the last.

Tested against Azurite (3.37), which differs from the documented service in the following. The code follows the service;
tests/contract/azure.py declares each difference that a sentence of the contract meets, and tests/azure/
test_azurite_differs.py asserts the others.

- Of a longer delimiter it folds at the first character alone.
- Put Blob leaves staged blocks where they are; Delete Blob takes a name that has nothing but staged blocks.
- A deleted container's name is free at once, not after half a minute.
- An entity's 1 MiB is counted as it travels, in JSON and base64.
- A key to sign links with (user delegation) needs an identity, which Azurite knows only over https.
- It takes a message whose text XML cannot hold, and then fails to give it.
"""
