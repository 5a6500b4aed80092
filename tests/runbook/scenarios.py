"""What holds before a command that changes something, and what must be so after it.

Each is a context manager: up to its `yield` it makes the state, behind it it looks at the effect,
counted in emails, rows and messages.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from urllib.error import HTTPError

import boto3
from gazette.adapters.aws.queues import SqsQuarantine, encode_run_key
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.subscriber import Erased
from gazette.domain.subscribers.suppression import Cause

from demo.ses import Accepted, Answer
from tests.runbook.rollbacks import the_named_one_works, the_one_before_works
from tests.runbook.state import ADDRESS, ANN, CATEGORY, KEY, State, envelope

Scenario = Callable[[State], AbstractContextManager[None]]

_REFUSED = Answer(400, "AccountSuspendedException")
_NOTHING_HAPPENS = 3
"""Seconds in which a function that runs would have taken a message."""

_LOST = {
    "subscribers": {"user_id": ANN},
    "schedules": {"user_id": ANN},
    "control": {"kind": "batch"},
}
_OLD_ADDRESS = "old@example.com"
_PREFERENCES = re.compile(r'href="([^"#]+/preferences/(k\d+)\.[^"#]+)')


@contextmanager
def a_batch_is_cancelled(state: State) -> Iterator[None]:
    """Its digest does not go out, and its event goes with the next one."""
    state.digest_is_due()
    with state.emails(0):
        yield
        assert _standing(state) == (Status.CANCELLED, Reason.BATCH_CANCELLED)
        state.try_to_send()
    with state.emails(1):
        state.next_digest()
    assert "2 updates" in state.inbox[-1].part("plain")


@contextmanager
def a_dead_letter_comes_back(state: State) -> Iterator[None]:
    """Generate could not process it; its email goes out once."""
    state.digest_is_due()
    state.send("generate-dead", encode_run_key(KEY))
    with state.emails(1):
        yield
        state.settle()
    assert state.inbox[-1].tags["run"] == "ann-daily-17"
    assert state.waiting("generate-dead") == 0


@contextmanager
def what_failed_comes_back(state: State) -> Iterator[None]:
    """The next run starts, with all that waits, and one email goes out."""
    state.digest_failed()
    with state.emails(1):
        yield
        state.settle()
    assert state.inbox[-1].tags["run"] == "ann-daily-18"
    assert state.waiting("failed") == 0


@contextmanager
def the_quarantine_comes_back(state: State) -> Iterator[None]:
    """An older release refused an event that this one stores."""
    body = envelope(
        "event.created",
        {
            "id": "quarantined",
            "user_id": ANN,
            "category": CATEGORY,
            "entity": {"type": "post", "id": "p", "title": "T", "url": "https://example.com/p"},
            "actor": {"id": "bo", "name": "Bo"},
            "occurred_at": now().isoformat(),
        },
    )
    service = state.deployed.service
    SqsQuarantine(service.queues, service.queue_url("quarantine")).keep(body, "excerpt: too new")
    yield
    state.settle()
    assert state.events.get(ANN, "quarantined")
    assert state.waiting("quarantine") == 0


@contextmanager
def sending_stops(state: State) -> Iterator[None]:
    """What was due waits."""
    state.digest_is_due()
    yield
    with state.emails(0):
        state.try_to_send()
    assert _standing(state) == (Status.PENDING, Reason.DUE)


@contextmanager
def sending_goes_on(state: State) -> Iterator[None]:
    """It was stopped, by hand or because SES refuses the account; what waited goes out."""
    state.digest_is_due()
    state.deployed.ses.script.append(_REFUSED)
    with state.emails(0):
        state.try_to_send()
        state.try_to_send()
    state.deployed.ses.script.clear()
    with state.emails(1):
        yield
        state.try_to_send()


@contextmanager
def a_category_stops(state: State) -> Iterator[None]:
    """A digest of nothing else is not sent."""
    state.digest_is_due()
    yield
    state.new_workers()
    with state.emails(0):
        state.try_to_send()
    assert _standing(state) == (Status.SKIPPED, Reason.CATEGORY_HELD)


@contextmanager
def a_category_goes_on(state: State) -> Iterator[None]:
    """What waited goes with the next digest."""
    state.sending.holds.add(CategoryHold(category=CATEGORY, why="too many bounces", since=now()))
    state.new_workers()
    state.digest_is_due()
    with state.emails(0):
        state.try_to_send()
    yield
    state.new_workers()
    with state.emails(1):
        state.next_digest()
    assert "2 updates" in state.inbox[-1].part("plain")


@contextmanager
def an_address_is_suppressed(state: State) -> Iterator[None]:
    """It gets no email."""
    state.digest_is_due()
    yield
    with state.emails(0):
        state.try_to_send()
    assert _standing(state) == (Status.SKIPPED, Reason.SUPPRESSED)


@contextmanager
def an_address_is_allowed(state: State) -> Iterator[None]:
    """Its reader gets email again once their profile comes anew."""
    state.suppressions.add(address_hash(ADDRESS), Cause.MANUAL)
    yield
    state.register()
    state.digest_is_due()
    with state.emails(1):
        state.try_to_send()


@contextmanager
def a_list_is_imported(state: State) -> Iterator[None]:
    """Each address in it is suppressed."""
    (state.folder / "old.csv").write_text(f"address,reason\n{_OLD_ADDRESS},bounced\n")
    before = _suppressed(state)
    yield
    assert _suppressed(state) == before + 1
    assert state.suppressions.holds(address_hash(_OLD_ADDRESS))


@contextmanager
def a_list_is_exported(state: State) -> Iterator[None]:
    """It has a heading, and a line for each address."""
    yield
    lines = (state.folder / "suppressed.csv").read_text().splitlines()
    assert lines[0] == "address_hash,reason,since"
    assert len(lines) == 1 + _suppressed(state) > 1


@contextmanager
def a_key_is_added(state: State) -> Iterator[None]:
    """Old links work, and new ones are signed with the new key."""
    old = _new_link(state)
    yield
    state.new_workers()
    new = _new_link(state)
    assert (_key(old), _key(new)) == ("k1", "k2")
    assert (_answers(state, old), _answers(state, new)) == (True, True)


def a_key_is_retired(key: str) -> Scenario:
    """Links that it signed end; those of the key after it work."""

    @contextmanager
    def scenario(state: State) -> Iterator[None]:
        old = next(link for mail in reversed(state.inbox) if _key(link := _link(mail)) == key)
        assert _answers(state, old)
        yield
        state.new_workers()
        new = _new_link(state)
        assert _key(new) > key
        assert (_answers(state, old), _answers(state, new)) == (False, True)

    return scenario


@contextmanager
def ticks_are_deleted(state: State) -> Iterator[None]:
    """The queue is empty, so its alarm ends."""
    state.send("ticks-undelivered", '{"time": "2026-11-22T06:10:00Z"}')
    assert state.waiting("ticks-undelivered") == 1
    yield
    assert state.waiting("ticks-undelivered") == 0


@contextmanager
def a_pager_subscribes(state: State) -> Iterator[None]:
    """To the topic of the alarms, for those that wake somebody."""
    yield
    topics = boto3.client("sns")
    pages = topics.get_paginator("list_subscriptions").paginate()
    (pager,) = (each for page in pages for each in page["Subscriptions"])
    asked = topics.get_subscription_attributes(SubscriptionArn=pager["SubscriptionArn"])
    assert "GazetteProd-Alarms" in pager["TopicArn"]
    assert "NOW:" in asked["Attributes"]["FilterPolicy"]


@contextmanager
def events_are_replayed(state: State) -> Iterator[None]:
    """Ann gets nothing for what is stored already.

    The engine has archives, but its CloudFormation does not make them.
    """
    bus = boto3.client("events")
    source = bus.describe_event_bus(Name="gazette")["Arn"]
    bus.create_archive(ArchiveName="gazette-prod", EventSourceArn=source)
    with state.emails(0):
        yield
        state.settle()


@contextmanager
def a_reader_is_erased(state: State) -> Iterator[None]:
    """Nothing is known of them, and nothing is sent."""
    state.digest_is_due()
    yield
    state.settle()
    assert isinstance(state.subscribers.get(ANN), Erased)
    with state.emails(0):
        state.try_to_send()


@contextmanager
def a_row_is_repaired(state: State) -> Iterator[None]:
    """Its run can be read again, and goes out."""
    state.digest_is_due()
    state.damage("due_at", "yesterday")
    with state.emails(1):
        yield
        state.try_to_send()


@contextmanager
def a_row_is_deleted(state: State) -> Iterator[None]:
    """What it held up goes with the next digest."""
    state.digest_is_due()
    state.damage("due_at", "yesterday")
    yield
    assert state.runs.get(KEY) is None
    with state.emails(1):
        state.next_digest()


@contextmanager
def functions_stop(state: State) -> Iterator[None]:
    """What comes waits in its queue."""
    state.empty("generate")
    yield
    state.send("generate", encode_run_key(KEY))
    time.sleep(_NOTHING_HAPPENS)
    assert state.waiting("generate") == 1
    state.empty("generate")


@contextmanager
def functions_go_on(state: State) -> Iterator[None]:
    """What waited is worked off; no email goes out, because it is stopped."""
    state.digest_is_due()
    state.send("generate", encode_run_key(KEY))
    with state.emails(0):
        yield
        state.settle(delayed=False)
    assert _standing(state) == (Status.PENDING, Reason.DUE)


@contextmanager
def tables_are_copied(state: State) -> Iterator[None]:
    """Each as it was: here, as it is, because the engine knows no earlier instant. Then the rows
    of Ann are lost."""
    yield
    for table, key in _LOST.items():
        assert state.rows(table, key) == state.rows(table, key, copy=True) != []
        state.forget(table, key)


def a_table_is_restored(table: str) -> Scenario:
    """It has its rows again."""

    @contextmanager
    def scenario(state: State) -> Iterator[None]:
        key = _LOST[table]
        assert state.rows(table, key) == []
        yield
        assert state.rows(table, key) == state.rows(table, key, copy=True) != []

    return scenario


@contextmanager
def copies_are_deleted(state: State) -> Iterator[None]:
    """The tables themselves stay."""
    yield
    left = boto3.client("dynamodb").list_tables()["TableNames"]
    assert [name for name in left if name.endswith("-restored")] == []
    assert state.subscribers.get(ANN)


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
    "gazette links rotate": a_key_is_added,
    "gazette links retire k1": a_key_is_retired("k1"),
    "gazette links retire k2 --now": a_key_is_retired("k2"),
    "gazette rollback": the_one_before_works,
    "gazette rollback b7d05e8c1f22": the_named_one_works,
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
    r"|(batch|dlq|experiment|links|quarantine|suppression) (list|show)|sending status|event lint)\b"
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


def _standing(state: State) -> tuple[Status, Reason]:
    run = state.runs.get(KEY)
    assert run
    return run.status, run.reason


def _suppressed(state: State) -> int:
    return sum(1 for _ in state.suppressions.each())


def _new_link(state: State) -> str:
    """The link to her preferences in an email that is sent now."""
    state.digest_is_due()
    with state.emails(1):
        state.try_to_send()
    return _link(state.inbox[-1])


def _link(mail: Accepted) -> str:
    found = _PREFERENCES.search(mail.part("html"))
    assert found
    return found[1]


def _key(link: str) -> str:
    found = re.search(r"/(k\d+)\.", link)
    assert found
    return found[1]


def _answers(state: State, link: str) -> bool:
    """Whether the link leads to her preferences."""
    try:
        return state.deployed.request(link)[0] == 200
    except HTTPError:
        return False
