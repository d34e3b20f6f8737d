"""Listings, page by page, by the service's own markers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from azure.storage.blob import BlobPrefix, BlobProperties

from shared.azure import names
from shared.azure.containers import Containers
from shared.azure.metadata import from_headers
from shared.blobs import Blob, BlobPage
from shared.errors import Invalid

_MOST = 5000


class Listing:
    def __init__(self, containers: Containers) -> None:
        self._containers = containers

    def page(
        self, container: str, prefix: str, delimiter: str | None, limit: int, marker: str | None
    ) -> BlobPage:
        if not 1 <= limit <= _MOST:
            raise Invalid(f"a page holds 1 to {_MOST:,} entries, not {limit}")
        asked = {"name_starts_with": names.write_part(prefix), "include": ["metadata"], "results_per_page": limit}
        with self._containers.at(container, f"the list of {container}") as client:
            if delimiter:
                found: Any = client.walk_blobs(delimiter=names.write_delimiter(delimiter), **asked)
            else:
                found = client.list_blobs(**asked)
            pages = found.by_page(continuation_token=marker)
            entries = list(next(pages, ()))
            return BlobPage(
                blobs=tuple(described(one, container, names.read(one.name)) for one in entries if not isinstance(one, BlobPrefix)),
                prefixes=tuple(names.read(one.name) for one in entries if isinstance(one, BlobPrefix)),
                marker=pages.continuation_token or None,
            )

    def uncommitted(self, container: str, prefix: str) -> Iterator[tuple[str, datetime]]:
        raise NotImplementedError


def described(properties: BlobProperties, container: str, name: str) -> Blob:
    settings = properties.content_settings
    return Blob(
        container=container,
        name=name,
        size=int(properties.size or 0),
        etag=str(properties.etag),
        last_modified=properties.last_modified.astimezone(UTC),
        content_type=settings.content_type or "application/octet-stream",
        cache_control=settings.cache_control or None,
        content_md5=bytes(settings.content_md5) if settings.content_md5 else None,
        metadata=from_headers(properties.metadata),
    )
