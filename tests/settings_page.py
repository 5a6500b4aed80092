"""The example of docs/settings-page.md, and a server that shows it to one logged-in user."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

PROGRAM = Path(__file__).parents[1] / "examples" / "settings_page.py"


def example() -> ModuleType:
    """Return the module of the example."""
    spec = importlib.util.spec_from_file_location("settings_page", PROGRAM)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def served(call: Callable[..., Any], user_id: str) -> Iterator[str]:
    """Serve the page to a user on the loopback address. Yield its URL."""
    page = example()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = page.show(call, user_id).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            page.save(call, user_id, form)
            self.send_response(303)
            self.send_header("Location", "/")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
