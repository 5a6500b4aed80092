"""Leaving by degrees, as browsers and mail programs ask for it: pages, one-click and undo."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlencode

import pytest
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.web.links import LinkReader, SignedLinks
from gazette.adapters.web.undo import UndoTokens
from gazette.bootstrap import preferences
from gazette.bootstrap.parts.clock import now
from gazette.domain.links import (
    DIGESTS,
    EVERYTHING,
    UNDO_FOR,
    LinkToken,
    Purpose,
    Scope,
    ScopeKind,
    entity_mark,
    thing_scope,
)
from gazette.domain.model import DAILY, RunKey
from gazette.domain.muting.mutes import MOST_MUTED, Mute, in_force
from gazette.domain.subscribers.leaving import LeaveAct, Leaving
from gazette.domain.subscribers.subscriber import SubscriberStatus

from gazette_support.steps.link_keys import rotate
from tests.functions.conftest import Cloud
from tests.functions.messages import ago, event, http
from tests.functions.test_handlers import send_one_digest

URLENCODED = "application/x-www-form-urlencoded"
MENTIONS = Scope(ScopeKind.CATEGORY, ("mention",))
IMMEDIATE = Scope(ScopeKind.IMMEDIATE, ("mention",))
POST = Scope(ScopeKind.ENTITY, (entity_mark("post#1"),))


@pytest.fixture
def sent(cloud: Cloud, later: None) -> Cloud:
    """Ann has been sent one digest."""
    cloud.begin(send_one_digest)
    return cloud


def shown(cloud: Cloud, path: str, body: str | None = None, status: int = 200) -> str:
    request = http("GET", path) if body is None else http("POST", path, body, URLENCODED)
    answer = cloud.invoke("preferences", request)
    assert answer["statusCode"] == status
    assert "set-cookie" not in {name.lower() for name in answer["headers"]}
    return unescape(re.sub(r"[\u2066-\u2069]", "", answer["body"]))


def undo_in(page: str) -> str:
    (token,) = re.findall(r'name="undo" value="([^"]+)"', page)
    return f"act=undo&undo={token}"


def chosen(cloud: Cloud) -> dict[str, str]:
    return {category: str(often) for category, often in cloud.reader().chosen}


def test_one_click_unsubscribe_from_a_digest_stops_digests_and_offers_undo(
    sent: Cloud,
) -> None:
    """RFC 8058, section 3.2, in a body as Gmail sends it."""
    path = sent.one_click_path()
    page = shown(sent, path)
    assert "Stop your digests?" in page
    assert "a•••@example.com" in page
    before = sent.reader()
    page = shown(sent, path, "List-Unsubscribe=One-Click")
    assert "Your digests are stopped" in page
    assert chosen(sent) == {"*": "never"}
    assert sent.reader().status is SubscriberStatus.ACTIVE
    assert "Your settings are back as they were." in shown(sent, path, undo_in(page))
    assert sent.reader().choices[-1][1] == before.choices[-1][1]


def test_category_link_explains_and_applies_the_mute_and_offers_alternatives(
    sent: Cloud,
) -> None:
    path = sent.leave_path(MENTIONS)
    page = shown(sent, path)
    assert "Stop emails about mentions?" in page
    assert "This stops all emails about them" in page
    assert chosen(sent) == {}
    page = shown(sent, path, "act=leave")
    assert "No more emails about mentions" in page
    assert chosen(sent) == {"mention": "never"}
    for offered in ("weekly", "pause", "everything", "undo"):
        assert f'value="{offered}"' in page


def test_immediate_email_link_names_the_replacement_digest(sent: Cloud) -> None:
    assert "They'll come in your daily digest." in shown(sent, sent.leave_path(IMMEDIATE))


def test_unfollow_link_names_and_ends_the_follow(sent: Cloud) -> None:
    follow = {
        "user_id": "ann",
        "entity": {"type": "post", "id": "1", "title": "On <digests>"},
        "changed_at": ago(minutes=3),
    }
    with sent.meter.acting("somebody else"):
        sent.say("follow.created", follow)
    path = sent.leave_path(POST)
    assert "Unfollow On <digests>?" in shown(sent, path)
    page = shown(sent, path, "act=leave")
    assert "You no longer follow" in page
    assert "You don't follow this" in shown(sent, path)
    shown(sent, path, undo_in(page))
    assert "Unfollow On <digests>?" in shown(sent, path)


def test_category_link_can_unsubscribe_from_everything_and_undo(sent: Cloud) -> None:
    path = sent.leave_path(MENTIONS)
    page = shown(sent, path, "act=everything")
    assert "You're unsubscribed" in page
    assert sent.reader().status is SubscriberStatus.UNSUBSCRIBED
    shown(sent, path, undo_in(page))
    assert sent.reader().status is SubscriberStatus.ACTIVE


def test_unsubscribe_page_shows_the_address_and_the_undo_restores_all(sent: Cloud) -> None:
    """What is chosen and what waits are as before; the settings are the reader's, too."""
    sent.say("event.created", event(2))
    path = sent.leave_path(EVERYTHING)
    before = sent.reader()
    waiting = sent.rows("events")
    page = shown(sent, path)
    assert "This stops every email from Gazette to a•••@example.com." in page
    assert sent.reader() == before
    page = shown(sent, path, "List-Unsubscribe=One-Click")
    assert "You're unsubscribed" in page
    assert sent.reader().status is SubscriberStatus.UNSUBSCRIBED
    assert not [row for row in sent.rows("schedules") if "due" in row]
    (settings,) = set(re.findall(r'href="[.][.](/preferences/[^"]+)"', page))
    assert "You're unsubscribed: Gazette sends you no emails." in shown(sent, settings)
    assert "Your settings are back as they were." in shown(sent, path, undo_in(page))
    after = sent.reader()
    assert (after.status, after.choices, after.times) == (
        SubscriberStatus.ACTIVE,
        before.choices,
        before.times,
    )
    assert sent.rows("events") == waiting
    assert [row["name"] for row in sent.rows("schedules") if "due" in row] == ["daily"]
    assert not sent.rows("suppressions")


def test_unsubscribe_page_offers_weekly_email(sent: Cloud) -> None:
    path = sent.leave_path(EVERYTHING)
    assert "weekly at most" in shown(sent, path, "act=weekly")
    assert (chosen(sent), sent.reader().status) == ({"*": "weekly"}, SubscriberStatus.ACTIVE)


def test_attack_settings_link_expires_with_the_email_and_the_key(sent: Cloud) -> None:
    """An unsubscribe link works for two years, and must open no settings after 90 days; and what
    somebody forged with a leaked key opens nothing once that key is retired."""
    store = SecretKeyStore("links")
    old = LinkToken.of(RunKey("ann", DAILY, 1), now() - timedelta(days=91), sent.reader())
    token = SignedLinks(base_url="", keys=store.read).links(old).unsubscribe.rpartition("/")[2]
    page = shown(sent, f"/unsubscribe/{token}")
    assert "This stops every email from Gazette to" in page
    assert "/preferences/" not in page
    path = sent.leave_path(EVERYTHING)
    rotate(store=store, draw_key=lambda: "n" * 64)
    preferences.build.cache_clear()
    (settings,) = set(re.findall(r'"[.][.]/preferences/([^"]+)"', shown(sent, path)))
    assert settings.startswith("k1."), "signed by the key of the link, which is not the newest"


def test_digest_opt_out_offers_weekly_or_a_pause(sent: Cloud) -> None:
    path = sent.leave_path(DIGESTS)
    assert "weekly at most" in shown(sent, path, "act=weekly")
    assert chosen(sent) == {"*": "weekly"}
    assert "Your emails are paused until" in shown(sent, path, "act=pause")
    assert sent.reader().times.paused_until


def test_attack_undo_token_reverts_only_its_own_link(sent: Cloud) -> None:
    """Neither an altered one, nor one of another reader or scope, nor another token of ours."""
    path, other = sent.leave_path(MENTIONS), sent.leave_path(DIGESTS)
    undo = undo_in(shown(sent, path, "act=leave"))
    leaving = sent.leave_path(MENTIONS).rpartition("/")[2]
    for where, body in (
        (other, undo),
        (path, undo[:-1]),
        (path, "act=undo"),
        (path, f"act=undo&undo={leaving}"),
    ):
        shown(sent, where, body, status=404)
        assert chosen(sent) == {"mention": "never"}


def test_attack_undo_expires_after_a_day(sent: Cloud) -> None:
    """A button is for who has just pressed another, not for who finds the page open."""
    path = sent.leave_path(MENTIONS)
    link = LinkReader(keys=SecretKeyStore("links").read, clock=now).read(
        path.rpartition("/")[2], Purpose.UNSUBSCRIBE
    )
    left = Leaving(
        scope=MENTIONS,
        reader=None,
        act=LeaveAct.LEAVE,
        left_at=now() - UNDO_FOR - timedelta(minutes=1),
    )
    undo = UndoTokens(keys=SecretKeyStore("links").read, clock=now).make(link, left)
    shown(sent, path, f"act=undo&undo={undo}", status=404)


def test_attack_undo_link_gives_no_further_access(sent: Cloud) -> None:
    path = sent.leave_path(MENTIONS)
    token = undo_in(shown(sent, path, "act=leave")).rpartition("=")[2]
    for page in ("unsubscribe", "preferences", "email", "updates"):
        shown(sent, f"/{page}/{token}", status=404)


def test_category_link_never_unsubscribes_from_everything(sent: Cloud) -> None:
    """Also where the body names a button of another page."""
    path = sent.leave_path(MENTIONS)
    for body in ("", "List-Unsubscribe=One-Click", "act=unsubscribe", "act=", "%%%=\x00&&&"):
        shown(sent, path, body)
        assert sent.reader().status is SubscriberStatus.ACTIVE, body
        assert chosen(sent) == {"mention": "never"}, body


def test_repeated_undo_does_not_revert_a_later_unsubscribe(
    sent: Cloud,
) -> None:
    path, later = sent.leave_path(EVERYTHING), sent.leave_path(MENTIONS)
    undo = undo_in(shown(sent, path, "act=leave"))
    assert "Your settings are back as they were." in shown(sent, path, undo)
    assert sent.reader().status is SubscriberStatus.ACTIVE
    page = shown(sent, later, "act=everything")
    again = shown(sent, path, undo)
    assert "You're unsubscribed" in again
    assert 'name="undo"' not in again
    assert sent.reader().status is SubscriberStatus.UNSUBSCRIBED
    assert sent.rows("suppressions")
    shown(sent, later, undo_in(page))
    assert sent.reader().status is SubscriberStatus.ACTIVE


def test_repeated_opt_out_page_offers_the_undo_of_the_first(sent: Cloud) -> None:
    for scope, act in ((MENTIONS, "leave"), (EVERYTHING, "leave"), (DIGESTS, "weekly")):
        path, before = sent.leave_path(scope), (chosen(sent), sent.reader().status)
        shown(sent, path, f"act={act}")
        undo = undo_in(shown(sent, path, f"act={act}"))
        assert "Your settings are back as they were." in shown(sent, path, undo)
        assert (chosen(sent), sent.reader().status) == before


def test_category_muted_by_an_email_stays_muted_after_an_older_page(sent: Cloud) -> None:
    """The page as a browser sends it, opened before the email was used."""
    settings = sent.preferences_path()
    html = sent.invoke("preferences", http("GET", settings))["body"]
    (was, *_) = re.findall(r'name="was" value="([^"]*)"', html)
    fields = parse_qs(unescape(was), keep_blank_values=True)
    shown(sent, sent.leave_path(MENTIONS), "act=leave")
    fields |= {"hour": ["9"], "was": [unescape(was)], "act": ["save"]}
    assert "Saved." in shown(sent, settings, urlencode(fields, doseq=True))
    assert (chosen(sent), sent.reader().times.hour) == ({"mention": "never"}, 9)
    before = sent.rows("subscribers")
    assert sent.work_off_bus() == 2
    assert sent.rows("subscribers") == before, "ingest finds nothing left to do"


THING = thing_scope("post#1", "On <digests>")


def test_mute_link_is_confirmed_applied_and_undone(sent: Cloud) -> None:
    assert THING
    path = sent.leave_path(THING)
    page = shown(sent, path)
    assert "Mute On <digests>?" in page
    assert "This stops all emails about it" in page
    assert sent.invoke("preferences", http("HEAD", path))["statusCode"] == 200
    assert not sent.reader().mutes
    page = shown(sent, path, "act=leave")
    assert "On <digests>: muted" in page
    (mute,) = sent.reader().mutes
    assert (mute.entity, mute.title) == ("post#1", "On <digests>")
    assert chosen(sent) == {}
    undo = undo_in(page)
    assert "Your settings are back as they were." in shown(sent, path, undo)
    assert not in_force(sent.reader().mutes)
    shown(sent, path, "act=leave")
    assert "On <digests>: muted" in shown(sent, path, undo)
    assert in_force(sent.reader().mutes)


def test_preference_page_lists_muted_things_and_unmutes_them(sent: Cloud) -> None:
    assert THING
    shown(sent, sent.leave_path(THING), "act=leave")
    path = sent.preferences_path()
    page = shown(sent, path)
    assert "What you muted" in page
    (value,) = re.findall(r'name="unmute" value="([^"]+)"', page)
    page = shown(sent, path, urlencode({"act": "save", "unmute": value, "was": ""}))
    assert "Saved." in page
    assert "What you muted" not in page
    assert not in_force(sent.reader().mutes)


def test_mute_of_one_thing_too_many_says_what_to_do(sent: Cloud) -> None:
    assert THING
    reader = sent.reader()
    mutes = tuple(Mute(f"post#x{number:03}", reader.changed_at) for number in range(MOST_MUTED))
    full = replace(reader, mutes=mutes, revision=reader.revision + 1)
    assert DynamoSubscribers("subscribers").put(full, replacing=reader)
    page = shown(sent, sent.leave_path(THING), "act=leave")
    assert "On <digests>: not muted" in page
    assert "Unmute one of them in your email settings first." in page
    assert 'value="undo"' not in page
