"""Fixtures for all tests: the real models, a fake one, places for an index, and a guard against the network."""

import ipaddress
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

# Before anything reads them: nothing may be fetched or reported.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["ANONYMIZED_TELEMETRY"] = "False"
os.environ.pop("S2B_EMBEDDING_CACHE", None)

import pytest
from embedders import RecordingEmbedder

from s2b_lab.core.build import sentence_tree
from s2b_lab.corpus import load
from s2b_lab.embed import embedder
from s2b_lab.index import Index

ROOT = Path(__file__).parent.parent


# Files and chapters that take longest: a worker that gets one of them last would work on while the other has nothing.
SLOW = (
    "test_live",
    "test_encoders",
    "test_fit",
    "test_kill",
    "test_benchmarks",
    "test_index",
    "test_folder",
    "test_axe",
    "test_everybody",
    "test_explorer",
    "test_processes",
)
VISITED = ("at_desk", "at_phone", "without_scripts")  # fixtures that visit a chapter once, for tests of many files


def _group(item: pytest.Item) -> str:
    """What one worker does in one go: tests that share a visit to a chapter of the book, or those of one file."""
    callspec = getattr(item, "callspec", None)
    chapter = next((callspec.params[name] for name in VISITED if callspec and name in callspec.params), None)
    return chapter or item.path.stem


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what takes longest begin first, and each group be one worker's."""
    groups = {item: _group(item) for item in items}
    files = {item.path.stem for item in items}

    def place(item: pytest.Item) -> int:
        group = groups[item]
        return 0 if group not in files else 1 + SLOW.index(group) if group in SLOW else 1 + len(SLOW)

    items.sort(key=place)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(groups[item]))


def _is_local(host: object) -> bool:
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host))
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(scope="session", autouse=True)
def no_network():
    """Fail on any connection or look-up that would leave this machine."""
    patch = pytest.MonkeyPatch()
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def checked(host: object) -> None:
        if not _is_local(host):
            raise AssertionError(f"a test reached for the network: {host!r}")

    def guarded(original):
        def call(self, address):
            if self.family in (socket.AF_INET, socket.AF_INET6):
                checked(address[0])
            return original(self, address)

        return call

    def looked_up(host, *args, **kwargs):
        checked(host)
        return getaddrinfo(host, *args, **kwargs)

    patch.setattr(socket.socket, "connect", guarded(connect))
    patch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    patch.setattr(socket, "getaddrinfo", looked_up)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def en():
    """The English model, loaded once."""
    return embedder("en")


@pytest.fixture(scope="session")
def zh():
    """The multilingual model, loaded once."""
    return embedder("zh")


@pytest.fixture
def fake():
    return RecordingEmbedder()


@pytest.fixture
def index(fake):
    """An index in memory with the fake model."""
    with Index.open(None, fake) as opened:
        yield opened


@pytest.fixture(scope="session")
def policy():
    """The sentences of the English policy."""
    return sentence_tree(load("travel-en"))


@pytest.fixture
def run_python():
    """Run a program in a fresh interpreter that finds the package; give what it printed."""

    def run(program: str, *arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess:
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        command = [sys.executable, "-c", program, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=300)
        assert not check or done.returncode == 0, done.stderr
        return done

    return run


class ChromaServer:
    """A real Chroma server on a loopback port."""

    def __init__(self, folder: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        program = Path(sys.executable).with_name("chroma")
        command = [program, "run", "--path", folder / "data", "--host", "127.0.0.1", "--port", str(self.port)]
        with open(folder / "server.log", "w") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        self._wait(folder / "server.log")

    def _wait(self, log: Path) -> None:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the Chroma server did not start: {log.read_text()}")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = ChromaServer(tmp_path_factory.mktemp("server"))
    yield running
    running.stop()


@pytest.fixture
def own_server(tmp_path):
    """A server that the test may stop."""
    running = ChromaServer(tmp_path)
    yield running
    running.stop()


@pytest.fixture(params=["memory", "folder", "server"])
def opened(request, tmp_path):
    """Open an index in each kind of place: opened(embedder) gives the same one each time but in memory."""
    name = f"t{abs(hash(request.node.nodeid))}"
    path = {"memory": lambda: None, "folder": lambda: tmp_path / "index"}.get(request.param)
    path = path() if path else request.getfixturevalue("server").address
    indexes = []

    def open_index(embedder, name=name):
        indexes.append(Index.open(path, embedder, name))
        return indexes[-1]

    open_index.lasts = path is not None
    yield open_index
    for index in indexes:
        index.close()
