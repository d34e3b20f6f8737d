"""Signed links: whoever holds one has one right on one blob until it expires."""

import hashlib
import hmac
import json
from urllib.parse import quote

from shared.errors import Forbidden, Invalid


class Links:
    """`secret` signs them; without one none are made."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def path(self, container: str, name: str, right: str, expires: int) -> str:
        """`expires` in seconds since 1970."""
        if right not in ("read", "write"):
            raise Invalid(f"a link gives the right to read or to write, not {right!r}")
        if any(step in (".", "..") for step in name.split("/")):
            raise Invalid(f"no link can be made to {name!r}: clients take its dots out of a URL")
        signature = self._sign(container, name, right, expires)
        return f"/blobs/{container}/{quote(name)}?right={right}&expires={expires}&signature={signature}"

    def check(self, container: str, name: str, right: str, expires: int, signature: str, now: float) -> None:
        """Raises Forbidden."""
        expected = self._sign(container, name, right, expires)
        if not hmac.compare_digest(expected.encode(), signature.encode(errors="replace")):
            raise Forbidden("this link is not valid")
        if now >= expires:
            raise Forbidden("this link has expired")

    def _sign(self, container: str, name: str, right: str, expires: int) -> str:
        if not self._secret:
            raise Invalid("links cannot be signed without a secret; set MATINEE_SECRET_KEY")
        text = json.dumps([container, name, right, int(expires)])
        return hmac.new(self._secret.encode(), text.encode(), hashlib.sha256).hexdigest()
