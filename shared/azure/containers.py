"""Containers of the account."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC
from typing import Any

from azure.storage.blob import BlobServiceClient, ContainerClient

from shared.azure.faults import named
from shared.azure.metadata import from_headers, to_headers
from shared.blobs import Access, Container
from shared.errors import Conflict, Invalid
from shared.limits import check_access, check_store_name

_PUBLIC = "blob"
"""Whoever has an address reads that blob; nobody lists the container."""


class Containers:
    def __init__(self, client: BlobServiceClient) -> None:
        self._client = client

    def create(self, name: str, access: Access, metadata: Mapping[str, str] | None) -> None:
        check_access(access)
        with self.at(name) as container:
            container.create_container(metadata=to_headers(metadata), public_access=_public(access))

    def ensure(self, name: str, access: Access) -> None:
        try:
            self.create(name, access, None)
        except Conflict:
            self.get(name)  # raises, if it is still being deleted

    def get(self, name: str) -> Container:
        with self.at(name) as container:
            return _container(container.get_container_properties())

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        headers = to_headers(metadata)
        with self.at(name) as container:
            container.set_container_metadata(headers)

    def set_access(self, name: str, access: Access) -> None:
        check_access(access)
        with self.at(name) as container:
            container.set_container_access_policy(signed_identifiers={}, public_access=_public(access))

    def list(self, prefix: str) -> "list[Container]":
        with named("the list of containers"):
            found = self._client.list_containers(name_starts_with=prefix or None, include_metadata=True)
            return [_container(one) for one in found]

    def delete(self, name: str) -> None:
        with self.at(name) as container:
            container.delete_container()

    @contextmanager
    def at(self, name: str, about: str = "") -> Iterator[ContainerClient]:
        try:
            check_store_name("container", name)
        except Invalid:
            if about:
                raise Invalid(f"there can be no container {name!r}") from None
            raise
        with named(about or f"container {name}"):
            yield self._client.get_container_client(name)


def _public(access: Access) -> Any:
    return _PUBLIC if access == "public" else None


def _container(properties: Any) -> Container:
    return Container(
        name=properties.name,
        access="public" if properties.public_access else "private",
        etag=properties.etag,
        last_modified=properties.last_modified.astimezone(UTC),
        metadata=from_headers(properties.metadata),
    )
