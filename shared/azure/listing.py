"""Listings, page by page, by the service's own markers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from azure.storage.blob import BlobPrefix, BlobProperties

from shared.azure import names
from shared.azure.conditions import etag_of
from shared.azure.containers import Containers
from shared.azure.faults import named
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
        asked: dict[str, Any] = {"name_starts_with": names.write_part(prefix), "results_per_page": limit}
        asked["include"] = ["metadata"]
        with self._containers.at(container, f"the list of {container}") as client:
            if delimiter:
                found: Any = client.walk_blobs(delimiter=names.write_delimiter(delimiter), **asked)
            else:
                found = client.list_blobs(**asked)
            pages = found.by_page(continuation_token=marker)
            entries = list(next(pages, ()))
            return BlobPage(
                blobs=tuple(described(one, container, names.read(one.name)) for one in entries if not _is_prefix(one)),
                prefixes=tuple(names.read(one.name) for one in entries if _is_prefix(one)),
                marker=pages.continuation_token or None,
            )

    def maybe_uncommitted(self, container: str, prefix: str) -> Iterator[tuple[str, datetime]]:
        """(name, last change) of what may have nothing but staged blocks: it has no bytes, and so has an empty blob."""
        with self._containers.at(container, f"the list of {container}") as client:
            pages = client.list_blobs(name_starts_with=names.write_part(prefix), include=["uncommittedblobs"]).by_page()
            first = list(next(pages, ()))
        return self._empty_ones(first, pages, container)

    def _empty_ones(self, page: list[Any], pages: Iterator[Any], container: str) -> Iterator[tuple[str, datetime]]:
        while True:
            for one in page:
                if not one.size:
                    yield names.read(one.name), _changed(one)
            with named(f"the list of {container}"):
                following = next(pages, None)
            if following is None:
                return
            page = list(following)


def _is_prefix(entry: object) -> bool:
    return isinstance(entry, BlobPrefix)


def _changed(properties: BlobProperties) -> datetime:
    """Now, where the service does not say: nothing is taken for old by mistake."""
    return properties.last_modified.astimezone(UTC) if properties.last_modified else datetime.now(UTC)


def described(properties: BlobProperties, container: str, name: str) -> Blob:
    settings = properties.content_settings
    return Blob(
        container=container,
        name=name,
        size=int(properties.size or 0),
        etag=etag_of(properties.etag),
        last_modified=properties.last_modified.astimezone(UTC),
        content_type=settings.content_type or "application/octet-stream",
        cache_control=settings.cache_control or None,
        content_md5=bytes(settings.content_md5) if settings.content_md5 else None,
        metadata=from_headers(properties.metadata),
    )
