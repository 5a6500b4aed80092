"""The rules of visits, after which emails leave out seen events."""

from typing import Final

from proofs.mutations.mutation import Mutation

_SEEN = "tests/unit/delivery/test_seen.py"
_SEEN_MARKS = "tests/contract/dynamodb/test_seen_marks.py"

RULES: Final = (
    Mutation(
        "a seen event is left out",
        "domain/window/seen.py",
        "    return at if at and counts_at(brief) <= at and brief.category != NEW_LINK else None\n",
        "    return None\n",
        f"{_SEEN}::test_seen_event_is_left_out_and_newer_event_is_sent_in_any_order",
    ),
    Mutation(
        "an event that is later than the mark of its entity is sent",
        "domain/window/seen.py",
        "at and counts_at(brief) <= at and brief.category",
        "at and brief.category",
        f"{_SEEN}::test_seen_event_is_left_out_and_newer_event_is_sent_in_any_order",
    ),
    Mutation(
        "a requested link is sent although its entity was seen",
        "domain/window/seen.py",
        " and brief.category != NEW_LINK",
        "",
        f"{_SEEN}::test_requested_link_is_sent_although_its_entity_was_seen",
    ),
    Mutation(
        "critical email does not ask what the reader has seen",
        "steps/delivery/prepare.py",
        "    if run.key.is_critical or not subscriber.may_have_seen(context.clock()):\n",
        "    if not subscriber.may_have_seen(context.clock()):\n",
        f"{_SEEN}::test_critical_email_shows_what_was_seen",
    ),
    Mutation(
        "only readers with marks cost a read",
        "steps/delivery/prepare.py",
        "    if run.key.is_critical or not subscriber.may_have_seen(context.clock()):\n",
        "    if run.key.is_critical:\n",
        f"{_SEEN}::test_reader_without_marks_costs_no_read",
    ),
    Mutation(
        "a mark that concerns no event costs no second read of the window",
        "domain/window/seen.py",
        " if earliest_in(folded.things[thing]) <= at}",
        " if folded.things[thing]}",
        f"{_SEEN}::test_mark_that_concerns_no_event_costs_one_read",
    ),
    Mutation(
        "a seen event that may have been sent is given up",
        "steps/delivery/deliver.py",
        "leave_out(stored, for_good=stored.event.id in may_have_been_sent)",
        "leave_out(stored, for_good=False)",
        f"{_SEEN}::test_event_that_may_have_been_sent_is_given_up_once_it_is_seen",
    ),
    Mutation(
        "a seen event that is published again stays left out",
        "steps/routing/move.py",
        "        return stored.is_left_out\n",
        "        return False\n",
        f"{_SEEN}::test_repeated_seen_event_stays_left_out",
    ),
    Mutation(
        "an amendment that is later than the mark restores a seen event",
        "domain/model.py",
        "self.seen_at is not None and self.event.counts_at <= self.seen_at",
        "self.seen_at is not None",
        f"{_SEEN}::test_amendment_that_is_later_than_the_mark_is_sent",
    ),
    Mutation(
        "the mark of an erased reader is deleted",
        "steps/ingest/seen.py",
        "        seen_marks.remove(mark)\n",
        "",
        f"{_SEEN}::test_erasure_at_any_moment_of_the_message_leaves_no_mark",
    ),
    Mutation(
        "a visit is announced in the reader's row",
        "steps/ingest/seen.py",
        "    _announce(user_id, reader, seen_marks, context)\n",
        "",
        f"{_SEEN}::test_digest_of_seen_events_is_skipped_with_the_reason",
    ),
    Mutation(
        "a visit counts as activity",
        "steps/ingest/seen.py",
        "    outcome = mark_active(user_id, at, context=context)\n",
        "    outcome = Outcome.ACTIVE\n",
        f"{_SEEN}::test_mark_is_a_sign_of_life",
    ),
    Mutation(
        "the latest mark prevails",
        "adapters/dynamodb/feedback/seen_marks.py",
        "EventRow.seen_at.does_not_exist() | (EventRow.seen_at < mark.seen_at)",
        "EventRow.seen_at.does_not_exist() | EventRow.seen_at.exists()",
        f"{_SEEN_MARKS}::test_latest_mark_prevails_in_any_order",
    ),
    Mutation(
        "an event that was amended since the read is not left out",
        "adapters/dynamodb/deferred_events.py",
        "            condition=in_place_with_bodies(stored) & (EventRow.body == body_of(event)),\n",
        "            condition=in_place_with_bodies(stored),\n",
        f"{_SEEN_MARKS}::test_event_that_changed_since_the_read_is_not_left_out",
    ),
    Mutation(
        "an event that moved since the read is not left out",
        "adapters/dynamodb/deferred_events.py",
        "            condition=in_place_with_bodies(stored) & (EventRow.body == body_of(event)),\n",
        "            condition=EventRow.body == body_of(event),\n",
        f"{_SEEN_MARKS}::test_event_that_changed_since_the_read_is_not_left_out",
    ),
    Mutation(
        "an erasure up to an instant deletes the marks up to then",
        "adapters/dynamodb/events.py",
        "        return row.seen_at is None or row.seen_at <= until\n",
        "        return False\n",
        f"{_SEEN_MARKS}::test_erasure_up_to_an_instant_keeps_later_marks",
    ),
    Mutation(
        "a mark lives as long as an event can arrive late and then wait",
        "domain/scheduling/lifetime.py",
        "    return longest_life(least) + least + _DAY\n",
        "    return longest_life(least)\n",
        f"{_SEEN}::test_mark_outlives_every_event_that_arrives_late",
    ),
)
