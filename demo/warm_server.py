"""The server of a warm program. It imports a program once and forks for each run.

It runs on the interpreter of the program, which may be in a different environment. It ends with its
standard input.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
from collections.abc import Mapping


def main() -> None:
    """Serve the entry point `argv[2]` on the Unix socket `argv[1]`.

    The entry point is `module:function`; `__main__:run_script` runs the script that each run names.
    Import the modules of the further arguments too, because the program imports them when it needs
    them. `package.*` names each module of a package.
    """
    address, entry_point, *modules = sys.argv[1:]
    module, _, function = entry_point.partition(":")
    before = dict(os.environ)
    program = getattr(importlib.import_module(module), function)
    for each in modules:
        if each.endswith(".*"):
            _import_all(each.removesuffix(".*"))
        else:
            importlib.import_module(each)
    set_by_imports = dict(os.environ.items() - before.items())
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # do not wait for the children
        while server in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            with connection:
                if os.fork():
                    continue
                server.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                if _becomes_program(connection, set_by_imports):
                    break
                os._exit(0)
        else:
            return
    sys.exit(program())


def _import_all(package: str) -> None:
    """Import each module of a package. One that fails does so again in the run that needs it."""
    with contextlib.suppress(Exception):
        for module in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}.", onerror=lambda _: None
        ):
            with contextlib.suppress(Exception):
                importlib.import_module(module.name)


def run_script() -> None:
    """Run the script `argv[0]`."""
    runpy.run_path(sys.argv[0], run_name="__main__")


def _becomes_program(connection: socket.socket, set_by_imports: Mapping[str, str]) -> bool:
    """Return True in a new child, which has the arguments, folder, environment and streams.

    In the parent, send the process id of the child, wait for the child, and send its exit status.
    """
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as request:
        arguments, folder, environment = json.load(request)
    if child := os.fork():
        with contextlib.suppress(BrokenPipeError):  # the client has ended
            connection.sendall(f"{child}\n".encode())
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            connection.sendall(f"{status}\n".encode())
        return False
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    # The server's streams know whether its own are seekable.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 -- closed with the process
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment | set_by_imports)
    sys.argv = arguments
    return True


if __name__ == "__main__":
    main()
