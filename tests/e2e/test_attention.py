"""Readers and services limit the email: mutes, visits, the notice, old events and an allow-list."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from demo.ses import Accepted
from tests.e2e.test_comes_back import DAY, a_digest, row, run_of
from tests.leaving import link_of_scope
from tests.stage import Deployed, a_comment, a_profile, inactive_before, next_due, weekly_later


def about(user: str, post: str, number: int, **changes: Any) -> dict[str, Any]:
    """An event about one of several posts."""
    entity = {"type": "post", "id": post, "title": f"Post {post}", "url": "https://example.com/p"}
    return {**a_comment(user, number), "entity": entity, **changes}


def ago(**age: float) -> str:
    return (datetime.now(UTC) - timedelta(**age)).isoformat()


def latest(deployed: Deployed, user: str) -> str:
    """The text of the reader's latest email."""
    return deployed.inbox(user)[-1].part("plain")


def keep_links(mail: Accepted) -> list[str]:
    """The links of the notice in an email: to keep the digest, and to make it weekly."""
    return re.findall(r"https?://\S+/keep/\S+", mail.part("plain"))


def test_muted_thing_is_in_no_email_until_the_mute_is_undone(deployed: Deployed) -> None:
    put = deployed.service.put
    put("subscriber.changed", [{**a_profile("meg"), "frequencies": {"mention": "immediate"}}])
    put("event.created", [about("meg", "loud", 1, category="mention")])
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    mute = link_of_scope(latest(deployed, "meg"), "m:")
    status, page = deployed.request(mute)
    assert (status, "Mute Post loud?" in page) == (200, True)
    assert "mutes" not in row(deployed, "subscribers", user_id="meg")
    status, page = deployed.request(mute, b"act=leave")
    assert (status, "Post loud: muted" in page) == (200, True)
    undo = re.search(r'name="undo" value="([^"]+)"', page)
    assert undo

    categories = ("mention", "comment", "like")
    muted = [about("meg", "loud", 2 + at, category=each) for at, each in enumerate(categories)]
    put("event.created", [*muted, about("meg", "other", 5)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    assert len(deployed.inbox("meg")) == 2, "no immediate email"
    assert "Post other" in latest(deployed, "meg")
    assert "Post loud" not in latest(deployed, "meg")
    assert "post#loud" in deployed.gazette("explain", "meg")
    told = deployed.gazette("receipt", "comment3", "--user", "meg", exit_code=1)
    assert "had muted" in told

    form = f"act=undo&undo={undo[1]}".encode()
    status, _ = deployed.request(mute, form)
    assert status == 200
    put("event.created", [about("meg", "loud", 6)])
    deployed.settle()
    deployed.tick(due + DAY)
    assert "Post loud" in latest(deployed, "meg")


def test_seen_event_is_left_out_and_a_newer_one_is_sent(deployed: Deployed) -> None:
    """In any order: the visit arrives after one event, and before another."""
    put = deployed.service.put
    put("subscriber.changed", [{**a_profile("sid"), "frequencies": {"mention": "immediate"}}])
    put("event.created", [about("sid", "p1", 1, excerpt="Read it", occurred_at=ago(hours=2))])
    deployed.settle()
    visit = {"user_id": "sid", "entity": {"type": "post", "id": "p1"}, "seen_at": ago(hours=1)}
    put("entity.seen", [visit] * 2)
    deployed.settle()
    late = about("sid", "p1", 2, category="mention", occurred_at=ago(minutes=90))
    put("event.created", [late, about("sid", "p1", 3, excerpt="Newer")])
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    assert not deployed.inbox("sid"), "the mention was seen before it arrived"

    deployed.tick(next_due())
    (digest,) = deployed.inbox("sid")
    assert "Newer" in digest.part("plain")
    assert "Read it" not in digest.part("plain")
    told = deployed.gazette("receipt", "comment1", "--user", "sid")
    assert "because the reader saw its entity" in told
    assert "the reader had already seen everything" in deployed.gazette("explain", "sid")


def test_notice_keeps_the_digest_or_makes_it_weekly(deployed: Deployed) -> None:
    put, buttons = deployed.service.put, {"kit": "keep", "wes": "weekly"}
    due = next_due()
    put("subscriber.changed", [weekly_later(a_profile(user), due) for user in buttons])
    put("event.created", [a_comment(user, 1) for user in buttons])
    deployed.settle()
    for user in buttons:
        inactive_before(deployed, user, due)
    assert "a notice with links to keep the digest" in deployed.gazette("explain", "kit")
    deployed.tick(due)
    for user, button in buttons.items():
        (mail,) = deployed.inbox(user)
        link = dict(zip(("keep", "weekly"), keep_links(mail), strict=True))[button]
        before = row(deployed, "subscribers", user_id=user)
        for opened in (None, None, b"List-Unsubscribe=One-Click"):
            status, page = deployed.request(link, opened)
            assert (status, "Nothing has changed yet" in page) == (200, True)
        assert row(deployed, "subscribers", user_id=user) == before
        for _ in range(2):
            status, page = deployed.request(link, f"act={button}".encode())
            assert (status, "Nothing has changed yet" in page) == (200, False)
        kept = row(deployed, "subscribers", user_id=user)
        assert kept["active_on"] == f"{datetime.now(UTC):%Y-%m-%d}"

    put("event.created", [a_comment(user, 2) for user in buttons])
    deployed.settle()
    deployed.tick(due + DAY)
    _, again = deployed.inbox("kit")
    assert keep_links(again) == []
    assert len(deployed.inbox("wes")) == 1
    assert "Next email: the weekly digest of" in deployed.gazette("explain", "wes")


def test_late_event_goes_with_the_digest_and_an_older_one_to_the_quarantine(
    deployed: Deployed,
) -> None:
    put = deployed.service.put
    put("subscriber.changed", [{**a_profile("lea"), "frequencies": {"mention": "immediate"}}])
    late = about("lea", "late", 1, category="mention", occurred_at=ago(days=2))
    too_old = about("lea", "older", 2, category="mention", occurred_at=ago(days=36))
    now = about("lea", "new", 3, category="mention")
    put("event.created", [late, too_old, now])
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    (immediate,) = deployed.inbox("lea")
    assert "Post new" in immediate.part("plain")
    assert "Post late" not in immediate.part("plain")
    assert "is more than 35 days ago" in deployed.gazette("quarantine", "list")
    deployed.service.queues.purge_queue(QueueUrl=deployed.service.queue_url("quarantine"))

    told = deployed.gazette("receipt", "comment1", "--user", "lea")
    assert "more than a day" in told
    deployed.tick(next_due())
    _, digest = deployed.inbox("lea")
    assert "Post late" in digest.part("plain")
    assert "Post older" not in digest.part("plain")


@contextmanager
def allowing(deployed: Deployed, *recipients: str) -> Iterator[None]:
    """Generate sends only to these recipients meanwhile."""
    function = f"{deployed.service.prefix}-generate"
    settings = deployed.service.settings("generate")
    allowed = {**settings, "GAZETTE_ALLOWED_RECIPIENTS": json.dumps(recipients)}
    deployed.service.change(function, Environment={"Variables": allowed})
    try:
        yield
    finally:
        deployed.service.change(function, Environment={"Variables": settings})


def test_stage_with_a_list_sends_only_to_listed_recipients(deployed: Deployed) -> None:
    deployed.service.put("subscriber.changed", [a_profile("out")])
    deployed.service.put("event.created", [a_comment("out", 1)])
    with allowing(deployed, "in@example.com"):
        _, due = a_digest(deployed, "in")
    assert not deployed.inbox("out")
    assert run_of(deployed, "out") == ("skipped", "not_allowed")
    assert "allowed_recipients" in deployed.gazette("explain", "out")
    deployed.tick(due + DAY)
    assert len(deployed.inbox("out")) == 1, "the next digest has the event"
