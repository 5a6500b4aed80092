"""Short simulations with each feature off and on, and code that breaks a promise."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from gazette.domain.delivery.run import Run, settled_until
from gazette.domain.model import StoredEvent
from gazette.steps.delivery import predecessors, windows
from gazette.steps.routing import target

from proofs.attention.__main__ import ALL, COMPARED, report
from proofs.attention.acts import BEGIN, BUSY, CALM, Act, Feature, Kind, acts
from proofs.attention.picture import PICTURE, draw
from proofs.attention.report import of_reader
from proofs.attention.simulation import simulate
from proofs.attention.verdict import MUTED, SEEN, Verdict, judge
from tests.indexed import IndexedEvents

DAY = timedelta(days=1)
AN_HOUR = 20
NONE = frozenset[Feature]()

_NOTHING_WRONG = (
    "attention: events={0} emails_before={0} emails_after={0} at_night_before={0} at_night=0 "
    "lost=0 twice=0"
)

Part = tuple[object, str, Callable[..., Any]]
"""A module or class, the name of an attribute, and what replaces the attribute."""


def judged(
    features: frozenset[Feature], length: timedelta = DAY, an_hour: int = AN_HOUR
) -> Verdict:
    return judge(simulate(features, acts(features, length, an_hour=an_hour)))


def test_each_feature_reduces_emails_and_loses_no_event() -> None:
    before, rarer, seen, muted, quiet, _, after = verdicts = [judged(each) for each in COMPARED]
    for each in verdicts:
        assert (each.lost, each.twice) == (0, 0)
        assert sum(each.ends.values()) == each.events == 24 * AN_HOUR + 1
    assert len(rarer.emails) < len(before.emails) / 2
    assert len(muted.emails) < len(before.emails)
    assert len(after.emails) < len(rarer.emails)
    assert seen.ends[SEEN] > 0 == before.ends[SEEN]
    assert muted.ends[MUTED] > 0 == before.ends[MUTED]
    assert before.at_night > 10
    assert quiet.at_night == after.at_night == 0
    assert len(quiet.emails) < len(before.emails)


def test_minimum_reduces_digests_of_a_calm_reader() -> None:
    before, after = (judged(each, 7 * DAY, 0) for each in (NONE, ALL))
    assert (len(of_reader(before.emails, CALM)), len(of_reader(after.emails, CALM))) == (7, 2)
    assert (after.lost, after.twice) == (0, 0)
    assert max(after.waits) < 4 * DAY


def test_single_event_is_sent_in_one_email(capsys: pytest.CaptureFixture[str]) -> None:
    event = Act(BEGIN, Kind.EVENT, BUSY, "post1", "comment")
    verdicts = [judge(simulate(each, [event])) for each in (NONE, ALL)]
    assert report(verdicts) == 0
    assert _last_line(capsys) == _NOTHING_WRONG.format(1)


def test_no_event_is_no_email(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([judged(each, timedelta(0)) for each in (NONE, ALL)]) == 0
    assert _last_line(capsys) == _NOTHING_WRONG.format(0)


def _drops_on_write(events: IndexedEvents, stored: StoredEvent) -> tuple[bool, StoredEvent]:
    if stored.event.id != "e5":
        events._keep((stored.event.user_id, stored.event.id), stored, stored.lasts_until)
    return True, stored


def _drops_on_read(events: IndexedEvents, *window: Any) -> Any:
    return (each for each in _skim(events, *window) if each.event.id != "e5")


def _begins_early(chain: Sequence[Run]) -> datetime:
    until = settled_until(chain)
    return until - timedelta(minutes=30) if until > BEGIN else until


_skim = IndexedEvents.skim

LOSSES: dict[str, Part] = {
    "an event is not stored": (IndexedEvents, "_put", _drops_on_write),
    "an email omits an event": (IndexedEvents, "skim", _drops_on_read),
    "a visit applies to later events": (
        windows,
        "seen_at",
        lambda brief, seen: seen.get(brief.thing),
    ),
    "every event is refused as muted": (target, "is_muted", lambda *_: True),
}
COPIES: dict[str, Part] = {
    "a window begins before the end of the last email": (
        predecessors,
        "settled_until",
        _begins_early,
    ),
    "an event about a muted thread is sent": (target, "is_muted", lambda *_: False),
    "a seen event is sent": (windows, "seen_at", lambda *_: None),
}


@pytest.mark.parametrize("broken", LOSSES)
def test_lost_events_are_counted(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(*LOSSES[broken]):
        verdict = judged(ALL)
    assert verdict.lost > 0 == verdict.twice
    assert report([verdict, verdict]) == 1
    assert f"lost={2 * verdict.lost} twice=0" in _last_line(capsys)


@pytest.mark.parametrize("broken", COPIES)
def test_events_shown_too_often_are_counted(
    broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with patch.object(*COPIES[broken]):
        verdict = judged(ALL)
    assert verdict.twice > 0 == verdict.lost
    assert report([verdict, verdict]) == 1
    assert f"lost=0 twice={2 * verdict.twice}" in _last_line(capsys)


def test_event_in_the_text_of_no_stored_event_is_counted() -> None:
    record = simulate(NONE, [Act(BEGIN, Kind.EVENT, BUSY, "post1", "comment")])
    (email,) = record.emails
    record.emails = [replace(email, counts=email.counts + email.counts)]
    assert (judge(record).lost, judge(record).twice) == (0, 1)


def test_picture_shows_the_figures_of_docs() -> None:
    picture = PICTURE.read_text()
    page = (PICTURE.parents[1] / "subscribers.md").read_text()
    (desc,) = re.findall("<desc>(.*)</desc>", picture)
    for figure in desc.split("; "):
        name, _, number = figure.partition(": ")
        assert re.search(rf"\| {name}[^|]*\| {number} \|", page), figure
    assert f"images/{PICTURE.name}" in page
    assert "<script" not in picture


def test_picture_has_a_bar_for_each_set_of_features() -> None:
    picture = draw([judged(each, timedelta(hours=1)) for each in (NONE, ALL)])
    assert picture.count('height="14"') == 2
    assert "prefers-color-scheme:dark" in picture


def _last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]
