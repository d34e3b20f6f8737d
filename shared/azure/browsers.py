"""What browsers may do at the account by themselves: send blocks from our pages, fetch media by signed links."""

from collections.abc import Sequence

from azure.storage.blob import CorsRule

from shared.azure.account import Account
from shared.azure.faults import named

_REMEMBER = 86400
"""Seconds a browser need not ask again."""


def let_browsers_in(account: Account, origins: Sequence[str]) -> None:
    """Takes the place of the account's rules for blobs (CORS). Nothing is opened by them that a link did not open.

    Media may be asked for from anywhere: a player embedded in another site is told of no origin after a redirect.
    """
    sending = CorsRule(
        list(origins), ["PUT"], allowed_headers=["content-md5", "content-type", "x-ms-*"], exposed_headers=[],
        max_age_in_seconds=_REMEMBER,
    )  # fmt: skip
    fetching = CorsRule(
        ["*"], ["GET", "HEAD"], allowed_headers=["range", "if-none-match"],
        exposed_headers=["content-length", "content-range", "etag"], max_age_in_seconds=_REMEMBER,
    )  # fmt: skip
    with named("the rules for browsers"):
        account.blobs.set_service_properties(cors=[sending, fetching])
