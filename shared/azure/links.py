"""Signed links: a shared access signature for one blob and one right."""

import threading
from datetime import datetime, timedelta

from azure.storage.blob import BlobClient, BlobSasPermissions, UserDelegationKey, generate_blob_sas

from shared.azure.account import Account
from shared.azure.faults import named
from shared.blobs import Right
from shared.errors import Invalid

_RIGHTS = {"read": BlobSasPermissions(read=True), "write": BlobSasPermissions(create=True, write=True)}
_KEY_LIFE = timedelta(days=1)


class Links:
    """Signed by the account's key, or by a key the service gives to the machine's identity for a day."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._lock = threading.Lock()
        self._delegated: tuple[datetime, UserDelegationKey] | None = None

    def url(self, blob: BlobClient, right: Right, expires_in: timedelta) -> str:
        if right not in _RIGHTS:
            raise Invalid(f"a link gives the right to read or to write, not {right!r}")
        expires = self._account.clock.now() + expires_in
        signature = generate_blob_sas(
            account_name=self._account.name,
            container_name=blob.container_name,
            blob_name=blob.blob_name,
            account_key=self._account.key,
            user_delegation_key=None if self._account.key else self._key(expires),
            permission=_RIGHTS[right],
            expiry=expires,
        )
        return f"{blob.url}?{signature}"

    def _key(self, needed_until: datetime) -> UserDelegationKey:
        with self._lock:
            if self._delegated is None or self._delegated[0] < needed_until:
                now = self._account.clock.now()
                until = max(now + _KEY_LIFE, needed_until)
                with named("a key to sign links with"):
                    # From a little earlier, for where the service's machines do not quite agree.
                    key = self._account.blobs.get_user_delegation_key(now - timedelta(minutes=5), until)
                self._delegated = (until, key)
            return self._delegated[1]
