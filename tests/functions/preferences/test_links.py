"""What readers' browsers and mail programs ask, as an HTTP API hands it over."""

import base64
import re
from typing import Any

import pytest
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap import preferences
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.subscriber import SubscriberStatus

from gazette_support.steps.link_keys import rotate
from tests.functions.conftest import Cloud
from tests.functions.messages import ago, http
from tests.functions.test_handlers import send_one_digest
from tests.leaving import without_space

KEY = RunKey("ann", DAILY, 1)
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
_PARTS = (
    '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
)


@pytest.fixture
def sent(cloud: Cloud, later: None) -> Cloud:
    """Ann has been sent one digest."""
    cloud.begin(send_one_digest)
    return cloud


_BODIES = (
    ("List-Unsubscribe=One-Click", URLENCODED),
    (_PARTS, MULTIPART),
    ("", ""),
    ("", URLENCODED),
    (_PARTS[:30], MULTIPART),
    (_PARTS, "multipart/form-data"),
    ("%%%=\x00&&&", URLENCODED),
    ("{}", "application/json"),
)


def subscribe_again(cloud: Cloud) -> None:
    """So that the next request has something to do."""
    with cloud.meter.acting("somebody else"):
        cloud.set_status("ann", SubscriberStatus.ACTIVE)


@pytest.mark.parametrize("encoded", [False, True], ids=["text", "base64"])
def test_one_click_request_succeeds_with_any_body(sent: Cloud, encoded: bool) -> None:
    """RFC 8058, section 3.2: the mail provider follows no redirect and has no cookies.

    HTTP APIs hand over what they do not know to be text in base64, with a flag.
    """
    for body, content_type in _BODIES:
        subscribe_again(sent)
        request = http("POST", sent.unsubscribe_path(), body, content_type)
        if encoded:
            coded = base64.b64encode(body.encode()).decode()
            request |= {"body": coded, "isBase64Encoded": True}
        answer = sent.invoke("preferences", request)
        assert answer["statusCode"] == 200, (body, content_type)
        assert "You're unsubscribed" in answer["body"], (body, content_type)
        assert sent.reader().status is SubscriberStatus.UNSUBSCRIBED, (body, content_type)
        assert_no_cookies_nor_redirect(answer)


def test_malformed_base64_body_is_accepted(sent: Cloud) -> None:
    for body in ("not base64!", "=", "\xff"):
        subscribe_again(sent)
        request = http("POST", sent.unsubscribe_path(), body, URLENCODED)
        answer = sent.invoke("preferences", request | {"isBase64Encoded": True})
        assert answer["statusCode"] == 200, body
        assert sent.reader().status is SubscriberStatus.UNSUBSCRIBED, body


def test_request_without_a_body_is_accepted(sent: Cloud) -> None:
    request = http("POST", sent.unsubscribe_path())
    del request["body"]
    assert sent.invoke("preferences", request)["statusCode"] == 200


def test_link_of_an_expired_run_still_unsubscribes(sent: Cloud) -> None:
    """A run is kept for half a year, an email for as long as its reader likes."""
    path = sent.link("unsubscribe", RunKey("ann", DAILY, 99))
    for method in ("GET", "POST"):
        assert sent.invoke("preferences", http(method, path))["statusCode"] == 200
    assert sent.reader().status is SubscriberStatus.UNSUBSCRIBED
    assert not sent.rows("engagement")


def assert_no_cookies_nor_redirect(answer: dict[str, Any]) -> None:
    names = {name.lower() for name in answer["headers"]} | answer.keys()
    assert not names & {"set-cookie", "location"}
    assert not answer.get("cookies")


STORED = ("subscribers", "schedules", "follows", "events", "runs", "suppressions", "engagement")
ROUTES = {
    "unsubscribe": "GET, HEAD, POST, OPTIONS",
    "preferences": "GET, HEAD, POST, OPTIONS",
    "keep": "GET, HEAD, POST, OPTIONS",
    "email": "GET, HEAD, OPTIONS",
    "updates": "GET, HEAD, OPTIONS",
}


def answered(cloud: Cloud, method: str, path: str, body: str = "") -> dict[str, Any]:
    return cloud.invoke("preferences", http(method, path, body, URLENCODED if body else ""))


def test_head_request_returns_the_headers_of_get_without_changes(sent: Cloud) -> None:
    """RFC 9110, section 9.3.2. Link scanners and mail programs ask so before they open a link."""
    before = {name: sent.rows(name) for name in STORED}
    for path in (*map(sent.link, ROUTES), sent.unsubscribe_path()):
        shown = answered(sent, "GET", path)
        assert (shown["statusCode"], shown["body"] != "") == (200, True), path
        assert answered(sent, "HEAD", path) == {**shown, "body": ""}, path
        assert answered(sent, "HEAD", path, "List-Unsubscribe=One-Click")["body"] == "", path
    assert {name: sent.rows(name) for name in STORED} == before
    assert sent.reader().status is SubscriberStatus.ACTIVE


def test_head_request_for_a_missing_page_returns_the_headers_of_get(sent: Cloud) -> None:
    altered = f"{sent.link('email')[:-1]}!"
    expired = sent.link("email", RunKey("ann", DAILY, 99))
    for path in ("/", "/robots.txt", "/favicon.ico", "/unsubscribe/", altered, expired):
        shown = answered(sent, "GET", path)
        assert shown["statusCode"] == 404, path
        assert answered(sent, "HEAD", path) == {**shown, "body": ""}, path


def test_head_request_for_a_failing_page_returns_the_headers_of_get(
    sent: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    path = sent.link("email")
    monkeypatch.setattr(DynamoSubscribers, "get", fail)
    shown = answered(sent, "GET", path)
    assert (shown["statusCode"], shown["body"] != "") == (500, True)
    assert answered(sent, "HEAD", path) == {**shown, "body": ""}


def test_head_request_for_an_expired_link_returns_the_headers_of_get(sent: Cloud) -> None:
    path = sent.link("preferences", RunKey("nobody", DAILY, 1), sent.reader())
    shown = answered(sent, "GET", path)
    assert shown["statusCode"] == 410
    assert answered(sent, "HEAD", path) == {**shown, "body": ""}


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "BREW", "get", "head"])
def test_unsupported_method_is_rejected_with_the_allowed_methods(sent: Cloud, method: str) -> None:
    """RFC 9110, sections 9.1 (names of methods have a case) and 15.5.6."""
    for name, allowed in ROUTES.items():
        answer = answered(sent, method, sent.link(name), "List-Unsubscribe=One-Click")
        assert answer["statusCode"] == 405, name
        assert answer["headers"]["Allow"] == allowed, name
        assert "This link doesn't work" in answer["body"], name
        assert sent.reader().status is SubscriberStatus.ACTIVE, name


def test_options_lists_the_methods_of_a_link_without_lookups(sent: Cloud) -> None:
    """RFC 9110, section 9.3.7."""
    for name, allowed in ROUTES.items():
        path = sent.link(name)
        sent.meter.clear()
        answer = answered(sent, "OPTIONS", path)
        assert (answer["statusCode"], answer["body"]) == (204, ""), name
        assert answer["headers"]["Allow"] == allowed, name
        assert not sent.meter.requests, name


def test_unknown_path_has_no_methods(sent: Cloud) -> None:
    for method in ("PUT", "OPTIONS", "POST"):
        answer = answered(sent, method, "/robots.txt")
        assert answer["statusCode"] == 404, method
        assert "Allow" not in answer["headers"], method


def test_post_to_a_read_only_page_changes_no_data(sent: Cloud) -> None:
    for name in ("email", "updates"):
        assert answered(sent, "POST", sent.link(name))["statusCode"] == 405, name
        assert sent.reader().status is SubscriberStatus.ACTIVE, name


def test_unknown_path_returns_the_not_found_page(cloud: Cloud) -> None:
    none = ("/", "", "/unsubscribe", "/unsubscribe/", "/robots.txt", "/email/a/b", "//", "/%00")
    for path in none:
        answer = cloud.invoke("preferences", http("GET", path))
        assert answer["statusCode"] == 404, path
        assert "This link doesn't work" in answer["body"], path


def test_browser_view_shows_the_sent_email(sent: Cloud) -> None:
    """But for what tells SES to leave a link alone, which it takes out itself, and for the links
    by which the reader alone may choose and leave."""
    (request,) = sent.sent()
    answer = sent.invoke("preferences", http("GET", sent.link("email")))
    assert answer["statusCode"] == 200
    assert answer["headers"]["Content-Type"] == "text/html; charset=utf-8"
    html = request["Content"]["Simple"]["Body"]["Html"]["Data"]
    sent_before, acts, _ = re.split(r"(<a[^>]*/preferences/)", html, maxsplit=1)
    assert acts
    sent_before, first, _ = sent_before.rpartition("<br>")  # the links of the first digest follow
    assert first
    before = without_space(sent_before.replace("ses:no-track ", ""))
    assert without_space(answer["body"]).startswith(before)
    assert_no_cookies_nor_redirect(answer)


def test_attack_view_opened_with_a_leaked_key_has_no_newly_signed_links(
    sent: Cloud,
) -> None:
    """Nothing is signed anew: the view has the token that opened it, and no other."""
    path = sent.link("email")
    rotate(store=SecretKeyStore("links"), draw_key=lambda: "n" * 64)
    preferences.build.cache_clear()
    answer = sent.invoke("preferences", http("GET", path))
    assert answer["statusCode"] == 200
    token = path.rpartition("/")[2]
    found = re.findall(r"/(email|updates|preferences|unsubscribe)/([^\"#]+)", answer["body"])
    assert found
    assert {each for _, each in found} == {token}
    assert {name for name, _ in found} <= {"email", "updates"}


def policy_of(answer: dict[str, Any]) -> dict[str, str]:
    """The Content-Security-Policy of an answer, by directive."""
    said = answer["headers"]["Content-Security-Policy"].split("; ")
    return {name: value for name, _, value in (directive.partition(" ") for directive in said)}


def test_attack_browser_view_runs_no_script_and_sends_no_referrer(sent: Cloud) -> None:
    answer = sent.invoke("preferences", http("GET", sent.link("email")))
    assert policy_of(answer) == {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "img-src": "https:",
        "style-src": "'unsafe-inline'",
    }
    assert answer["headers"]["Referrer-Policy"] == "no-referrer"
    assert not re.search(r"<script|javascript:|\son\w+=", answer["body"])


def test_page_allows_only_its_own_style(sent: Cloud) -> None:
    kept = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    kept |= {"X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex"}
    kept |= {"Strict-Transport-Security": "max-age=63072000"}
    for path in (sent.link("preferences"), sent.link("unsubscribe"), "/nowhere"):
        answer = sent.invoke("preferences", http("GET", path))
        assert policy_of(answer) == {
            "default-src": "'none'",
            "base-uri": "'none'",
            "form-action": "'self'",
            "frame-ancestors": "'none'",
            "style-src": preferences.build().styles,
        }, path
        assert kept.items() <= answer["headers"].items(), path


def test_updates_page_shows_all_updates_of_the_run(sent: Cloud) -> None:
    answer = sent.invoke("preferences", http("GET", sent.link("updates")))
    assert answer["statusCode"] == 200
    assert "Title of post#p1" in answer["body"]
    assert "User 1 commented" in answer["body"]


def test_attack_all_invalid_links_get_the_same_response(sent: Cloud) -> None:
    """Whoever tries learns nothing: wrong, of nobody, of a run that is not there, or erased."""
    ann = sent.reader()
    run, leaving = (sent.link(name).rpartition("/")[2] for name in ("email", "unsubscribe"))
    wrong = [
        f"/{name}/{token}"
        for name in ("email", "updates", "unsubscribe")
        for token in ("k1.YW5u.AAAAAAAAAAAAAAAAAAAAAA", "k7.YW5u.AAAA", "x", f"{run}A")
    ]
    wrong += [f"/email/{leaving}", f"/unsubscribe/{run}"]
    others = RunKey("nobody", DAILY, 1), RunKey("ann", "x", 1)
    wrong += [sent.link("email", other, ann) for other in others]
    sent.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    wrong += [sent.link(name, reader=ann) for name in ("email", "updates")]
    answers = [sent.invoke("preferences", http("GET", path)) for path in wrong]
    assert {answer["statusCode"] for answer in answers} == {404}
    assert len({answer["body"] for answer in answers}) == 1
    assert len({str(answer["headers"]) for answer in answers}) == 1


def test_attack_log_contains_no_token(
    sent: Cloud, logs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [sent.link(name) for name in ("email", "updates", "preferences", "unsubscribe")]
    for path in paths:
        sent.invoke("preferences", http("GET", path))
    for path in paths[2:]:
        sent.invoke("preferences", http("POST", path))
    printed = logs.getvalue() + capsys.readouterr().out
    assert '"message":"reader left"' in printed
    for path in paths:
        assert path.rpartition("/")[2] not in printed


def test_page_uses_the_browser_language_if_the_reader_is_unknown(sent: Cloud) -> None:
    """Where nobody is known whom it is about, whose language would be spoken."""
    request = http("GET", sent.link("unsubscribe", RunKey("nobody", DAILY, 1), sent.reader()))
    request["headers"]["accept-language"] = "fr;q=0.9, de-AT;q=0.8, en;q=0.1"
    answer = sent.invoke("preferences", request)
    assert '<html lang="de" dir="ltr">' in answer["body"]
    assert "Noch hat sich nichts geändert" in answer["body"]
    request = http("GET", sent.unsubscribe_path())
    request["headers"]["accept-language"] = "de"
    assert '<html lang="en" dir="ltr">' in sent.invoke("preferences", request)["body"]


def test_unexpected_error_shows_an_apology_and_is_counted(
    sent: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    path = sent.link("email")
    with monkeypatch.context() as patch:
        patch.setattr(DynamoSubscribers, "get", fail)
        answer = sent.invoke("preferences", http("GET", path))
    assert answer["statusCode"] == 500
    assert "Sorry, something went wrong on our side." in answer["body"]
    assert "secret detail" not in answer["body"]
    assert '"page_failed":[1.0]' in capsys.readouterr().out
