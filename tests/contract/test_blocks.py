"""Blocks: staged in any order by many at once, unreadable until a list of them becomes the content."""

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from shared.blobs import MAX_BLOCK_ID_BYTES, MAX_BLOCKS, UNCOMMITTED_LIFE, Blobs, Block
from shared.errors import Invalid, NotFound
from tests.contract.backend import Backend
from tests.contract.making import a_blob_of_blocks, block_id, fresh, md5


def test_the_list_decides_the_order_not_the_staging(blobs: Blobs, container: str) -> None:
    for number in (2, 0, 1):
        blobs.stage_block(container, "a", block_id(number), b"%d" % number)
    blob = blobs.commit_block_list(container, "a", [block_id(number) for number in (1, 2, 0)])
    assert blobs.get(container, "a") == b"120"
    assert blob == blobs.stat(container, "a")
    assert blob.size == 3


def test_staging_says_what_it_keeps(blobs: Blobs, container: str) -> None:
    assert blobs.stage_block(container, "a", block_id(1), b"12345") == Block(id=block_id(1), size=5)


def test_staged_blocks_are_unreadable(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"x")
    for act in (blobs.get, blobs.stat, blobs.read):
        with pytest.raises(NotFound):
            act(container, "a")
    assert blobs.list_blobs(container).blobs == ()


def test_a_name_with_nothing_but_staged_blocks_is_not_there_to_delete(
    backend: Backend, blobs: Blobs, container: str
) -> None:
    blobs.stage_block(container, "a", block_id(1), b"x")
    if not backend.delete_drops_staged_only:
        with pytest.raises(NotFound):
            blobs.delete(container, "a")
        assert blobs.get_block_list(container, "a").staged
        return
    blobs.delete(container, "a")
    with pytest.raises(NotFound):
        blobs.get_block_list(container, "a")


def test_staging_leaves_committed_content_as_it_is(blobs: Blobs, container: str) -> None:
    before = blobs.put(container, "a", b"before")
    blobs.stage_block(container, "a", block_id(1), b"x")
    assert blobs.stat(container, "a") == before
    assert blobs.get(container, "a") == b"before"


def test_the_latest_of_equal_ids_wins(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"first")
    blobs.stage_block(container, "a", block_id(1), b"second")
    assert blobs.get_block_list(container, "a").staged == (Block(id=block_id(1), size=6),)
    blobs.commit_block_list(container, "a", [block_id(1)])
    assert blobs.get(container, "a") == b"second"


def test_a_block_may_appear_twice(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"xy")
    blobs.commit_block_list(container, "a", [block_id(1), block_id(1)])
    assert blobs.get(container, "a") == b"xyxy"
    assert b"".join(blobs.read(container, "a", start=1, end=3)) == b"yx"


def test_a_wrong_checksum_leaves_the_earlier_block(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"good", content_md5=md5(b"good"))
    with pytest.raises(Invalid):
        blobs.stage_block(container, "a", block_id(1), b"baad", content_md5=md5(b"good"))
    blobs.commit_block_list(container, "a", [block_id(1)])
    assert blobs.get(container, "a") == b"good"


def test_an_unknown_id_is_refused_and_changes_nothing(blobs: Blobs, container: str) -> None:
    before = a_blob_of_blocks(blobs, container, "a", b"0", b"1")
    blobs.stage_block(container, "a", block_id(5), b"5")
    with pytest.raises(Invalid):
        blobs.commit_block_list(container, "a", [block_id(5), block_id(9)])
    assert blobs.stat(container, "a") == before
    assert blobs.get_block_list(container, "a").staged == (Block(id=block_id(5), size=1),)


def test_a_list_may_mix_staged_and_committed_blocks(blobs: Blobs, container: str) -> None:
    a_blob_of_blocks(blobs, container, "a", b"zero", b"one", b"two")
    blobs.stage_block(container, "a", block_id(1), b"ONE")
    blobs.commit_block_list(container, "a", [block_id(2), block_id(1), block_id(0)])
    assert blobs.get(container, "a") == b"twoONEzero"


def test_a_commit_makes_garbage_of_everything_left_out(blobs: Blobs, container: str) -> None:
    a_blob_of_blocks(blobs, container, "a", b"0", b"1")
    blobs.stage_block(container, "a", block_id(2), b"2")
    blobs.stage_block(container, "a", block_id(3), b"3")
    blobs.commit_block_list(container, "a", [block_id(1), block_id(3)])
    blocks = blobs.get_block_list(container, "a")
    assert [block.id for block in blocks.committed] == [block_id(1), block_id(3)]
    assert blocks.staged == ()
    with pytest.raises(Invalid):
        blobs.commit_block_list(container, "a", [block_id(0)])


def test_blocks_kept_by_a_commit_outlive_the_collection_of_garbage(
    backend: Backend, blobs: Blobs, container: str
) -> None:
    a_blob_of_blocks(blobs, container, "a", b"0", b"1")
    blobs.commit_block_list(container, "a", [block_id(1)])
    blobs.set_metadata(container, "a", {"k": "v"})
    if backend.waits_for_days:
        backend.wait(8 * 86400)
    blobs.collect_garbage()
    assert blobs.get(container, "a") == b"1"


def test_a_commit_takes_type_cache_control_and_metadata(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x", content_type="text/plain", metadata={"old": "1"})
    blobs.stage_block(container, "a", block_id(1), b"y")
    blobs.commit_block_list(
        container, "a", [block_id(1)], content_type="video/mp4", cache_control="no-cache", metadata={"new": "2"}
    )
    blob = blobs.stat(container, "a")
    assert (blob.content_type, blob.cache_control, blob.metadata) == ("video/mp4", "no-cache", {"new": "2"})


def test_an_empty_list_makes_an_empty_blob(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"x")
    assert blobs.commit_block_list(container, "a", []).size == 0
    assert blobs.get(container, "a") == b""
    assert blobs.get_block_list(container, "a").staged == ()


def test_put_drops_staged_blocks(backend: Backend, blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"x")
    blobs.put(container, "a", b"whole")
    blocks = blobs.get_block_list(container, "a")
    assert blocks.committed == ()
    assert bool(blocks.staged) == backend.put_keeps_staged_blocks


def test_delete_drops_staged_blocks(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    blobs.stage_block(container, "a", block_id(1), b"y")
    blobs.delete(container, "a")
    with pytest.raises(NotFound):
        blobs.get_block_list(container, "a")


def test_all_ids_of_one_blob_have_one_length(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"x")
    with pytest.raises(Invalid):
        blobs.stage_block(container, "a", base64.b64encode(b"short").decode(), b"y")
    blobs.stage_block(container, "another", base64.b64encode(b"short").decode(), b"y")


@pytest.mark.parametrize("bad", ["", "not base64!", "AAA", base64.b64encode(bytes(MAX_BLOCK_ID_BYTES + 1)).decode()])
def test_an_impossible_id_is_refused(blobs: Blobs, container: str, bad: str) -> None:
    with pytest.raises(Invalid):
        blobs.stage_block(container, "a", bad, b"x")


def test_the_longest_id_fits(blobs: Blobs, container: str) -> None:
    longest = base64.b64encode(b"\xff" * MAX_BLOCK_ID_BYTES).decode()
    blobs.stage_block(container, "a", longest, b"x")
    blobs.commit_block_list(container, "a", [longest])
    assert blobs.get(container, "a") == b"x"


def test_an_empty_block_is_refused(blobs: Blobs, container: str) -> None:
    with pytest.raises(Invalid):
        blobs.stage_block(container, "a", block_id(1), b"")


def test_a_list_has_at_most_50_000_blocks(blobs: Blobs, container: str) -> None:
    blobs.stage_block(container, "a", block_id(1), b"x")
    with pytest.raises(Invalid):
        blobs.commit_block_list(container, "a", [block_id(1)] * (MAX_BLOCKS + 1))
    assert blobs.commit_block_list(container, "a", [block_id(1)] * MAX_BLOCKS).size == MAX_BLOCKS


def test_many_writers_stage_at_once(blobs: Blobs, container: str) -> None:
    numbers = range(60)
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda n: blobs.stage_block(container, "a", block_id(n), b"%03d" % n), numbers))
    blobs.commit_block_list(container, "a", [block_id(number) for number in numbers])
    assert blobs.get(container, "a") == b"".join(b"%03d" % number for number in numbers)


def test_uncommitted_names_are_listed_with_the_time_of_their_last_block(
    backend: Backend, blobs: Blobs, container: str
) -> None:
    blobs.stage_block(container, "up/a", block_id(1), b"x")
    backend.wait(1.1)
    blobs.stage_block(container, "up/a", block_id(2), b"y")
    blobs.stage_block(container, "up/b", block_id(1), b"x")
    blobs.put(container, "up/committed", b"x")
    blobs.stage_block(container, "up/committed", block_id(1), b"x")
    blobs.stage_block(container, "else", block_id(1), b"x")
    found = dict(blobs.list_uncommitted(container, prefix="up/"))
    assert sorted(found) == ["up/a", "up/b"]
    apart = (found["up/b"] - found["up/a"]).total_seconds()
    assert apart >= 1 if backend.tells_first_block_time else abs(apart) < 1


def test_uncommitted_blocks_can_be_discarded(blobs: Blobs, container: str) -> None:
    a_blob_of_blocks(blobs, container, "a", b"sta", b"ys")
    for name in ("a", "b"):
        blobs.stage_block(container, name, block_id(1), b"x")
        blobs.discard_uncommitted(container, name)
        blobs.discard_uncommitted(container, name)
    assert blobs.get_block_list(container, "a").staged == ()
    assert blobs.get(container, "a") == b"stays"
    with pytest.raises(NotFound):
        blobs.get_block_list(container, "b")


def test_discarding_leaves_content_put_whole_as_it_is(backend: Backend, blobs: Blobs, container: str) -> None:
    before = blobs.put(container, "a", b"stays")
    blobs.stage_block(container, "a", block_id(1), b"x")
    blobs.discard_uncommitted(container, "a")
    assert bool(blobs.get_block_list(container, "a").staged) != backend.discards_beside_whole
    assert (blobs.stat(container, "a"), blobs.get(container, "a")) == (before, b"stays")


def test_uncommitted_blocks_are_collected_after_a_week_without_another(
    backend: Backend, blobs: Blobs, container: str
) -> None:
    if not backend.waits_for_days:
        assert backend.collects_by_itself
        return
    blobs.stage_block(container, "kept", block_id(1), b"x")
    blobs.stage_block(container, "gone", block_id(1), b"x")
    backend.wait(UNCOMMITTED_LIFE.total_seconds() - 60)
    blobs.stage_block(container, "kept", block_id(2), b"x")
    backend.wait(61)
    blobs.collect_garbage()
    assert len(blobs.get_block_list(container, "kept").staged) == 2
    with pytest.raises(NotFound):
        blobs.get_block_list(container, "gone")


def test_any_sequence_of_block_operations_matches_a_model(backend: Backend, container: str) -> None:
    class Machine(BlockMachine):
        store = backend.blobs
        place = container
        put_keeps_staged = backend.put_keeps_staged_blocks
        discards_beside_whole = backend.discards_beside_whole

    Machine.TestCase.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)
    Machine.TestCase().runTest()


class BlockMachine(RuleBasedStateMachine):
    """One blob against a model: two dictionaries and a list."""

    store: Blobs
    place: str
    put_keeps_staged: bool
    discards_beside_whole: bool
    ids = st.sampled_from([block_id(number) for number in range(4)])

    @initialize()
    def begin(self) -> None:
        self.name = fresh("b")
        self.staged: dict[str, bytes] = {}
        self.committed: list[tuple[str, bytes]] = []
        self.content: bytes | None = None

    @rule(block=ids, data=st.binary(min_size=1, max_size=8))
    def stage(self, block: str, data: bytes) -> None:
        self.store.stage_block(self.place, self.name, block, data)
        self.staged[block] = data

    @rule(blocks=st.lists(ids, max_size=5))
    def commit(self, blocks: list[str]) -> None:
        known = dict(self.committed) | self.staged
        if not set(blocks) <= set(known):
            with pytest.raises(Invalid):
                self.store.commit_block_list(self.place, self.name, blocks)
            return
        self.store.commit_block_list(self.place, self.name, blocks)
        self.committed = [(block, known[block]) for block in blocks]
        self.content = b"".join(data for _, data in self.committed)
        self.staged = {}

    @rule(data=st.binary(max_size=8))
    def put(self, data: bytes) -> None:
        self.store.put(self.place, self.name, data)
        self.content, self.committed = data, []
        self.staged = self.staged if self.put_keeps_staged else {}

    @rule()
    def discard(self) -> None:
        self.store.discard_uncommitted(self.place, self.name)
        if self.content is None or self.committed or self.discards_beside_whole:
            self.staged = {}

    @rule()
    def collect(self) -> None:
        self.store.collect_garbage()

    @invariant()
    def agrees(self) -> None:
        if self.content is None:
            with pytest.raises(NotFound):
                self.store.get(self.place, self.name)
        else:
            assert self.store.get(self.place, self.name) == self.content
        if self.content is None and not self.staged:
            return
        blocks = self.store.get_block_list(self.place, self.name)
        assert [(block.id, block.size) for block in blocks.committed] == [(b, len(d)) for b, d in self.committed]
        assert {(block.id, block.size) for block in blocks.staged} == {(b, len(d)) for b, d in self.staged.items()}
