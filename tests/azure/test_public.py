"""What a container lets strangers read: nothing, or each blob whose name they know; never the list of them."""

from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

from shared.azure.blobs import AzureBlobs
from shared.azure.stores import open_azure
from tests.azurite.running import Account


def status(url: str) -> int:
    try:
        with urlopen(url) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def address(blobs: AzureBlobs, container: str, name: str) -> str:
    """Without a signature."""
    return blobs.signed_url(container, name, right="read", expires_in=timedelta(minutes=1)).partition("?")[0]


def test_strangers_read_blobs_of_a_public_container_until_it_is_closed(account: Account) -> None:
    blobs, _, _ = open_azure(account.connection_string, lambda *_: None)
    blobs.create_container("open", access="public")
    blobs.put("open", "a", b"hello")
    assert status(address(blobs, "open", "a")) == 200
    assert status(f"{account.blob}/open?restype=container&comp=list") in (401, 403, 404)
    blobs.set_container_access("open", "private")
    assert status(address(blobs, "open", "a")) in (401, 403, 404)


def test_strangers_read_nothing_of_a_private_container(account: Account) -> None:
    blobs, _, _ = open_azure(account.connection_string, lambda *_: None)
    blobs.create_container("closed")
    blobs.put("closed", "a", b"hello")
    assert status(address(blobs, "closed", "a")) in (401, 403, 404)
