"""The embedded engine, an AWS emulator on loopback to which the real stacks are deployed."""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
_ENGINE_PYTHON = ROOT / ".engine" / "bin" / "python"
_START = ROOT / "demo" / "engine_start.py"
WRITE_UNITS = "write_units.json"
"""The file in an engine's folder with the write units, updated whenever the tables are listed."""
_CDK = ROOT / "node_modules" / ".bin" / "cdk"
_ASSETS = ROOT / "build" / "assets"
"""The assets of earlier deployments, built and zipped. The CDK names them by their inputs."""
_STARTS_WITHIN = 60
_A_DAY = 24 * 60 * 60
_REGION = "us-east-1"
_ACCOUNT = "000000000000"


class EngineError(Exception):
    """An error for an engine that cannot be used. The message describes the remedy in one line."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine.

    `environment` redirects all AWS clients of a process to the engine. Functions run as child
    processes of process `process_id`.
    """

    url: str
    environment: Mapping[str, str]
    log: Path
    process_id: int

    def request(
        self, url: str, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, str, bytes]:
        """Send a request to the HTTP API at `url`.

        The engine routes requests by the Host header.
        """
        request = urllib.request.Request(  # noqa: S310 -- the engine's own address
            f"{self.url}{path}",
            data=body if method == "POST" else None,
            headers={**headers, "Host": urlsplit(url).netloc},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return answer.status, answer.headers["Content-Type"], answer.read()
        except urllib.error.HTTPError as err:
            return err.code, err.headers["Content-Type"], err.read()


@contextmanager
def running(*, ses_url: str, folder: Path, port: int = 0) -> Iterator[Engine]:
    """Run the engine on `port`, or on a free port, while the block runs.

    `folder` receives the engine's log and temporary files. Raise EngineError if the engine does not
    start.
    """
    _check_tools()
    port = _free_port(port)
    folder.mkdir(parents=True, exist_ok=True)
    url = f"http://127.0.0.1:{port}"
    log = folder / "engine.log"
    lock = _lock(folder)
    temporary = Path(tempfile.mkdtemp(prefix="engine-", dir=folder))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(_ENGINE_PYTHON), "-P", str(_START)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_engine_environment(port, ses_url, temporary)
            | {"DEMO_WRITE_UNITS": str((folder / WRITE_UNITS).resolve())},
            cwd=temporary,
        )
    engine = Engine(url, _client_environment(url), log, process.pid)
    try:
        _wait_until_it_answers(process, engine)
        yield engine
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(temporary, ignore_errors=True)
        lock.close()


def deploy(
    engine: Engine,
    folder: Path,
    *,
    base_url: str,
    stage: str = "local",
    app: str = "gazette_cdk.app",
    progress: Callable[[str], object] = lambda _: None,
    **settings: Any,
) -> dict[str, str]:
    """Deploy a stage with the CDK command line, including the bootstrap, and return its outputs.

    For any name, the stage has the settings of the stage `local`, overridden by `settings`.
    `base_url` is the base URL of the links in emails. `app` is the module that synthesises the
    stacks. `progress` is called after each step.
    """
    context = stage_context(stage, base_url=base_url, **settings)
    command = [sys.executable, "-m", app]
    outputs = deploy_app(engine, folder, command, context=context, progress=progress)
    progress(f"stage `{stage}` deployed by the CDK command line")
    return outputs


def deploy_app(
    engine: Engine,
    folder: Path,
    app: list[str],
    *,
    context: Mapping[str, Any],
    project: Path = ROOT,
    progress: Callable[[str], object] = lambda _: None,
) -> dict[str, str]:
    """Deploy the stacks of a CDK app, including the bootstrap, and return their outputs.

    `app` is the command that synthesises the stacks. It runs in the folder `project`. `progress` is
    called after the bootstrap and the synthesis.
    """
    assembly = folder / "cdk.out"
    outputs = folder / "outputs.json"
    environment = _cdk_environment(engine, assembly)
    environment["CDK_CONTEXT_JSON"] = json.dumps(context)
    bootstrap = _cdk("bootstrap", f"aws://{_ACCOUNT}/{_REGION}")
    with ThreadPoolExecutor(1) as beside:
        # Without an app, so that it need not wait for the assembly. cdk.json names an app.
        bootstrapped = beside.submit(
            _run, bootstrap, environment, folder / "bootstrap.log", cwd=folder
        )
        with shared_assets(assembly, _ASSETS):
            _run(app, environment, folder / "synth.log", cwd=project)
        bootstrapped.result()
    progress("account bootstrapped and stacks synthesised")
    _run(
        _cdk(
            *("deploy", "--all", "--app", str(assembly), "--require-approval", "never"),
            *("--method", "direct", "--concurrency", "2", "--outputs-file", str(outputs)),
        ),
        environment,
        folder / "deploy.log",
    )
    stacks = json.loads(outputs.read_text())
    return {name: value for stack in stacks.values() for name, value in stack.items()}


@contextmanager
def shared_assets(assembly: Path, shared: Path) -> Iterator[None]:
    """Link the assets in `shared` to the assembly that the block synthesises, and keep new ones.

    Building and zipping the layers takes longer than the rest of a synthesis and a deployment. Only
    one synthesis runs at a time, so that each asset is built once. Assets are kept for a day.
    """
    zips = shared / ".cache"  # the name that the CDK command line expects in an assembly
    for folder in (assembly, zips):
        folder.mkdir(parents=True, exist_ok=True)
    with (shared / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _delete_old(shared, assembly)
        for asset in (zips, *shared.glob("asset.*")):
            if not (assembly / asset.name).exists():
                (assembly / asset.name).symlink_to(asset)
        yield
        for asset in assembly.glob("asset.*"):
            if not (shared / asset.name).exists():
                copy = shared / "copy"
                shutil.rmtree(copy, ignore_errors=True)  # left by a process that was killed
                shutil.copytree(asset, copy)
                copy.rename(shared / asset.name)


def _delete_old(shared: Path, assembly: Path) -> None:
    """Delete assets and zips that are older than a day, and the links of an earlier synthesis."""
    for path in (*shared.glob("asset.*"), *shared.glob(".cache/*")):
        if path.stat().st_mtime < time.time() - _A_DAY:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in assembly.iterdir():
        if path.is_symlink():
            path.unlink()


def destroy(engine: Engine, folder: Path) -> None:
    """Delete the stacks that were last deployed from `folder`."""
    assembly = folder / "cdk.out"
    _run(
        _cdk("destroy", "--all", "--force", "--app", str(assembly)),
        _cdk_environment(engine, assembly),
        folder / "destroy.log",
    )


def _cdk(*arguments: str) -> list[str]:
    node = str(Path(sysconfig.get_path("scripts")) / "node")
    return [node, str(_CDK), "--no-notices", "--no-version-reporting", "--ci", *arguments]


def _cdk_environment(engine: Engine, assembly: Path) -> dict[str, str]:
    """Return the environment for the CDK.

    Skip the CDK's validation, which takes seconds and is part of tests/infra.
    """
    return {
        **os.environ,
        **engine.environment,
        "CDK_OUTDIR": str(assembly),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_VALIDATION": "false",
    }


def stage_context(stage: str, **settings: Any) -> dict[str, Any]:
    """Return the CDK context of a stage with the settings of `local`, overridden by `settings`."""
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    return {"stage": stage, "stages": {stage: {**stages["local"], **settings}}}


def _lock(folder: Path) -> IO[str]:
    """Lock the folder until the engine ends. The lock is released if the process ends."""
    lock = (folder / ".lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as err:
        lock.close()
        raise EngineError(
            f"Another run uses {folder.relative_to(ROOT)}. Wait for it, or stop it."
        ) from err
    return lock


def _check_tools() -> None:
    for tool in (_ENGINE_PYTHON, _CDK):
        if not tool.exists():
            raise EngineError(f"{tool.relative_to(ROOT)} is missing. Run `make setup`.")


def _free_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OverflowError, PermissionError) as err:
            raise EngineError(f"Port {port} cannot be used. Choose 1024 to 65535.") from err
        except OSError as err:
            raise EngineError(
                f"Port {port} on 127.0.0.1 is in use. Free it, choose another with PORT=..., or "
                "omit PORT to get a free one."
            ) from err
        return int(probe.getsockname()[1])


def _client_environment(url: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": _REGION,
        "AWS_REGION": _REGION,
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    }


def _engine_environment(port: int, ses_url: str, temporary: Path) -> dict[str, str]:
    """Return the engine's environment, which its functions inherit.

    It omits the caller's AWS configuration, and overrides only the endpoint of SES.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    inherited.pop("PYTHONPATH", None)
    return {
        **inherited,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1",
        "TMPDIR": str(temporary),
        "AWS_ENDPOINT_URL_SESV2": ses_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
        "LOG_LEVEL": "WARNING",
    }


def _wait_until_it_answers(process: subprocess.Popen[bytes], engine: Engine) -> None:
    ends_at = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < ends_at:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{engine.url}/_ministack/health", timeout=1):  # noqa: S310
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise EngineError(f"The engine did not start. See {engine.log}.")


def _run(
    command: list[str], environment: Mapping[str, str], log: Path, *, cwd: Path = ROOT
) -> None:
    with log.open("wb") as output:
        result = subprocess.run(
            command,
            env=dict(environment),
            cwd=cwd,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if result.returncode != 0:
        last = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise EngineError(f"{log.stem} failed. See {log}. Last line: {''.join(last)}")
