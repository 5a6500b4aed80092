"""The requests of `gazette accept` to an unsubscribe link, on the wire."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from gazette_support.adapters.unsubscribe_links import UnsubscribeLinks

pytestmark = pytest.mark.enable_socket


@contextmanager
def serving(status: int) -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """A server that answers with a status, its URL, and the requests that it got."""
    requests: list[tuple[str, str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            requests.append((self.command, self.headers.get("Content-Type", ""), body))
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Print no line."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/unsubscribe/token", requests
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def links() -> UnsubscribeLinks:
    return UnsubscribeLinks("secret", base_url="http://127.0.0.1")


def test_click_is_the_request_of_rfc_8058(links: UnsubscribeLinks) -> None:
    with serving(200) as (url, requests):
        assert (links.open(url), links.click(url)) == (200, 200)
    form = "application/x-www-form-urlencoded"
    assert requests == [("GET", "", b""), ("POST", form, b"List-Unsubscribe=One-Click")]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_status_is_returned_and_a_redirect_is_not_followed(
    links: UnsubscribeLinks, status: int
) -> None:
    with serving(status) as (url, requests):
        assert (links.open(url), links.click(url)) == (status, status)
    assert len(requests) == 2


def test_missing_response_is_0(links: UnsubscribeLinks) -> None:
    with serving(200) as (url, _):
        pass
    assert (links.open(url), links.click(url)) == (0, 0)
