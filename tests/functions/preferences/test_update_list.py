"""The list of an email's updates over HTTP: mute a thing by one press, and undo it."""

import re
from urllib.parse import urlencode

import pytest
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.bootstrap import preferences
from gazette.domain.muting.mutes import in_force

from gazette_support.steps.link_keys import rotate
from tests.functions.conftest import Cloud
from tests.functions.messages import http
from tests.functions.test_handlers import send_one_digest

URLENCODED = "application/x-www-form-urlencoded"


@pytest.fixture
def sent(cloud: Cloud, later: None) -> Cloud:
    """Ann has been sent one digest."""
    cloud.begin(send_one_digest)
    return cloud


def shown(cloud: Cloud, path: str, body: str | None = None, query: str = "") -> str:
    request = http("GET", path) if body is None else http("POST", path, body, URLENCODED)
    answer = cloud.invoke("preferences", request | {"rawQueryString": query})
    assert answer["statusCode"] == 200
    return str(answer["body"])


def buttons_in(page: str) -> list[str]:
    """The paths of the list's buttons."""
    return [each.removeprefix("..") for each in re.findall(r'action="([^"]+)"', page)]


def muted(cloud: Cloud) -> list[str]:
    return [mute.entity for mute in in_force(cloud.reader().mutes)]


def test_thing_is_muted_by_one_press_in_the_list_and_the_mute_undone(sent: Cloud) -> None:
    page = shown(sent, sent.link("updates"), query="after=0")
    assert muted(sent) == [], "opening the list changes nothing"
    (path,) = buttons_in(page)
    page = shown(sent, path, "after=0&act=leave")
    assert "Title of post#p1: muted" in re.sub("[\u2066-\u2069]", "", page)
    assert muted(sent) == ["post#p1"]
    (back,) = re.findall(r'href="[.][.](/updates/[^"?]+)[?]after=0"', page)
    page_again = shown(sent, back)
    assert "Muted" in page_again
    assert not buttons_in(page_again)
    (undo,) = re.findall(r'name="undo" value="([^"]+)"', page)
    page = shown(sent, path, urlencode({"act": "undo", "undo": undo, "after": "0"}))
    assert "Undone" in page
    assert f'href="..{back}?after=0"' in page
    assert muted(sent) == []
    assert buttons_in(shown(sent, back)) == [path]


def test_attack_list_opened_from_the_browser_view_cannot_mute(sent: Cloud) -> None:
    """People may share the browser view, and with it the list that it links to."""
    path = sent.link("email").replace("/email/", "/updates/")
    email = sent.invoke("preferences", http("GET", sent.link("email")))
    assert sent.link("updates") not in email["body"]
    assert path != sent.link("updates")
    assert not re.search("<form|<button|unsubscribe", shown(sent, path))


def test_attack_buttons_of_a_list_are_signed_with_the_key_of_its_link(sent: Cloud) -> None:
    """A link that was forged with a leaked key has no effect after the key is removed."""
    path = sent.link("updates")
    rotate(store=SecretKeyStore("links"), draw_key=lambda: "n" * 64)
    preferences.build.cache_clear()
    (button,) = buttons_in(shown(sent, path))
    assert button.startswith("/unsubscribe/k1."), "not by the newest key"


@pytest.mark.parametrize("place", ["x", "-1", "99999", "", "\u0661", "1 OR 1"])
def test_place_in_a_list_is_a_number_or_ignored(sent: Cloud, place: str) -> None:
    first = shown(sent, sent.link("updates"))
    query = urlencode({"after": place})
    assert shown(sent, sent.link("updates"), query=query) == first
    (button,) = buttons_in(first)
    page = shown(sent, button, urlencode({"act": "leave", "after": place}))
    assert "Back to the updates" not in page


def test_list_may_show_pictures_of_any_origin_over_https(sent: Cloud) -> None:
    answer = sent.invoke("preferences", http("GET", sent.link("updates")))
    policy = answer["headers"]["Content-Security-Policy"]
    assert "img-src https:" in policy
    assert "script" not in policy
