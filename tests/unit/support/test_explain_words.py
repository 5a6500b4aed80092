"""What support reads: each status and reason in words, the summary first."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import RefusedForGood, Uncertain
from gazette.domain.explanation import Due, ExplainedRun
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY
from gazette.domain.scheduling.calendar import EVERY_DAY, Days, DigestTimes, Recurrence
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.support.reasons import (
    DUE,
    OFTEN,
    REASON,
    STANDING,
    STATUS,
    SUPPRESSED_FOR,
    Words,
    outcome,
    words_for,
)
from gazette.steps.support.words.phrases import local, made_with, recurring, utc
from gazette.steps.support.words.sections import Section, sections
from gazette.steps.support.words.summary import verdict

from tests.builders import NOW, a_run, a_subscriber, a_window, an_event
from tests.explained import explained
from tests.world import World

SECOND = timedelta(seconds=1)
MONDAY, TUESDAY, WEDNESDAY, THURSDAY = (date(2026, 11, day) for day in (23, 24, 25, 26))
COVERS = "It covers events stored"


@pytest.fixture
def world() -> World:
    """Ann is registered: every day at eight in Berlin. On Monday first, as an event came.

    It was taken back since. Monday is 23 November.
    """
    world = World()
    world.choose()
    world.arm()
    return world


def answer(world: World, on: date | None = None, user_id: str = "ann") -> str:
    return " ".join(verdict(explained(world, on, user_id)))


def section(world: World, name: str, on: date | None = None, user_id: str = "ann") -> Section:
    (found,) = [each for each in sections(explained(world, on, user_id)) if each.name == name]
    return found


def test_expired_event_is_explained(world: World) -> None:
    world.create(an_event("e1"), an_event("e2", category="like"))
    world.clock.pass_time(days=36)
    assert "2 events of comment and like expired before being included in an email." in answer(
        world
    )
    assert column(section(world, "waiting"), "email") == ["the daily digest (expired)"] * 2


def test_lapsed_event_is_explained(world: World) -> None:
    world.create(replace(an_event(), expires_at=world.clock() + timedelta(hours=1)))
    world.clock.pass_time(days=1)
    assert (
        "1 event of comment lapsed at the time that the service set (expires_at), before being "
        "included in an email."
    ) in answer(world)
    assert column(section(world, "waiting"), "email") == ["the daily digest (lapsed)"]


def column(found: Section, name: str) -> list[str]:
    return [row[found.columns.index(name)] for row in found.rows]


@pytest.mark.parametrize(
    ("words", "every"),
    [
        (REASON, Reason),
        (STATUS, Status),
        (STANDING, SubscriberStatus),
        (DUE, Due),
        (OFTEN, Frequency),
        (SUPPRESSED_FOR, Cause),
    ],
)
def test_every_status_and_reason_is_explained(
    words: dict[StrEnum, object], every: type[StrEnum]
) -> None:
    assert set(words) == set(every)


@pytest.mark.parametrize("words", [*REASON.values(), *STANDING.values()])
def test_explanation_has_a_reason_clause_and_a_remedy_sentence(words: Words) -> None:
    assert words.why
    assert not words.why.endswith(".")
    assert words.todo[0].isupper()
    assert words.todo.endswith((".", "?"))


@pytest.mark.parametrize("reason", Reason)
@pytest.mark.parametrize("status", Status)
def test_any_run_is_described_on_a_single_line_with_its_reason(
    world: World, status: Status, reason: Reason
) -> None:
    run = replace(a_run(), status=status, reason=reason, window=a_window(), due_at=NOW)
    found = replace(explained(world), runs=(ExplainedRun(run, (("comment", 2),), ""),))
    for told in ([*verdict(found)], [*verdict(replace(found, on=NOW.date()))]):
        assert any(outcome(run) in line and words_for(run).why in line for line in told)
        assert not any("\n" in line for line in told)


def test_skipped_sequence_and_superseded_run_have_different_explanations(world: World) -> None:
    run = replace(a_run(), reason=Reason.SUPERSEDED)
    skipped, cancelled = replace(run, status=Status.SKIPPED), replace(run, status=Status.CANCELLED)
    assert "changed before" in words_for(skipped).why
    assert "took over the events" in words_for(cancelled).why


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (Days(EVERY_DAY), "every day"),
        (Days(frozenset({1})), "Mondays"),
        (Days(frozenset({1, 2, 3, 4, 5})), "Mondays to Fridays"),
        (Days(frozenset({2, 5}), every=2), "Tuesdays and Fridays of every 2nd week"),
        (Days(frozenset({7}), every=3), "Sundays of every 3rd week"),
        (Days(EVERY_DAY, every=11), "every day of every 11th week"),
        (Days(frozenset({1}), every=21), "Mondays of every 21st week"),
        (Days(month_day=1), "on day 1 of the month"),
        (Days(month_day=31), "on day 31 of the month, or the last day of a shorter month,"),
    ],
)
def test_recurring_days_are_described_in_natural_language(days: Days, said: str) -> None:
    assert recurring(Recurrence(8, 5, "Europe/Berlin", days)) == f"{said} at 08:05"


def test_instant_is_shown_in_local_time_and_utc() -> None:
    at = datetime(2026, 11, 22, 11, 10, tzinfo=UTC)
    assert local(at, ZoneInfo("Pacific/Auckland")) == "Mon 2026-11-23 00:10"
    assert utc(at.astimezone(ZoneInfo("Pacific/Auckland"))) == "2026-11-22 11:10 UTC"


def test_answer_without_waiting_events_names_the_skipped_run(world: World) -> None:
    world.send_digest()
    assert answer(world, MONDAY) == (
        "No email was sent on 2026-11-23 so far. The daily digest of 08:00 was skipped: no event "
        "was waiting, so the schedule is not in the due index until the next event."
    )
    world.clock.pass_time(days=1)
    assert answer(world, MONDAY).startswith("No email was sent on 2026-11-23. The daily digest")
    assert answer(world) == (
        "The latest run was the daily digest of Mon 2026-11-23 08:00, which was skipped: no "
        "event was waiting, so the schedule is not in the due index until the next event. Next "
        "email: the daily digest of Wed 2026-11-25 08:00 (2026-11-25 07:00 UTC), if an event "
        "arrives before then; no event is waiting."
    )


def test_answer_without_waiting_events_on_a_date_without_a_run(world: World) -> None:
    world.send_digest()
    world.clock.now = datetime(2026, 11, 25, 14, 20, tzinfo=UTC)
    nothing = "No event was waiting for the daily digest between Mon 2026-11-23 08:00 (2026-11-23"
    since = f"{nothing} 07:00 UTC) and Wed 2026-11-25 15:20 (2026-11-25 14:20 UTC)."
    none_due = ", because no run was due."
    assert answer(world, TUESDAY) == f"No email was sent on 2026-11-24{none_due} {since}"
    assert answer(world, WEDNESDAY) == f"No email was sent on 2026-11-25 so far{none_due} {since}"
    world.create(an_event())
    world.send_digest()
    assert answer(world, TUESDAY).endswith(since), "until the event came"
    assert since not in answer(world, THURSDAY)
    assert answer(world, THURSDAY).startswith("The daily digest of 08:00 was sent")


def test_answer_without_waiting_events_since_a_new_profile() -> None:
    world = World()
    world.choose()
    assert answer(world) == (
        "No email has been due yet. Next email: the daily digest of Mon 2026-11-23 08:00 "
        "(2026-11-23 07:00 UTC), if an event arrives before then; no event is waiting."
    )
    world.clock.now = datetime(2026, 11, 24, 7, 10, tzinfo=UTC)
    assert answer(world, MONDAY) == (
        "No email was sent on 2026-11-23, because no run was due. No event was waiting for the "
        "daily digest between Sun 2026-11-22 08:03 (2026-11-22 07:03 UTC) and Tue 2026-11-24 08:10 "
        "(2026-11-24 07:10 UTC)."
    )


def test_future_date_of_an_idle_schedule_is_conditional(world: World) -> None:
    world.send_digest()
    assert answer(world, WEDNESDAY) == (
        "2026-11-25 is in the future. The daily digest of 08:00 is sent if an event arrives before "
        "2026-11-25 07:00 UTC. No event is waiting now."
    )
    world.clock.now = datetime(2026, 11, 25, 6, 50, tzinfo=UTC)
    assert answer(world, WEDNESDAY) == (
        "No email was sent on 2026-11-25 so far, because no run was due. The daily digest of 08:00 "
        "is sent if an event arrives before 2026-11-25 07:00 UTC. No event is waiting now."
    )


def test_digest_without_events_at_its_slot_is_not_planned(world: World) -> None:
    profile = a_subscriber(changed_at=NOW + SECOND, times=DigestTimes(8, 5))
    world.say(ChangeSubscriber(profile))
    world.send_digest()
    world.clock.now = datetime(2026, 11, 24, 7, 1, tzinfo=UTC)
    nothing = "No event was waiting for the daily digest between Mon 2026-11-23 08:05"
    for _ in range(2):
        assert nothing in answer(world, TUESDAY)
        assert answer(world, TUESDAY).endswith("and Tue 2026-11-24 08:01 (2026-11-24 07:01 UTC).")
        world.create(an_event())
    assert world.schedules.rows["ann", DAILY].next_due_at.date() == WEDNESDAY


def test_idle_schedule_is_named_even_if_another_email_was_sent_that_day(world: World) -> None:
    world.choose(comment=Frequency.IMMEDIATE, at=NOW + SECOND)
    world.send_digest()
    world.clock.now = datetime(2026, 11, 24, 9, tzinfo=UTC)
    world.create(an_event(occurred_at=world.clock()))
    world.deliver_queued()
    sent, nothing = verdict(explained(world, TUESDAY))
    assert sent.startswith("The immediate email about post#post1 of 10:00 was sent")
    assert nothing.startswith("No event was waiting for the daily digest between Mon 2026-11-23")
    (sent_on_monday,) = verdict(explained(world, MONDAY))[1:]
    assert sent_on_monday.startswith("The daily digest of 08:00 was skipped: no event was waiting")


def test_next_email_with_waiting_events_is_named_first(world: World) -> None:
    world.choose(like=Frequency.WEEKLY, at=NOW + SECOND)
    world.send_digest()
    world.send_digest("weekly")
    world.create(an_event(category="like"))
    assert (
        "Next email: the weekly digest of Mon 2026-11-30 08:00 (2026-11-30 07:00 UTC). "
    ) in answer(world)


def test_event_waiting_in_an_idle_schedule_is_reported_first(world: World) -> None:
    """Its worker died between the event and the schedule."""
    world.send_digest()
    world.events.store(an_event(), DAILY)
    forgotten = (
        "The daily digest is missing from the due index, although an event is waiting. Check the "
        "queues ingest and ingest-dead for a message about the reader, or publish the event again."
    )
    assert verdict(explained(world))[0] == forgotten
    assert answer(world).endswith(". Waiting: 1 event for the daily digest.")
    world.clock.pass_time(days=2)
    assert answer(world, WEDNESDAY).endswith(f"because no run was due. {forgotten}")


def test_mute_is_reported_as_the_reason_for_no_waiting_events() -> None:
    world = World(defaults=(("like", Frequency.NEVER),))
    world.choose(comment=Frequency.NEVER, mention=Frequency.DAILY)
    world.follow(entity="post#p9", often=Frequency.NEVER)
    world.arm()
    world.send_digest()
    muted = "Muted by the reader: comment, like and post#p9."
    assert muted in answer(world)
    assert muted in answer(world, MONDAY)
    world.clock.pass_time(days=1)
    assert answer(world, TUESDAY).endswith(f". {muted} Their events are not sent.")
    world.create(an_event(category="mention"))
    world.send_digest()
    assert "Muted" not in answer(world)


def test_sent_digest_is_reported_with_message_id_and_coverage(world: World) -> None:
    for _ in range(2):
        world.create(an_event(f"e{world.clock()}"))
        world.send_digest()
    sent = (
        "was sent: the provider accepted the email (message id message2) at 2026-11-24 07:00 UTC, "
        "30 seconds after it was due. "
    )
    covers = f"{COVERS} after Mon 2026-11-23 08:00, up to Tue 2026-11-24 08:00."
    assert answer(world, TUESDAY) == f"The daily digest of 08:00 {sent}{covers}"
    last = f"The latest run was the daily digest of Tue 2026-11-24 08:00, which {sent}{covers}"
    assert answer(world).startswith(last)
    assert f"{COVERS} up to Mon 2026-11-23 08:00." in answer(world, MONDAY)


def test_sent_runs_of_a_date_are_listed_first(
    world: World,
) -> None:
    world.choose(comment=Frequency.IMMEDIATE, at=NOW + SECOND)
    world.clock.now = datetime(2026, 11, 23, 3, tzinfo=UTC)
    for number in range(3):
        world.create(an_event(f"e{number}", entity_id=f"post{number}"))
        world.deliver_queued()
    world.send_digest()
    told = verdict(explained(world, MONDAY))
    assert [line.partition(" of ")[0] for line in told[:3]] == [
        f"The immediate email about post#post{number}" for number in (2, 1, 0)
    ]
    assert told[3] == "The table below lists 1 more run."
    assert len(section(world, "run", MONDAY).rows) == 4


def test_unknown_outcome_is_reported_as_unknown(world: World) -> None:
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.create(an_event())
    world.send_digest()
    assert answer(world, MONDAY).startswith(
        "It is not yet known whether an email was sent on 2026-11-23. "
        "The daily digest of 08:00 may or may not have been sent: "
    )
    assert "(ReadTimeoutError)" in answer(world)
    world.clock.pass_time(days=1)
    overdue = "It should have ended by 2026-11-23 07:16 UTC. A delivery event determines"
    assert overdue in answer(world)


def test_run_blocking_the_last_run_is_reported(world: World) -> None:
    world.mailer.script.append(Uncertain(1))
    for number in range(2):
        world.create(an_event(f"e{number}"))
        world.send_digest()
    told = verdict(explained(world))
    assert told[0].startswith(
        "The latest run was the daily digest of Tue 2026-11-24 08:00, which is due"
    )
    assert told[1].startswith("The daily digest of Mon 2026-11-23 08:00 may or may not have been")


def test_refusal_is_reported_with_provider_code_and_waiting_events(world: World) -> None:
    world.mailer.script.append(RefusedForGood(1, "MessageRejected"))
    world.create(an_event())
    world.send_digest()
    assert "was not sent: the provider permanently rejected the email" in answer(world)
    assert "(MessageRejected)" in answer(world)
    assert answer(world).endswith("Waiting: 1 event for the daily digest.")


def test_waiting_events_are_reported_by_schedule(world: World) -> None:
    world.choose(like=Frequency.WEEKLY, mention=Frequency.IMMEDIATE, at=NOW + SECOND)
    world.create(an_event("e1"), an_event("e2", category="share"))
    world.create(an_event("e3", category="like"), an_event("e4", category="mention"))
    assert answer(world).endswith(
        "Next email: the daily digest of Mon 2026-11-23 08:00 (2026-11-23 07:00 UTC). Waiting: 2 "
        "events for the daily digest; 1 event for the weekly digest; 1 event for the immediate "
        "email about post#post1."
    )


def test_explain_reports_an_unsubscribe_first(world: World) -> None:
    world.create(an_event())
    world.send_digest()
    world.create(an_event("e2"))
    world.unsubscribe()
    told = verdict(explained(world))
    assert told[0].startswith("ann is unsubscribed; email is not sent")
    assert told[1].startswith(
        "The latest run was the daily digest of Mon 2026-11-23 08:00, which was se"
    )
    assert len(told) == 2, "nothing is next, and nothing that waits will come"
    on_date = verdict(explained(world, MONDAY))
    assert on_date[0].startswith("The daily digest of 08:00 was sent")
    assert on_date[1] == told[0]


def test_suppressed_reader_is_reported_with_the_remedy(world: World) -> None:
    world.unsubscribe()
    profile = replace(a_subscriber("bo", email="ann@example.com"), changed_at=NOW)
    world.say(ChangeSubscriber(profile))
    assert answer(world, user_id="bo") == (
        f"bo is {STANDING[SubscriberStatus.SUPPRESSED].why}. "
        f"{STANDING[SubscriberStatus.SUPPRESSED].todo} Their address has been suppressed since "
        f"{utc(NOW)} because a reader with this address unsubscribed with a link in an email. "
        "Only the reader can undo this, on the preference page. No email has been due yet."
    )


@pytest.mark.parametrize("cause", [Cause.MANUAL, Cause.BOUNCED, Cause.COMPLAINED])
def test_suppressed_address_of_an_active_reader_is_reported(world: World, cause: Cause) -> None:
    """They are active until somebody looks: an operator names an address, and no reader."""
    hashed = address_hash("ann@example.com")
    world.suppressions.add(hashed, cause)
    told = answer(world)
    assert f"has been suppressed since {utc(NOW)} because {SUPPRESSED_FOR[cause]}." in told
    assert (
        f"To remove the suppression, run `gazette suppression remove {hashed}`. Then publish "
        "subscriber.changed with a newer changed_at."
    ) in told
    assert "ann@example.com" not in told


def test_suppressed_reader_with_an_allowed_address_needs_a_newer_profile(world: World) -> None:
    """The same profile again, dated as before, would change nothing."""
    hashed = address_hash("ann@example.com")
    world.suppressions.add(hashed, Cause.BOUNCED)
    world.stop_if_suppressed()
    world.suppressions.lift(hashed, Cause.BOUNCED)
    assert (
        "Their address is no longer suppressed. To resume email, publish subscriber.changed with a "
        "newer changed_at"
    ) in answer(world)
    newer = replace(a_subscriber(email="ann@example.com"), changed_at=NOW + timedelta(minutes=1))
    world.say(ChangeSubscriber(newer))
    assert "allowed again" not in answer(world)


def test_reader_without_a_profile_is_explained(world: World) -> None:
    known = (
        "Gazette has no profile for cy. Check that your services publish subscriber.changed to the "
        "event bus of the stage, that the id is the user_id of your events, and that `gazette "
        "quarantine list` shows no message of this reader."
    )
    assert answer(world, user_id="cy") == known
    world.create(an_event(user_id="cy"))
    assert answer(world, user_id="cy") == (
        f"{known} 1 event is waiting for this profile. Publish the profile to send it."
    )
    assert answer(world, date(2026, 11, 20), "cy").startswith(
        f"No email was sent on 2026-11-20, because no run was due. {known}"
    )


def test_erased_reader_is_reported_with_the_time(world: World) -> None:
    world.send_digest()
    world.erase(at=world.clock())
    assert answer(world).startswith("ann was erased at 2026-11-23 07:00 UTC. Gazette does not send")
    assert column(section(world, "reader"), "value")[1] == "erased at 2026-11-23 07:00 UTC"


@pytest.mark.parametrize("late_by", [timedelta(hours=3), timedelta(days=3)])
def test_overdue_digest_is_reported_first(world: World, late_by: timedelta) -> None:
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at + late_by
    said = "is overdue because fan-out has not started it."
    told = verdict(explained(world))[0]
    assert told.startswith(f"The daily digest of Mon 2026-11-23 08:00 {said}")
    assert said in answer(world, MONDAY)


def test_future_date_shows_the_planned_time(world: World) -> None:
    assert answer(world, WEDNESDAY) == (
        "2026-11-25 is in the future. The daily digest of 08:00 is planned (2026-11-25 07:00 UTC)."
    )
    world.clock.now = datetime(2026, 11, 23, 5, tzinfo=UTC)
    assert answer(world, MONDAY) == (
        "No email was sent on 2026-11-23 so far, because no run was due. "
        "The daily digest of 08:00 is planned (2026-11-23 07:00 UTC)."
    )


def test_date_before_the_profile_is_reported_as_such(world: World) -> None:
    assert answer(world, date(2026, 11, 20)) == (
        "No email was sent on 2026-11-20, because no run was due. The daily digest of 08:00 was "
        "not scheduled yet. The profile dates from 2026-11-22 07:03 UTC."
    )


def test_date_without_a_scheduled_digest_is_reported_as_such(world: World) -> None:
    schedule = world.schedules.rows["ann", DAILY]
    weekly = replace(schedule, recurrence=replace(schedule.recurrence, days=Days(frozenset({1}))))
    world.schedules.rows["ann", DAILY] = weekly
    world.clock.pass_time(days=7)
    assert "The reader has no schedule that is due on that date." in answer(world, TUESDAY)


def test_date_with_a_missing_run_lists_possible_causes(world: World) -> None:
    for number in range(3):
        world.create(an_event(f"e{number}"))
        world.send_digest()
    world.runs.rows.clear()
    assert "or the run was deleted after its retention period" in answer(world, TUESDAY)


def test_date_with_a_digest_in_another_time_zone_is_omitted(world: World) -> None:
    """They moved west: by the clock of now, the last digest was on the day before."""
    world.create(an_event())
    world.send_digest()
    profile = a_subscriber(changed_at=world.clock(), times=DigestTimes(23, 0))
    world.say(ChangeSubscriber(profile))
    world.runs.rows.clear()
    assert world.schedules.rows["ann", DAILY].next_due_at.date() == TUESDAY
    assert "The daily digest of 23:00 is omitted" in answer(world, MONDAY)


def test_every_table_shows_its_source_data() -> None:
    world = World(defaults=(("comment", Frequency.DAILY),))
    world.choose(like=Frequency.WEEKLY)
    world.follow(entity="post#p9", often=Frequency.NEVER)
    world.subscribers.mark_active("ann", date(2026, 11, 20))
    world.arm()
    world.send_digest()
    world.create(an_event("e1"), an_event("e2"))

    def told(name: str) -> list[str]:
        return ["\t".join(row) for row in section(world, name).rows]

    assert told("reader") == [
        "user id\tann",
        "status\tactive; email is sent",
        "time zone\tEurope/Berlin",
        "local time now\tMon 2026-11-23 08:00 (2026-11-23 07:00 UTC)",
        "profile changed\t2026-11-22 07:03 UTC",
        "registered\t2026-11-22",
        "last activity\t2026-11-20",
        "follows\t1",
    ]
    idle = "only if an event arrives before the due time; no event is waiting"
    assert told("schedule") == [
        "daily\tevery day at 08:00\tplanned\tTue 2026-11-24 08:00\t2026-11-24 07:00",
        "daily\tevery day at 08:00\tthen\tWed 2026-11-25 08:00\t2026-11-25 07:00",
        "daily\tevery day at 08:00\tthen\tThu 2026-11-26 08:00\t2026-11-26 07:00",
        f"weekly\tMondays at 08:00\t{idle}\tMon 2026-11-30 08:00\t2026-11-30 07:00",
        "weekly\tMondays at 08:00\tthen\tMon 2026-12-07 08:00\t2026-12-07 07:00",
        "weekly\tMondays at 08:00\tthen\tMon 2026-12-14 08:00\t2026-12-14 07:00",
    ]
    assert told("choice") == [
        "comment\tdaily\tthe default is daily",
        "like\tweekly\tchosen at 2026-11-22 07:03 UTC; there is no default",
        "post#p9\tnever (muted)\tthis follow, at 2026-11-22 07:03 UTC",
    ]
    assert told("waiting") == ["the daily digest\tcomment\t2\t2026-11-23 07:00\t2026-11-23 07:00"]
    assert [row[:6] for row in section(world, "run").rows] == [
        (
            "Mon 2026-11-23 08:00",
            "2026-11-23 07:00",
            f"the {name} digest",
            f"ann-{name}-1",
            "skipped",
            "nothing_waited",
        )
        for name in ("weekly", DAILY)
    ]


def test_run_shows_its_window_and_coverage(world: World) -> None:
    world.create(an_event("e1"), an_event("e2"), an_event("e3", category="like"))
    world.send_digest()
    found = section(world, "run")
    assert column(found, "covers") == ["comment: 2 events, like: 1 event"]
    assert column(found, "window") == ["the beginning to 2026-11-23 07:00 UTC"]
    assert column(found, "attempts") == ["1"]
    assert column(found, "message id") == ["message1"]


def test_run_shows_its_template_version_and_whether_the_version_still_exists() -> None:
    run = replace(a_run(), attempt=1)
    assert made_with(run) == ""
    assert made_with(replace(run, templates=7)) == "version 7"
    assert made_with(replace(run, templates=8, templates_gone=7)) == (
        "version 8; the original version 7 no longer exists"
    )
    assert made_with(replace(run, attempt=0, templates=7)) == ""


def test_disabled_schedule_is_a_single_line_with_unsent_events(world: World) -> None:
    world.create(an_event())
    world.unsubscribe()
    found = section(world, "schedule")
    assert column(found, "state") == ["off, because this reader gets no email"]
    assert column(found, "UTC") == [""]
    assert column(section(world, "waiting"), "email") == ["the daily digest (not sent)"]


def test_returned_reader_is_reported_with_the_earlier_erasure(world: World) -> None:
    world.erase()
    world.clock.pass_time(hours=1)
    world.choose()
    assert column(section(world, "reader"), "value")[1] == (
        "active; email is sent; erased at 2026-11-22 07:03 UTC, and registered again"
    )


def test_unknown_time_zone_is_labelled(world: World) -> None:
    found = replace(explained(world), time_zone="Mars/Base", zone=ZoneInfo("UTC"))
    (reader,) = [each for each in sections(found) if each.name == "reader"]
    assert "Mars/Base, which is not a known time zone, so times are in UTC" in column(
        reader, "value"
    )


def test_events_of_a_held_category_are_explained(world: World) -> None:
    world.create(an_event(), an_event("e2", category="like"))
    for category in ("like", "mention"):
        world.category_holds.add(category_hold(category, "complaints", NOW))
    assert answer(world).endswith(
        "Waiting: 2 events for the daily digest. On hold for all readers: like. "
        "To see the reason, run `gazette sending status`. The events are sent once the category is "
        "resumed."
    )
    world.category_holds.release("like")
    assert "gazette sending" not in answer(world)


def test_email_that_collects_after_others_states_until_when(world: World) -> None:
    world.clock.pass_time(minutes=1)
    world.choose(comment=Frequency.IMMEDIATE)
    for number in range(2):
        world.clock.pass_time(minutes=1)
        world.create(an_event(f"e{number}", occurred_at=world.clock()))
        if not number:
            world.deliver_queued()
    (run,) = (run for run in world.runs.rows.values() if run.is_open)
    until = f"{run.due_at:%Y-%m-%d %H:%M} UTC"
    assert words_for(run).why.startswith(f"the email collects events until {until}")
    said = answer(world)
    assert f"has not been sent yet: the email collects events until {until}" in said
    assert "should have ended" not in said
    world.clock.now = run.due_at - timedelta(seconds=1)
    assert "should have ended" not in answer(world)
