"""An account opened by the machine's identity: no key anywhere, links signed by one the service lends for a day.

Azurite takes such tokens over https and checks all but their signature; the token is the edge that is not ours.
"""

import base64
import json
import ssl
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from azure.core.credentials import AccessToken
from azure.storage.blob import BlobServiceClient
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from shared.azure.account import Account, open_account
from shared.azure.blobs import AzureBlobs
from shared.azure.transport import Transport
from shared.errors import Invalid
from tests.azurite.running import azurite

HOUR = timedelta(hours=1)


class Identity:
    def get_token(self, *_: str, **__: Any) -> AccessToken:
        now = int(time.time())
        said = {
            "aud": "https://storage.azure.com", "iss": f"https://sts.windows.net/{uuid.UUID(int=1)}/", "nbf": now - 10,
            "iat": now - 10, "exp": now + 3600, "oid": str(uuid.UUID(int=2)), "tid": str(uuid.UUID(int=1)),
        }  # fmt: skip
        return AccessToken(f"{_part({'alg': 'RS256', 'typ': 'JWT'})}.{_part(said)}.unsigned", now + 3600)


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of this machine's loopback, signed by itself, in one file with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.OID_COMMON_NAME, "test")])
    address = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - HOUR).not_valid_after(now + 24 * HOUR).add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path_factory.mktemp("certificate") / "both.pem"
    path.write_bytes(made.public_bytes(pem) + secret)
    return path


@pytest.fixture(scope="module")
def asked() -> list[tuple[str, ...]]:
    """Every request made with the identity."""
    return []


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory, certificate: Path, asked: list[Any]) -> Iterator[AzureBlobs]:
    with azurite(tmp_path_factory.mktemp("azurite"), certificate) as emulator:
        account = emulator.account()
        transport = Transport("blob", lambda *request: asked.append(request))
        transport.connection_config.verify = str(certificate)
        client = BlobServiceClient(account.blob, Identity(), transport=transport)
        opened = AzureBlobs(Account(blobs=client, queues=None, tables=None, name=account.name))  # type: ignore[arg-type]
        opened.create_container("media")
        yield opened


def fetch(certificate: Path, url: str, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    context = ssl.create_default_context(cafile=str(certificate))
    try:
        request = Request(url, body, {"x-ms-blob-type": "BlockBlob"} if body else {}, method=method)
        with urlopen(request, context=context) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, b""


def test_a_link_is_signed_by_a_key_the_service_lends(blobs: AzureBlobs, certificate: Path) -> None:
    blobs.put("media", "a", b"hello")
    url = blobs.signed_url("media", "a", right="read", expires_in=HOUR)
    assert "skoid=" in url, "signed in the identity's name"
    assert fetch(certificate, url) == (200, b"hello")
    assert fetch(certificate, url, "PUT", b"changed")[0] == 403
    assert fetch(certificate, f"{url}x")[0] == 403


def test_blocks_can_be_sent_by_such_a_link(blobs: AzureBlobs, certificate: Path) -> None:
    address = blobs.block_address("media", "upload", expires_in=HOUR)
    assert fetch(certificate, address.url.replace("{block_id}", "AAAA"), "PUT", b"block")[0] == 201
    assert [block.size for block in blobs.get_block_list("media", "upload").staged] == [5]


def test_the_key_is_asked_for_once_for_many_links(blobs: AzureBlobs, asked: list[Any]) -> None:
    for number in range(20):
        blobs.signed_url("media", str(number), right="read", expires_in=HOUR)
    assert len([address for _, _, address, _ in asked if "userdelegationkey" in address]) == 1


def test_an_address_names_the_account_and_its_three_services() -> None:
    account = open_account("https://videos.blob.core.windows.net")
    assert (account.name, account.key) == ("videos", None)
    assert account.queues.url.rstrip("/") == "https://videos.queue.core.windows.net"
    assert account.tables.url.rstrip("/") == "https://videos.table.core.windows.net"


@pytest.mark.parametrize("address", ["https://example.com", "https://", "https://videos.queue.core.windows.net"])
def test_an_address_of_anything_else_is_refused(address: str) -> None:
    with pytest.raises(Invalid, match="MATINEE_STORAGE"):
        open_account(address)
