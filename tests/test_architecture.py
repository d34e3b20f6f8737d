"""The rules of the house that no linter knows."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from infra.commands.upkeep import markdown
from infra.manage import parser
from infra.pools import read_pools
from shared.settings import Settings
from shared.tickets import KINDS, QUEUES

ROOT = Path(__file__).resolve().parents[1]
HANDLERS = ROOT / "workers" / "handlers"
OURS = {"infra", "shared", "tests", "web", "workers"}
NOT_HANDLERS = {"__init__", "table"}
LONGEST_FILE = 450
LONGEST_FUNCTION = 60
COMMANDS = ("up", "test", "bench", "manage", "scaler", "lock")
README = (ROOT / "README.md").read_text()


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def python_files() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".py"]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def locked(name: str) -> dict[str, str]:
    text = (ROOT / "infra" / name).read_text()
    return dict(re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", text, re.MULTILINE))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_ticket_kind_has_a_handler_and_every_handler_a_kind() -> None:
    handlers = {path.stem for path in HANDLERS.glob("*.py")} - NOT_HANDLERS
    assert handlers == {str(kind.__struct_config__.tag) for kind in KINDS}


@pytest.mark.parametrize("path", sorted(HANDLERS.glob("*.py")), ids=lambda path: path.stem)
def test_a_handler_offers_one_function(path: Path) -> None:
    public = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    if path.stem not in NOT_HANDLERS:
        assert [name for name in public if not name.startswith("_")] in (["handle"], ["handle_batch"])


def test_the_pools_serve_exactly_the_queues_there_are() -> None:
    served = [queue for pool in read_pools() for queue in pool.queues]
    assert sorted(served) == sorted(QUEUES)


def test_every_backend_has_the_same_files() -> None:
    stores = {"blobs.py", "queues.py", "tables.py"}
    backends = [ROOT / "shared" / name for name in ("local", "azure") if (ROOT / "shared" / name).is_dir()]
    assert backends
    for backend in backends:
        assert stores <= {path.name for path in backend.glob("*.py")}


def test_the_readme_holds_the_settings_as_they_are() -> None:
    assert markdown() in README, "put the output of `infra/manage settings --markdown` into README.md"


def test_every_setting_is_documented() -> None:
    assert [setting.name for setting in fields(Settings) if not setting.metadata.get("help")] == []


def test_the_readme_names_every_command() -> None:
    assert [name for name in COMMANDS if f"infra/{name}" not in README] == []


def test_the_readme_names_every_command_of_the_operator() -> None:
    assert [words for words in subcommands() if f"`{words}" not in README] == []


def subcommands() -> Iterator[str]:
    """Each chain of words infra/manage takes, as "user create"."""

    def walk(parser, words: tuple[str, ...]) -> Iterator[str]:
        found = [
            action for action in parser._actions if hasattr(action, "choices") and isinstance(action.choices, dict)
        ]
        for action in found:
            for word, inner in action.choices.items():
                yield from walk(inner, (*words, word))
        if not found:
            yield " ".join(words)

    return walk(parser(), ())


def test_links_of_the_readme_lead_to_files() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text())
        missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
        assert missing == [], page


def test_no_file_is_too_long() -> None:
    lengths = {path.relative_to(ROOT): path.read_text().count("\n") for path in python_files()}
    assert {str(path): lines for path, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_function_is_too_long() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in python_files()
        for node in functions(path)
        if (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION
    }
    assert long == set()


def test_every_module_opens_with_a_sentence_saying_its_idea() -> None:
    silent = [path for path in python_files() if is_silent(path.read_text())]
    assert [str(path.relative_to(ROOT)) for path in silent] == []


def is_silent(source: str) -> bool:
    return bool(source.strip()) and ast.get_docstring(ast.parse(source)) is None


def test_only_the_settings_and_the_doors_read_the_environment() -> None:
    doors = {"shared/settings.py", "web/wsgi.py", "workers/pool.py"}
    readers = {
        str(path.relative_to(ROOT))
        for path in python_files()
        if path.relative_to(ROOT).parts[0] in ("shared", "web", "workers") and reads_environment(path)
    }
    assert readers <= doors


def reads_environment(path: Path) -> bool:
    return re.search(r"\bos\.(environ|getenv)\b|from os import", path.read_text()) is not None


def test_no_file_has_a_vague_name() -> None:
    vague = {"utils", "helpers", "common", "manager", "base", "misc", "core"}
    assert [str(path.relative_to(ROOT)) for path in python_files() if path.stem in vague] == []


def test_no_file_names_a_place_on_the_machine_it_was_written_on() -> None:
    homes = re.compile(r"(?<![\w.])/(?:home|Users|root|work)/\w+")
    text_files = [
        path for path in tracked_files() if path.suffix not in (".png", ".jpg", ".ico", ".mo", ".woff2", ".mp4")
    ]
    found = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in text_files
        for match in homes.finditer(path.read_text(errors="ignore"))
    }
    assert found == set()


def test_nothing_is_left_undone() -> None:
    marks = re.compile(r"#.*\b(TODO|FIXME|XXX|HACK)\b")
    own = {Path(__file__)}
    left = [path for path in python_files() if path not in own and marks.search(path.read_text())]
    assert [str(path.relative_to(ROOT)) for path in left] == []


@pytest.mark.parametrize(
    ("lock", "group"),
    [
        ("requirements.lock", None),
        ("requirements-dev.lock", "dev"),
        ("requirements-node.lock", "node"),
        ("requirements-peers.lock", "peers"),
    ],
)
def test_the_lock_holds_what_pyproject_asks_for(lock: str, group: str | None) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["dependency-groups"][group] if group else project["project"]["dependencies"]
    pinned = locked(lock)
    for requirement in map(Requirement, wanted):
        version = pinned.get(normal(requirement.name))
        assert version, f"{requirement} is not in {lock}: run infra/lock"
        assert requirement.specifier.contains(version, prereleases=True), (
            f"{requirement}, locked at {version}: run infra/lock"
        )


def test_every_package_imported_is_one_we_ask_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = {normal(Requirement(text).name) for text in project["project"]["dependencies"]}
    groups = project["dependency-groups"]
    tools = {normal(Requirement(text).name) for text in (*groups["dev"], *groups["peers"])}
    sources = packages_distributions()
    for path in python_files():
        allowed = asked | tools if path.is_relative_to(ROOT / "tests") else asked
        for package in imported(path) - OURS - sys.stdlib_module_names:
            assert {normal(name) for name in sources.get(package, [package])} & allowed, f"{path}: {package}"


def imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("lock", sorted((ROOT / "infra").glob("*.lock")), ids=lambda path: path.name)
def test_a_lock_has_a_hash_for_everything_and_an_address_for_nothing(lock: Path) -> None:
    text = lock.read_text()
    entries = re.findall(r"^[a-z0-9.-]+==(?:.*\\\n)*.*$", text, re.MULTILINE)
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links", text)


def test_packages_in_two_locks_have_one_version() -> None:
    site, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    assert {name: (site[name], dev[name]) for name in site.keys() & dev.keys() if site[name] != dev[name]} == {}
