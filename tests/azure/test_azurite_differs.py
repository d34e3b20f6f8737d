"""Where Azurite is not as Azure is documented to be, each difference held, so that a new Azurite that mends one is seen.

Those that touch a sentence of the contract are declared in tests/contract/azure.py, and asserted by the suite.
"""

from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import HttpResponseError

from shared.azure.account import open_account
from shared.azure.stores import open_azure
from tests.azurite.running import Account


def test_put_block_from_url_works_where_the_source_may_be_read(account: Account) -> None:
    """Earlier releases of Azurite lacked it. Nothing of ours uses it: a copy checks every byte on the way."""
    blobs, _, _ = open_azure(account.connection_string, lambda *_: None)
    blobs.create_container("copies")
    blobs.put("copies", "source", b"bytes")
    link = blobs.signed_url("copies", "source", right="read", expires_in=timedelta(hours=1))
    target = open_account(account.connection_string).blobs.get_blob_client("copies", "target")
    target.stage_block_from_url("0000", link)
    assert [block.size for block in blobs.get_block_list("copies", "target").staged] == [5]
    with pytest.raises(HttpResponseError):
        target.stage_block_from_url("0001", link.partition("?")[0])


def test_a_key_to_sign_with_is_given_to_an_identity_only(account: Account) -> None:
    """As on Azure; but Azurite knows identities only over https, so links are signed here by the account's key."""
    service = open_account(account.connection_string).blobs
    with pytest.raises(HttpResponseError):
        service.get_user_delegation_key(datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1))


def test_a_container_deleted_can_be_made_again_at_once(account: Account) -> None:
    """Azure says 409 ContainerBeingDeleted for half a minute; a test may not count on either."""
    blobs, _, _ = open_azure(account.connection_string, lambda *_: None)
    blobs.create_container("again")
    blobs.delete_container("again")
    blobs.create_container("again")


def test_a_control_character_in_a_message_sent_as_text_breaks_the_queue(account: Account) -> None:
    """Azure refuses what XML cannot hold; Azurite takes it, then answers 500. Ours are base64 and never meet it."""
    statuses: list[int] = []
    client = open_account(account.connection_string, lambda *request: statuses.append(request[-1])).queues
    plain = client.create_queue("plain")
    plain.send_message("a\x01b")
    with pytest.raises(HttpResponseError):
        list(plain.receive_messages())
    assert statuses[-1] == 500
    _, queues, _ = open_azure(account.connection_string, lambda *_: None)
    queues.ensure("ours")
    queues.send("ours", "a\x01b")
    assert [message.body for message in queues.receive("ours")] == ["a\x01b"]
