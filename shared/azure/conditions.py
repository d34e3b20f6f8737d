"""The conditions of our contract in the words of the SDK."""

from datetime import datetime
from typing import Any

from azure.core import MatchConditions


def etag_of(said: object) -> str:
    """As a header has it; in a list the service leaves its quotes out."""
    return '"' + str(said).strip('"') + '"'


def conditions(
    *,
    if_match: str | None = None,
    if_none_match: str | None = None,
    if_modified_since: datetime | None = None,
    if_unmodified_since: datetime | None = None,
    lease_id: str | None = None,
) -> dict[str, Any]:
    words: dict[str, Any] = {
        "if_modified_since": if_modified_since,
        "if_unmodified_since": if_unmodified_since,
        "lease": lease_id,
    }
    if if_match is not None:
        words |= _match(if_match, MatchConditions.IfPresent, MatchConditions.IfNotModified)
    if if_none_match is not None:
        words |= _match(if_none_match, MatchConditions.IfMissing, MatchConditions.IfModified)
    return {name: value for name, value in words.items() if value is not None}


def _match(etag: str, any_version: MatchConditions, this_version: MatchConditions) -> dict[str, Any]:
    if etag == "*":
        return {"match_condition": any_version}
    return {"etag": etag_of(etag), "match_condition": this_version}
