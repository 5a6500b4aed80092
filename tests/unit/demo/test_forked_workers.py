"""Workers of the engine are forks of a process that has imported most of their modules."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from demo.forked_workers import Servers

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only"),
]

_SCRIPT = """
import os, sys
imported = {"pynamodb.models", "of_package.works"} <= sys.modules.keys()
import of_layer
for line in sys.stdin:
    print(line.strip(), os.environ["SETTING"], os.getcwd(), of_layer.VERSION, imported, flush=True)
sys.exit(3)
"""


Start = Callable[..., Any]


def _answer(worker: Any) -> list[str]:
    worker.stdin.write("event\n")
    return str(worker.stdout.readline()).split()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine's folder, which contains the servers' sockets."""
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    for _, server in servers._running.values():
        with server:
            pass  # a server ends with its standard input


@pytest.fixture
def start(
    servers: Servers, tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Start]:
    """Start a worker as the engine does. Its layer contains a module of this version.

    It also contains a package with a module that cannot be imported.
    """
    monkeypatch.chdir(engine)
    monkeypatch.setattr("demo.forked_workers._PACKAGES", ("of_package", "of_no_layer"))
    with ExitStack() as open_streams:

        def start(setting: str, version: int = 1) -> Any:
            layer = tmp_path / f"layer-{version}" / "python"
            layer.mkdir(parents=True, exist_ok=True)
            (layer / "of_layer.py").write_text(f"VERSION = {version}")
            package = layer / "of_package"
            package.mkdir(exist_ok=True)
            for name, code in {"__init__": "", "fails": "1 / 0", "works": ""}.items():
                (package / f"{name}.py").write_text(code)
            script = tmp_path / "_worker.py"
            script.write_text(_SCRIPT)
            folder = tmp_path / setting
            folder.mkdir(exist_ok=True)
            worker = servers.popen(
                [sys.executable, str(script)],
                cwd=str(folder),
                env={**os.environ, "SETTING": setting, "_LAMBDA_LAYERS_DIRS": str(layer.parent)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
            open_streams.callback(worker.wait, 30)
            for stream in (worker.stdin, worker.stdout, worker.stderr):
                open_streams.enter_context(closing(stream))
            return worker

        yield start


def test_each_worker_has_its_own_environment_and_folder(start: Start, tmp_path: Path) -> None:
    for setting in ("a", "b"):
        worker = start(setting)
        assert _answer(worker) == ["event", setting, str(tmp_path / setting), "1", "True"]
        assert worker.poll() is None
        worker.stdin.close()
        assert worker.wait(30) == 3


def test_worker_imports_its_own_version_of_a_layer(start: Start) -> None:
    assert [_answer(start("a", version))[3] for version in (1, 2)] == ["1", "2"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_worker_ends_and_the_next_one_starts(start: Start, number: int) -> None:
    worker = start("a")
    with pytest.raises(subprocess.TimeoutExpired):
        worker.wait(0.01)
    worker.terminate() if number == signal.SIGTERM else worker.kill()
    assert worker.wait(30) == worker.poll() == -number
    assert worker.stdout.readline() == ""
    assert _answer(start("b"))[1] == "b"


def test_a_server_that_has_ended_is_started_again(start: Start, servers: Servers) -> None:
    start("a")
    for _, server in servers._running.values():
        with server:
            server.kill()
    assert _answer(start("b"))[1] == "b"


def test_layers_without_the_modules_are_reported(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demo.forked_workers._MODULES", ("a_module_of_no_layer",))
    with pytest.raises(RuntimeError, match="lack modules"):
        start("a", version=3)


def test_process_without_layers_is_started_as_usual(servers: Servers, tmp_path: Path) -> None:
    with servers.popen([sys.executable, "-c", ""], cwd=tmp_path, env={**os.environ}) as process:
        assert isinstance(process, subprocess.Popen)
        assert process.wait(30) == 0
