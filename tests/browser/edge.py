"""What stands between a reader's browser and the preferences function: it changes nothing.

All methods and headers go through, both ways, so that a browser sees the policy that the function
sends with its pages. The engine tells functions apart by the Host that it is asked for.
"""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_OF_ONE_CONNECTION = {"connection", "host", "keep-alive", "transfer-encoding"}
_WITHIN = 60


class Edge:
    """The server. Start it as a context manager; `url` is where the links of emails lead."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            args=(0.05,),  # seconds within which it ends
            daemon=True,
        )
        self._engine = self._function = ""

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Edge":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def lead_to(self, function_url: str, *, engine: str) -> None:
        """Pass every request on to a URL that the engine knows."""
        self._engine, self._function = urlsplit(engine).netloc, urlsplit(function_url).netloc

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Status, headers and body of the function's answer."""
        connection = http.client.HTTPConnection(self._engine, timeout=_WITHIN)
        try:
            connection.request(method, path, body or None, {**headers, "Host": self._function})
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()


def _handler(edge: Edge) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            asked = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status, headers, body = edge.ask(
                self.command, self.path, _passed(self.headers.items()), asked
            )
            self.send_response_only(status)
            for name, value in _passed(headers).items():
                if name.lower() != "content-length":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_HEAD = do_POST = _pass_on  # noqa: N815 -- http.server looks for these names

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


def _passed(headers: "list[tuple[str, str]]") -> dict[str, str]:
    return {name: value for name, value in headers if name.lower() not in _OF_ONE_CONNECTION}
