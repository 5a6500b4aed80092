"""The rules of quiet hours, in which no immediate email is sent."""

from typing import Final

from proofs.mutations.mutation import Mutation

_QUIET = "tests/unit/routing/test_quiet_hours.py"
_HOURS = "tests/unit/calendar/test_quiet_hours.py"
_SWEEP = "tests/unit/sweep/test_after_quiet_hours.py"
_ROWS = "tests/contract/dynamodb/test_subscribers.py"
_FORMER = "tests/contract/dynamodb/test_former_choices.py"
_HOLDING = "domain/scheduling/holding.py"
_PURE = "domain/scheduling/quiet.py"

RULES: Final = (
    Mutation(
        "an immediate email waits in quiet hours",
        _HOLDING,
        "    return spread_after(until, reader.user_id) if until else None\n",
        "    return None\n",
        f"{_QUIET}::test_what_happens_in_quiet_hours_is_one_email_for_each_thing",
    ),
    Mutation(
        "a digest does not wait in quiet hours",
        _HOLDING,
        "    if not run.key.is_immediate or run.key.is_critical or run.uncertain:\n",
        "    if run.key.is_critical or run.uncertain:\n",
        f"{_QUIET}::test_digest_is_not_held",
    ),
    Mutation(
        "critical email does not wait in quiet hours",
        _HOLDING,
        "    if not run.key.is_immediate or run.key.is_critical or run.uncertain:\n",
        "    if not run.key.is_immediate or run.uncertain:\n",
        f"{_QUIET}::test_critical_email_is_not_held",
    ),
    Mutation(
        "an email that may have been sent does not wait in quiet hours",
        _HOLDING,
        "    if not run.key.is_immediate or run.key.is_critical or run.uncertain:\n",
        "    if not run.key.is_immediate or run.key.is_critical:\n",
        f"{_QUIET}::test_email_that_may_have_been_sent_is_not_held",
    ),
    Mutation(
        "a requested link does not wait in quiet hours",
        _HOLDING,
        "    if NEW_LINK in categories:\n",
        "    if not categories:\n",
        f"{_QUIET}::test_link_that_a_reader_asked_for_is_not_held",
    ),
    Mutation(
        "quiet hours are in the zone of the reader",
        _HOLDING,
        "hours.until(now, zone_of(reader.time_zone))",
        'hours.until(now, zone_of("UTC"))',
        f"{_QUIET}::test_zone_that_changes_in_quiet_hours_counts",
    ),
    Mutation(
        "a run that waits raises its epoch",
        _HOLDING,
        "check_at=check_at, epoch=run.epoch + 1)",
        "check_at=check_at)",
        f"{_QUIET}::test_run_that_waits_cannot_be_claimed_as_it_was_read_before",
    ),
    Mutation(
        "the sweep looks at a waiting run before it is due",
        _HOLDING,
        "    check_at = until + hold - LOOK_AHEAD\n",
        "    check_at = until + hold + LOOK_AHEAD\n",
        f"{_QUIET}::test_what_happens_in_quiet_hours_is_one_email_for_each_thing",
    ),
    Mutation(
        "quiet hours that begin before the claim count",
        "steps/delivery/deliver.py",
        "    if hours and quiet_until(run, due.categories, reader, hours, at):\n",
        "    if False:\n",
        f"{_QUIET}::test_quiet_hours_that_begin_while_the_worker_waits_are_respected",
    ),
    Mutation(
        "a refused run starts anew after quiet hours",
        "steps/delivery/prepare.py",
        "    if run.attempt:\n        return left_to_a_later_run",
        "    if False:\n        return left_to_a_later_run",
        f"{_QUIET}::test_refused_email_is_tried_again_after_quiet_hours_with_all_events",
    ),
    Mutation(
        "a refused run that is superseded in quiet hours has a successor",
        "steps/delivery/predecessors.py",
        "    starts = newest.key == run.key or not newest.is_unclaimed\n",
        "    starts = not newest.is_unclaimed\n",
        f"{_QUIET}::test_worker_that_dies_while_it_holds_a_run_loses_no_event",
    ),
    Mutation(
        "a run that the sweep queues gets no message",
        "steps/delivery/generate.py",
        "    if done.again_at and not done.queued_by_sweep:\n",
        "    if done.again_at:\n",
        f"{_QUIET}::test_message_that_comes_again_in_quiet_hours_is_dropped",
    ),
    Mutation(
        "a run that waits long for an older run is queued by the sweep",
        "steps/delivery/predecessors.py",
        "    if not_before - now <= LONGEST_DELAY:\n",
        "    if True:\n",
        f"{_QUIET}::test_run_of_a_redrive_waits_without_messages",
    ),
    Mutation(
        "the sweep queues ten runs at once",
        "steps/sweep/sweep.py",
        "            if len(collected) == _TOGETHER:\n",
        "            if collected:\n",
        f"{_SWEEP}::test_sweep_queues_a_hundred_thousand_emails_in_time_and_evenly",
    ),
    Mutation(
        "emails after quiet hours are spread",
        _PURE,
        "    return until + timedelta(seconds=number % int(JITTER.total_seconds()))\n",
        "    return until\n",
        f"{_HOURS}::test_emails_after_the_hours_are_spread_evenly_over_ten_minutes",
    ),
    Mutation(
        "quiet hours cross midnight",
        _PURE,
        "        for day in (today - timedelta(days=1), today):\n",
        "        for day in (today,):\n",
        f"{_HOURS}::test_hours_contain_their_beginning_and_not_their_end",
    ),
    Mutation(
        "quiet hours go on after a date that does not exist",
        _PURE,
        "        while end is not None and (later := self._end_around(end, zone)):\n",
        "        while end is None and (later := self._end_around(instant, zone)):\n",
        f"{_HOURS}::test_hours_continue_after_a_date_that_does_not_exist",
    ),
    Mutation(
        "a reader's quiet hours override those of the stage",
        "domain/subscribers/subscriber.py",
        "        return default if self.quiet_hours == STAGE_QUIET_HOURS else ",
        "        return default if self.quiet_hours else ",
        f"{_QUIET}::test_reader_and_service_may_choose_other_hours_or_none",
    ),
    Mutation(
        "quiet hours are stored with their history",
        "adapters/dynamodb/histories.py",
        '    histories = {"service": of_service, "reader": choices.quiet_hours}\n',
        '    histories = {"service": of_service[-1:], "reader": choices.quiet_hours}\n',
        f"{_ROWS}::test_quiet_hours_of_several_profiles_are_stored",
    ),
    Mutation(
        "early quiet hours are a condition of the profile",
        "adapters/dynamodb/subscribers.py",
        "(row.reader_choices or row.quiet_hours or row.mutes):\n",
        "(row.reader_choices or row.mutes):\n",
        f"{_ROWS}::test_early_quiet_hours_are_stored_and_end_with_the_profile",
    ),
    Mutation(
        "a profile of the version before keeps the quiet hours",
        "adapters/dynamodb/histories.py",
        "for then, value in reversed(history) if then <= at)",
        "for then, value in reversed(history) if then == at)",
        f"{_FORMER}::test_version_before_keeps_quiet_hours_and_its_profiles_do_not_change_them",
    ),
)
