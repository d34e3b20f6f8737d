"""The conditions a caller may set on a blob's version; one that does not hold raises Conflict."""

from datetime import datetime
from typing import NamedTuple

from shared.errors import Conflict
from shared.local.times import stamp
from shared.local.versions import Stored


class Conditions(NamedTuple):
    if_match: str | None = None
    if_none_match: str | None = None
    if_modified_since: datetime | None = None
    if_unmodified_since: datetime | None = None

    def check(self, stored: Stored | None) -> None:
        """`stored` is None where there is no blob (yet)."""
        etag = None if stored is None else stored.etag
        if self.if_match is not None and (etag is None or self.if_match not in ("*", etag)):
            raise Conflict("the blob is not at the version given")
        if self.if_none_match is not None and etag is not None and self.if_none_match in ("*", etag):
            raise Conflict("the blob exists, and has not changed")
        if stored is not None:
            self._check_times(stored.modified)

    def _check_times(self, modified: int) -> None:
        if self.if_modified_since is not None and modified <= stamp(self.if_modified_since):
            raise Conflict("the blob has not changed since then")
        if self.if_unmodified_since is not None and modified > stamp(self.if_unmodified_since):
            raise Conflict("the blob has changed since then")
