"""The rules of digests with a low score, late events, the last digests and recipients."""

from typing import Final

from proofs.mutations.mutation import Mutation

_WORTH = "tests/unit/delivery/test_worth.py"
_AGE = "tests/unit/ingest/test_age.py"
_KEEPING = "tests/unit/preferences/test_keeping.py"
_ALLOWED = "tests/unit/delivery/test_allowed_recipients.py"

RULES: Final = (
    Mutation(
        "a digest with a low score is skipped",
        "steps/delivery/prepare.py",
        "        return _ended(run, Skip(Reason.WAITS_FOR_MORE), changes, due)\n",
        "        pass\n",
        f"{_WORTH}::test_digest_with_low_score_is_skipped_and_closes_no_window",
    ),
    Mutation(
        "only a daily digest waits for more events",
        "steps/delivery/prepare.py",
        " or run.key.schedule != DAILY or settled.was_claimed:\n",
        " or run.key.is_immediate or settled.was_claimed:\n",
        f"{_WORTH}::test_less_frequent_digest_is_never_skipped",
    ),
    Mutation(
        "a digest with events of an earlier claim does not wait for more events",
        "steps/delivery/prepare.py",
        " or settled.was_claimed:\n",
        " or settled.carried:\n",
        f"{_WORTH}::test_redrive_of_a_failed_digest_is_not_held_back",
    ),
    Mutation(
        "a digest does not wait for more events if its oldest event is too old",
        "steps/delivery/prepare.py",
        "    if due.oldest_at is None or window.until - due.oldest_at >= worth.longest_wait:\n",
        "    if due.oldest_at is None:\n",
        f"{_WORTH}::test_score_that_falls_with_age_does_not_prolong_the_wait",
    ),
    Mutation(
        "a digest does not wait for more events if an event would lapse",
        "steps/delivery/prepare.py",
        "    if due.over_at and due.over_at <= next_due_at + context.limits.max_lateness:\n",
        "    if False:\n",
        f"{_WORTH}::test_digest_is_sent_if_an_event_would_lapse_before_the_next_digest",
    ),
    Mutation(
        "the age of an event counts from its time, not from its storage",
        "steps/delivery/windows.py",
        "        since = stored.stored_at if is_item else stored.event.occurred_at\n",
        "        since = stored.stored_at\n",
        f"{_WORTH}::test_deferral_by_a_category_hold_does_not_prolong_the_wait",
    ),
    Mutation(
        "an event that occurred more than a day ago is not sent immediately",
        "steps/routing/target.py",
        "        late=is_capped or context.clock() - event.counts_at > LATE_AFTER,\n",
        "        late=is_capped,\n",
        f"{_AGE}::test_event_that_occurred_more_than_a_day_ago_waits_for_the_digest",
    ),
    Mutation(
        "an event without a record is refused if it is too old",
        "steps/ingest/age.py",
        "            outdated = _not_stored(old, events)\n",
        "            outdated = list[Event]()\n",
        f"{_AGE}::test_event_older_than_its_record_is_refused_with_the_reason",
    ),
    Mutation(
        "an old event is not refused if it is stored",
        "steps/ingest/age.py",
        "            outdated = _not_stored(old, events)\n",
        "            outdated = old\n",
        f"{_AGE}::test_repetition_of_an_old_event_is_recognised",
    ),
    Mutation(
        "an activity without a record is refused if it is too old",
        "steps/ingest/age.py",
        "            if activities.get(activity.entity.key, activity.id) is None:\n",
        "            if False:\n",
        f"{_AGE}::test_outdated_activity_is_refused_unless_it_is_stored",
    ),
    Mutation(
        "the last two digests before dormancy have a notice",
        "domain/subscribers/subscriber.py",
        "        if not is_one_of_last_two(self.recurrence(digest), due_at, before=ends_at):\n",
        "        if True:\n",
        f"{_KEEPING}::test_last_two_daily_digests_have_the_notice",
    ),
    Mutation(
        "opening the page behind the notice changes no row",
        "steps/preferences/keeping.py",
        "    now, sunset = context.routing.clock(), context.routing.sunset\n",
        "    now, sunset = context.routing.clock(), context.routing.sunset\n"
        "    mark_active(link.run.user_id, now, context=context.routing)\n",
        f"{_KEEPING}::test_opening_the_page_changes_no_row",
    ),
    Mutation(
        "only the button of the page behind the notice counts as activity",
        "steps/preferences/keeping.py",
        "    if act is None or before.reader.has_left:\n",
        "    if before.reader.has_left:\n",
        f"{_KEEPING}::test_other_requests_change_no_row",
    ),
    Mutation(
        "the page behind the notice resubscribes no reader",
        "steps/preferences/keeping.py",
        "    if act is None or before.reader.has_left:\n",
        "    if act is None:\n",
        f"{_KEEPING}::test_unsubscribed_reader_stays_unsubscribed",
    ),
    Mutation(
        "a stage with a list skips the runs of other recipients",
        "steps/delivery/prepare.py",
        "    if not context.allowed.allow(subscriber.email):\n"
        "        return _ended(run, Skip(Reason.NOT_ALLOWED), changes)\n",
        "",
        f"{_ALLOWED}::test_run_of_other_reader_is_skipped_and_nothing_is_sent",
    ),
    Mutation(
        "a stage with a list sends to no other recipient, whatever called the mailer",
        "adapters/mail/allowed.py",
        "        if not self._allowed.allow(mail.to):\n"
        "            return RefusedForGood(attempt, NOT_ALLOWED)\n",
        "",
        f"{_ALLOWED}::test_mailer_refuses_other_recipients_for_good_without_calling_the_provider",
    ),
    Mutation(
        "an invalid allowed recipient is an error",
        "domain/subscribers/addresses.py",
        '    raise ValueError(\n        f"{ascii(given)[:80]} is not a recipient',
        "    return ascii(given)\n"
        "    raise ValueError(\n"
        '        f"{ascii(given)[:80]} is not a recipient',
        f"{_ALLOWED}::test_invalid_entry_is_refused_instead_of_ignored",
    ),
)
