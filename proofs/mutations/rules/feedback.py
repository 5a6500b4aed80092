"""The rules of delivery events and of the sweep."""

from typing import Final

from proofs.mutations.mutation import Mutation

_SUPPRESS = "tests/unit/subscribers/test_suppress.py"
_SWEEP = "tests/unit/sweep/test_sweep.py"
_ONE_ROW = "tests/unit/sweep/test_one_row.py"
_REPORTS = "tests/unit/feedback/test_reports.py"
_DELIVERY_EVENTS = "tests/unit/api/test_delivery_events.py"

RULES: Final = (
    Mutation(
        "a failure of one run does not stop the sweep",
        "steps/sweep/sweep.py",
        '            with of_one_row("runs", *_key_of(run)):\n',
        "            if run:\n",
        _ONE_ROW + "::test_sweep_processes_all_readable_runs",
    ),
    Mutation(
        "a failure of one schedule does not stop the audit",
        "steps/sweep/audit.py",
        '            with of_one_row("schedules", schedule.user_id, schedule.name):\n',
        "            if schedule:\n",
        _ONE_ROW + "::test_audit_arms_all_readable_schedules",
    ),
    Mutation(
        "a delivery event counts as proof only after its run is settled",
        "steps/feedback/feedback.py",
        "    if run and not run.knows(event.attempt):\n",
        "    context.evidence_log.record(event.sent_at)\n"
        "    if run and not run.knows(event.attempt):\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_delivery_event_receipt_is_recorded_after_run_is_settled",
    ),
    Mutation(
        "runs that cannot be read together are read alone",
        "steps/feedback/feedback.py",
        "            return self._runs.get(key)\n",
        "            raise Unavailable\n",
        "tests/unit/feedback/test_batches.py"
        "::test_runs_are_read_alone_if_they_cannot_be_read_together",
    ),
    Mutation(
        "a delivery event of another message than the stored one has its own log line",
        "run_metrics.py",
        "        and recorded.run.message_id == event.message_id\n",
        "",
        "tests/functions/feedback/test_logged.py"
        "::test_event_of_another_message_of_the_run_has_its_own_line",
    ),
    Mutation(
        "all failed messages of a large batch are hidden",
        "bootstrap/parts/redelivery.py",
        "    for first in range(0, len(messages), MESSAGES_A_CALL):\n",
        "    for first in (0,):\n",
        "tests/functions/test_coming_back.py"
        "::test_failed_messages_of_a_large_batch_are_hidden_by_tens",
    ),
    Mutation(
        "an event that is redriven to the feedback queue returns to the quarantine",
        "steps/feedback/feedback.py",
        "        context.quarantine.keep(body, str(err))\n        return None\n",
        "        del err\n        return None\n",
        "tests/unit/feedback/test_feedback.py"
        "::test_misdirected_service_event_returns_to_quarantine",
    ),
    Mutation(
        "a delivery report needs a proof",
        "domain/feedback/reports.py",
        "    if not prover.is_proven(reference, report.recipient):\n",
        "    if not reference.proof:\n",
        f"{_REPORTS}::test_attack_altered_reference_is_rejected",
    ),
    Mutation(
        "the proof of a delivery report includes the recipient",
        "domain/feedback/reports.py",
        '        text = f"{self.installation} {named} {recipient}"\n',
        '        text = f"{self.installation} {named}"\n        del recipient\n',
        f"{_REPORTS}::test_attack_reference_cannot_suppress_another_address",
    ),
    Mutation(
        "the proof of a delivery report includes the installation",
        "domain/feedback/reports.py",
        '        text = f"{self.installation} {named} {recipient}"\n',
        '        text = f"{named} {recipient}"\n',
        f"{_REPORTS}::test_attack_reference_of_another_installation_is_rejected",
    ),
    Mutation(
        "a reported click is activity in every stage",
        "steps/feedback/feedback.py",
        "    if event.type in context.signs_of_life or _is_reported_click(event):\n",
        "    if event.type in context.signs_of_life:\n",
        f"{_DELIVERY_EVENTS}::test_click_is_activity_in_every_stage",
    ),
    Mutation(
        "a bounce does not stand for the acceptance of its email",
        "domain/feedback/delivery_events.py",
        "    if not event.is_reported or event.type not in _ARRIVED:\n",
        "    if not event.is_reported or event.type is DeliveryEventType.SENT:\n",
        f"{_REPORTS}::test_service_that_reports_only_bounces_holds_no_category",
    ),
    Mutation(
        "an arrival stands for the acceptance of its email",
        "steps/feedback/feedback.py",
        "        _record_acceptance(event, recorded.run, context=context)\n",
        "        pass\n",
        f"{_REPORTS}::test_only_an_arrival_stands_for_the_acceptance",
    ),
    Mutation(
        "a reported soft bounce does not count as an email that arrived",
        "steps/feedback/bounces.py",
        "        and messages.isdisjoint(reported_ids(run.key, run.attempt))\n",
        "",
        f"{_REPORTS}::test_consecutive_soft_bounces_suppress_although_the_server_gave_other_ids",
    ),
    Mutation(
        "an event that happened before its email was sent gets the time of sending",
        "domain/feedback/reports.py",
        "        at=max(report.at, reference.sent_at),\n",
        "        at=report.at,\n",
        f"{_REPORTS}::test_event_from_before_the_sending_has_the_time_of_sending",
    ),
    Mutation(
        "the audit skips events stored within the last hour",
        "steps/sweep/audit.py",
        "    until = context.clock() - _ON_ITS_WAY\n",
        "    until = context.clock()\n",
        "tests/unit/sweep/test_audit.py::test_audit_skips_events_of_the_last_hour",
    ),
    Mutation(
        "the audit skips events that an open run may still send",
        "steps/sweep/audit.py",
        "    return all(run.status.is_final for run in chain) and context",
        "    return context",
        "tests/unit/sweep/test_audit.py::test_audit_skips_events_of_open_runs",
    ),
    Mutation(
        "no policy decides while a delivery event may arrive",
        "steps/sweep/unknown.py",
        "    if context.clock() < gone_since + context.limits.evidence_grace:\n",
        "    if False:\n",
        f"{_SWEEP}::test_unknown_run_is_unchanged_while_its_delivery_event_may_arrive",
    ),
    Mutation(
        "an immediate event that is assumed sent starts no run",
        "steps/sweep/unknown.py",
        "    if _is_carried(decided) and run.key.is_immediate:\n",
        "    if run.key.is_immediate:\n",
        f"{_SWEEP}::test_immediate_run_assumed_sent_starts_no_run",
    ),
    Mutation(
        "a resent run does not wait for proof",
        "steps/sweep/unknown.py",
        "    if policy is Policy.RESEND and not run.resent:\n",
        "    if policy is Policy.RESEND:\n",
        f"{_SWEEP}::test_resent_run_does_not_wait_for_proof_of_delivery_events",
    ),
    Mutation(
        "the sweep checks a decided run again later",
        "steps/sweep/unknown.py",
        "    decided = replace(decided, check_at=context.clock() + context.limits.check_after)\n",
        "",
        f"{_SWEEP}::test_unknown_outcome_waits_for_evidence_until_the_grace_ends",
    ),
    Mutation(
        "each sweep audits a different part of the schedules",
        "steps/sweep/audit.py",
        "        number * partitions + partition, partitions",
        "        number * partitions, partitions",
        "tests/unit/sweep/test_audit.py::test_each_idle_schedule_is_audited_once_in_thirty_days",
    ),
    Mutation(
        "consecutive soft bounces suppress a reader who gets few emails",
        "steps/feedback/bounces.py",
        "    return limit.is_reached_in_a_row(sent, arrived)\n",
        "    return False\n",
        f"{_SUPPRESS}::test_reader_with_only_bounces_is_suppressed_at_any_frequency",
    ),
    Mutation(
        "a delivered email resets the count of consecutive soft bounces",
        "steps/feedback/bounces.py",
        "    return limit.is_reached_in_a_row(sent, arrived)\n",
        "    return limit.is_reached_in_a_row(sent, ())\n",
        f"{_SUPPRESS}::test_delivered_email_resets_the_bounce_streak",
    ),
    Mutation(
        "the audit covers the part of its tick, however late the message is",
        "steps/sweep/audit.py",
        "    at = tick or context.clock()\n",
        "    at = context.clock()\n",
        "tests/unit/sweep/test_audit.py"
        "::test_late_or_repeated_audit_message_covers_the_partition_of_its_tick",
    ),
    Mutation(
        "an audit that runs out of time reports it",
        "steps/sweep/audit.py",
        "            is_cut_off = True\n",
        "",
        "tests/unit/sweep/test_audit.py::test_audit_without_enough_time_is_cut_off_and_retried",
    ),
)
