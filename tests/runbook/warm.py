"""Commands that run in forks of a process that has imported their program.

Importing a program takes more than a second of CPU, and the pages run some 200 commands. A command
on PATH is a small script that passes its arguments, folder, environment and streams to the server
of its program. The server forks, and the child runs the program as its installed script would.
"""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.engine import ROOT

_SERVER = ROOT / "demo" / "warm_server.py"

_COMMAND = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode())
    server.shutdown(socket.SHUT_WR)
    _, *status = server.makefile()
sys.exit(int(*status) if status else "The server of this command has ended.")
"""


@dataclass(frozen=True, slots=True)
class Program:
    """The interpreter and the entry point (`module:function`) of a command.

    `modules` are imported in advance too, because the program imports them when it needs them.
    """

    python: Path
    entry_point: str
    modules: tuple[str, ...] = ()


@contextmanager
def warm_commands(folder: Path, programs: dict[str, Program]) -> Iterator[None]:
    """Write commands to `folder` that work while the block runs."""
    with ExitStack() as servers:
        for name, program in programs.items():
            address = folder / f".{name}"
            server = servers.enter_context(
                subprocess.Popen(
                    [
                        *(str(program.python), "-P", str(_SERVER), str(address)),
                        *(program.entry_point, *program.modules),
                    ],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            assert server.stdin
            assert server.stdout
            servers.callback(server.stdin.close)  # the server ends with its standard input
            assert server.stdout.readline() == b"ready\n"
            command = folder / name
            command.write_text(_COMMAND.format(python=program.python, address=str(address)))
            command.chmod(0o755)
        yield
