"""The operator's commands against a running site, as a shell sees them."""

import json
import re
import urllib.request
from pathlib import Path

import pytest

from infra.commands.tickets import _headline
from infra.pools import read_pools
from shared.errors import NotFound
from shared.queues import Message
from shared.search import SEARCH
from shared.search.writer import LOCK
from shared.services import Services, open_services
from shared.settings import Settings
from shared.videos import Plan
from tests.azurite.running import KEY, Account
from tests.infra.running import Site
from tests.workers.making import a_video

PASSWORD = "correct horse battery\n"


@pytest.fixture(scope="module")
def services(running: Site) -> Services:
    secret = (running.data / "secret-key").read_text().strip()
    return open_services(Settings(storage=f"local:{running.data}", secret_key=secret), caller="test")


@pytest.fixture(scope="module")
def anna(running: Site) -> str:
    made = running.manage("user", "create", "anna", "--role", "creator", "--password-stdin", stdin=PASSWORD)
    assert (made.returncode, made.stdout) == (0, "made anna, creator\n")
    return "anna"


def test_an_account_made_is_in_the_list(running: Site, anna: str) -> None:
    lines = running.manage("user", "list").stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["admin", "admin"], [anna, "creator"]]


def test_a_name_that_is_taken_is_refused_in_a_sentence(running: Site, anna: str) -> None:
    again = running.manage("user", "create", "Anna", "--password-stdin", stdin=PASSWORD)
    assert again.returncode == 1
    assert again.stderr == "the name 'Anna' is taken\n"


def test_a_short_password_is_refused(running: Site) -> None:
    refused = running.manage("user", "create", "berta", "--password-stdin", stdin="short\n")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "a password has 8" in refused.stderr


def test_without_a_terminal_a_password_is_only_read_when_asked_for(running: Site) -> None:
    refused = running.manage("user", "create", "berta", stdin=PASSWORD)
    assert refused.returncode == 1
    assert "--password-stdin" in refused.stderr


def test_an_unknown_role_is_refused_with_those_there_are(running: Site) -> None:
    refused = running.manage("user", "create", "berta", "--role", "king", "--password-stdin", stdin=PASSWORD)
    assert refused.returncode == 2
    assert "viewer" in refused.stderr


def test_a_role_can_be_changed(running: Site, services: Services, anna: str) -> None:
    assert running.manage("user", "role", anna, "operator").returncode == 0
    assert services.people.by_name(anna).may("operator")
    assert running.manage("user", "role", anna, "creator").returncode == 0


def test_a_new_password_ends_every_session(running: Site, services: Services, anna: str) -> None:
    before = services.people.by_name(anna)
    assert running.manage("user", "password", anna, "--password-stdin", stdin="another password\n").returncode == 0
    after = services.people.by_name(anna)
    assert after.password != before.password
    assert after.session_key != before.session_key


def test_a_token_may_be_made_for_some_days(running: Site, anna: str) -> None:
    running.manage("token", "create", anna, "--label", "visitor", "--days", "30")
    [line] = [line for line in running.manage("token", "list", anna).stdout.splitlines() if "visitor" in line]
    assert len(re.findall(r"20\d\d-\d\d-\d\d", line)) == 2
    assert "days" in running.manage("token", "create", anna, "--days", "0").stderr


def test_a_token_is_all_that_is_printed_and_opens_the_api(running: Site, anna: str) -> None:
    made = running.manage("token", "create", anna, "--label", "laptop")
    token = made.stdout.removesuffix("\n")
    assert token.startswith("mtn_")
    assert token.split() == [token]
    request = urllib.request.Request(f"{running.url}/api/v1/uploads", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert json.loads(answer.read()) is not None


def test_a_revoked_token_opens_nothing(running: Site, services: Services, anna: str) -> None:
    token = running.manage("token", "create", anna, "--label", "lost").stdout.strip()
    token_id = next(
        line.split()[0] for line in running.manage("token", "list", anna).stdout.splitlines() if "lost" in line
    )
    assert running.manage("token", "revoke", anna, token_id).returncode == 0
    with pytest.raises(NotFound):
        services.people.by_token(token)


def test_nobody_and_nothing_are_named_in_a_sentence(running: Site) -> None:
    for words in (
        ["token", "create", "nobody"],
        ["video", "show", "11111111111"],
        ["video", "delete", "11111111111"],
        ["tickets", "poison", "show", "ingest/none"],
    ):
        refused = running.manage(*words)
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
        assert "Traceback" not in refused.stderr


def test_a_video_is_shown_with_what_its_owner_is_told_of_it(running: Site, services: Services) -> None:
    plan = Plan(recipe=1, duration=2.0, width=320, height=180, parts=(), first=(), notes=("the subtitles were left out",))
    video = a_video(services, state="published", indexed=1)
    services.catalog.record_plan(video.id, 1, plan)
    shown = running.manage("video", "show", video.id).stdout.splitlines()
    assert "note          the subtitles were left out" in shown
    assert running.manage("video", "delete", video.id).returncode == 0


def test_a_failed_video_is_tried_again_and_one_that_did_not_fail_is_not(running: Site, services: Services) -> None:
    video = a_video(services, state="failed", reason="Something went wrong", indexed=1)
    tried = running.manage("video", "retry", video.id)
    assert (tried.returncode, tried.stdout) == (0, f"{video.id} is on its way again\n")
    assert "reopened" in [event.what for event in services.catalog.events(video.id)]
    deleted = running.manage("video", "delete", video.id)
    assert (deleted.returncode, deleted.stdout) == (0, f"deleted {video.id}; its files go within moments\n")
    again = running.manage("video", "retry", video.id)
    assert (again.returncode, again.stderr) == (1, "there is nothing to try again: no work on this video was given up\n")


def test_every_queue_is_listed_with_its_depth(running: Site, services: Services) -> None:
    lines = running.manage("tickets", "queues").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:8]] == [
        "ingest", "transcode-high", "transcode-normal", "transcode-low", "index", "events", "housekeeping",
    ]  # fmt: skip


def test_a_lost_index_is_made_anew_from_the_catalog(running: Site, services: Services) -> None:
    video = a_video(services, state="published", title="A walrus", published=services.clock.now())
    assert running.manage("index", "rebuild").returncode == 0
    for blob in services.blobs.list_blobs(SEARCH).blobs:
        if blob.name != LOCK:
            services.blobs.delete(SEARCH, blob.name)
    made = running.manage("index", "rebuild")
    assert (made.returncode, made.stdout) == (0, "1 videos can be found in the new index\n")
    services.finder.refresh()
    assert [hit.video for hit in services.finder.search("walrus").hits] == [video.id]
    assert running.manage("video", "delete", video.id).returncode == 0


def poisoned(services: Services, body: str) -> str:
    message: Message = services.queues.send("index-poison", body)
    services.queues.clear("index-poison")
    return services.poison.set_aside("index", message, "it would not be read").id


def test_a_ticket_set_aside_can_be_looked_at_and_dropped(running: Site, services: Services) -> None:
    poison_id = poisoned(services, "not a ticket")
    assert poison_id in running.manage("tickets", "poison", "list").stdout
    assert _headline("it would not be read\nTraceback (most recent call last)") == "it would not be read"
    assert len(_headline("x" * 500)) == 80
    shown = running.manage("tickets", "poison", "show", poison_id).stdout
    assert "it would not be read" in shown
    assert "not a ticket" in shown
    assert running.manage("tickets", "poison", "replay", poison_id).returncode == 1
    assert running.manage("tickets", "poison", "purge", poison_id).returncode == 0
    assert running.manage("tickets", "poison", "list").stdout == "No ticket is set aside.\n"


def test_replaying_needs_to_be_told_what(running: Site) -> None:
    refused = running.manage("tickets", "poison", "replay")
    assert refused.returncode == 1
    assert "--all" in refused.stderr


def test_a_dry_sweep_of_a_tidy_site_finds_nothing(running: Site) -> None:
    assert running.manage("sweep", "--dry-run").stdout == "Nothing to sweep.\n"


def test_settings_say_their_value_and_where_it_is_from(running: Site) -> None:
    said = {line.split()[0]: line for line in running.manage("settings").stdout.splitlines()}
    assert said["MATINEE_GRACE"].split()[1:] == ["3.0", "environment"]
    assert said["MATINEE_LEASE"].endswith("default")
    assert (running.data / "secret-key").read_text().strip() not in said["MATINEE_SECRET_KEY"]


def test_the_doctor_finds_this_machine_fit(running: Site) -> None:
    seen = running.manage("doctor")
    assert seen.returncode == 0
    assert "WRONG" not in seen.stdout
    assert {line.split()[1] for line in seen.stdout.splitlines()} >= {"ffmpeg", "ffprobe", "storage"}


def test_a_folder_without_a_site_is_not_made_into_one_by_looking(tmp_path: Path) -> None:
    refused = Site(tmp_path / "none").manage("video", "list")
    assert refused.returncode == 1
    assert "There is no site" in refused.stderr
    assert not (tmp_path / "none").exists()


def test_settings_show_no_key(tmp_path: Path, account: Account) -> None:
    site = Site(tmp_path / "data", MATINEE_STORAGE=account.connection_string)
    shown = site.manage("settings")
    assert shown.returncode == 0, shown.stderr
    assert f"Azure Storage account {account.name}" in shown.stdout
    assert KEY not in shown.stdout + shown.stderr
    assert KEY not in repr(Settings(storage=account.connection_string))
    told = site.manage("doctor")
    assert told.returncode == 0, told.stdout
    assert f"Azure Storage account {account.name} can be written" in told.stdout
    assert KEY not in told.stdout + told.stderr


def test_a_storage_nobody_knows_is_refused_without_showing_it(tmp_path: Path) -> None:
    site = Site(tmp_path / "data", MATINEE_STORAGE="SharedAccessSignature=secret;BlobEndpoint=nowhere")
    refused = site.manage("storage", "init", "--origin", "http://127.0.0.1:8000")
    assert refused.returncode == 1
    assert "MATINEE_STORAGE must be local:PATH" in refused.stderr
    assert "secret;" not in refused.stdout + refused.stderr


def test_the_workers_of_the_machine_are_listed(running: Site) -> None:
    lines = running.manage("workers", "list").stdout.splitlines()
    assert lines[0].split()[:4] == ["PID", "POOL", "UP", "TASKS"]
    assert {line.split()[1] for line in lines[1:]} == {pool.name for pool in read_pools()}


def test_a_subscription_is_made_shown_and_ended_by_command(running: Site) -> None:
    made = running.manage(
        "subscriptions", "create", "cutters", "--url", "https://cutters.example/x", "--equal", "type=video.published",
        "--sql", "duration > 60", "--action", "SET desk = 'film'",
    )  # fmt: skip
    assert made.stdout.startswith("whsec_")
    assert made.stdout.strip() not in running.manage("subscriptions", "show", "cutters").stdout
    assert "cutters.example" in running.manage("subscriptions", "list").stdout
    assert "sub-" not in running.manage("tickets", "queues").stdout
    wrong = running.manage("subscriptions", "create", "other", "--sql", "duration >")
    assert (wrong.returncode, "near" in wrong.stderr) == (1, True)
    running.manage("subscriptions", "disable", "cutters")
    assert "disabled: by an operator" in running.manage("subscriptions", "list").stdout
    assert running.manage("subscriptions", "enable", "cutters").returncode == 0
    assert running.manage("subscriptions", "replay", "cutters").stdout == "0 to be delivered again\n"
    assert running.manage("subscriptions", "delete", "audit").returncode == 1
    assert running.manage("subscriptions", "delete", "cutters").returncode == 0
    assert running.manage("audit", "--limit", "3").returncode == 0
