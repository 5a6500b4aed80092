"""A loopback server that replaces AWS while functions start.

Every secret exists, and every table is empty.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

SECRET = json.dumps({"k1": "k" * 64}, separators=(",", ":"))
"""The value of every secret. Link keys must be JSON; the key for suppressions may be any text."""

_EMPTY = {"Items": [], "Count": 0, "ScannedCount": 0, "Attributes": {}}
_SECRET = {"ARN": "arn", "Name": "name", "VersionId": "v" * 32, "SecretString": SECRET}


def _no_rows(request: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    """Return a BatchGetItem response that lists every requested table without rows."""
    return {"Responses": {table: [] for table in request["RequestItems"]}, "UnprocessedKeys": {}}


@contextmanager
def answering(found: Mapping[str, object] | None = None) -> Iterator[str]:
    """Run a server that answers every request while the block runs. Yield its address.

    `found` maps each operation to its response, or to a function of the request. By default, tables
    are empty.
    """
    answers: dict[str, object] = {"GetSecretValue": _SECRET, "GetItem": {}, **(found or {})}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            """Answer the operation in the X-Amz-Target header, which AWS's JSON protocols use."""
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
            empty = _no_rows(request) if operation == "BatchGetItem" else _EMPTY
            answer = answers.get(operation, empty)
            body = json.dumps(answer(request) if callable(answer) else answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Discard the log message."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
