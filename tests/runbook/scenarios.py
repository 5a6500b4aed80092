"""Which scenario is made before a command that changes something, and looked at after it."""

import re
from collections.abc import Mapping

from tests.runbook.for_operators import (
    a_pager_subscribes,
    a_row_is_deleted,
    a_row_is_repaired,
    a_table_is_restored,
    copies_are_deleted,
    events_are_replayed,
    functions_go_on,
    functions_stop,
    tables_are_copied,
    ticks_are_deleted,
)
from tests.runbook.for_readers import (
    Scenario,
    a_batch_is_cancelled,
    a_category_goes_on,
    a_category_stops,
    a_dead_letter_comes_back,
    a_key_is_added,
    a_key_is_retired,
    a_list_is_exported,
    a_list_is_imported,
    a_reader_is_erased,
    an_actor_is_no_longer_withdrawn,
    an_address_is_allowed,
    an_address_is_suppressed,
    content_is_withdrawn,
    sending_goes_on,
    sending_stops,
    the_quarantine_comes_back,
    what_failed_comes_back,
)
from tests.runbook.for_templates import (
    the_version_before_is_in_force,
    the_working_tree_is_in_force,
    what_was_deployed_is_in_force,
)
from tests.runbook.rollbacks import the_named_one_works, the_one_before_works

SCENARIOS: Mapping[str, Scenario] = {
    "gazette batch cancel 2026-11-22T06:10Z": a_batch_is_cancelled,
    "gazette dlq redrive": a_dead_letter_comes_back,
    "gazette dlq redrive generate-dead": a_dead_letter_comes_back,
    "gazette dlq redrive --run ann-daily-17": a_dead_letter_comes_back,
    "gazette dlq redrive --batch 2026-11-22T06:10Z": a_dead_letter_comes_back,
    "gazette dlq redrive --on 2026-11-22": a_dead_letter_comes_back,
    "gazette dlq redrive failed": what_failed_comes_back,
    "gazette dlq redrive failed --run ann-daily-17": what_failed_comes_back,
    "gazette dlq redrive failed --batch 2026-11-22T06:10Z": what_failed_comes_back,
    "gazette dlq redrive failed --on 2026-11-22": what_failed_comes_back,
    "gazette quarantine redrive": the_quarantine_comes_back,
    'gazette sending stop "wrong template"': sending_stops,
    "gazette sending resume": sending_goes_on,
    'gazette sending stop "SES reviews the account"': sending_stops,
    'gazette sending stop "restore"': sending_stops,
    'gazette sending stop "too many bounces"': sending_stops,
    'gazette sending stop "too many complaints"': sending_stops,
    'gazette sending stop "wrong line" --category like': a_category_stops,
    "gazette sending resume --category like": a_category_goes_on,
    "gazette suppression add ann@example.com": an_address_is_suppressed,
    "gazette suppression remove ann@example.com": an_address_is_allowed,
    "gazette suppression import old.csv": a_list_is_imported,
    "gazette suppression export > suppressed.csv": a_list_is_exported,
    "gazette withdraw add --actor bo": content_is_withdrawn,
    "gazette withdraw add --entity post#p1": content_is_withdrawn,
    "gazette withdraw remove --actor bo": an_actor_is_no_longer_withdrawn,
    "gazette links rotate": a_key_is_added,
    "gazette links retire k1": a_key_is_retired("k1"),
    "gazette links retire k2 --now": a_key_is_retired("k2"),
    "gazette rollback": the_one_before_works,
    "gazette rollback b7d05e8c1f22": the_named_one_works,
    "gazette templates rollback": the_version_before_is_in_force,
    "gazette templates rollback deployed": what_was_deployed_is_in_force,
    'gazette templates push --note "fixed"': the_working_tree_is_in_force,
    "gazette restore subscribers": a_table_is_restored("subscribers"),
    "gazette restore schedules": a_table_is_restored("schedules"),
    "gazette restore control": a_table_is_restored("control"),
    'aws lambda update-event-source-mapping --uuid "$each" --no-enabled': functions_stop,
    'aws lambda update-event-source-mapping --uuid "$each" --enabled': functions_go_on,
    "aws dynamodb restore-table-to-point-in-time": tables_are_copied,
    "aws dynamodb delete-table": copies_are_deleted,
    "aws dynamodb delete-item": a_row_is_deleted,
    "aws dynamodb update-item": a_row_is_repaired,
    "aws events put-events": a_reader_is_erased,
    "aws events start-replay": events_are_replayed,
    "aws sns subscribe": a_pager_subscribes,
    "aws sqs purge-queue": ticks_are_deleted,
}
"""By the command as it is printed, without its comment; those of AWS by the words that say what
they do, wherever they stand."""

READS = re.compile(
    r"(for \w+ in [^;]+; do )?(gazette (rollback --list|explain|overview|find|doctor|statistics"
    r"|preview|cost|--\w+"
    r"|(batch|dlq|experiment|links|quarantine|suppression|templates|withdraw) (list|show)"
    r"|sending status|event lint)\b"
    r"|aws [\w-]+ ((get|list|describe|filter)-|wait ))"
)
"""Commands that change nothing: they need no scenario."""


def scenario_of(command: str) -> Scenario | None:
    """What is made before the command and looked at after it; None where there is nothing."""
    of_aws = (made for words, made in SCENARIOS.items() if words[:4] == "aws " and words in command)
    return SCENARIOS.get(command) or next(of_aws, None)


def has_its_test(command: str) -> bool:
    """Whether it changes nothing, or a scenario looks at what it changes."""
    return bool(READS.match(command) or scenario_of(command))
