"""What commands do to email, addresses and links: the state before, and the effect.

Each is a context manager: up to its `yield` it makes the state, behind it it looks at the effect,
counted in emails, rows and messages.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from urllib.error import HTTPError

from gazette.adapters.aws.queues import SqsQuarantine, encode_run_key
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.subscriber import Erased
from gazette.domain.subscribers.suppression import Cause
from gazette.domain.withdrawing.withdrawals import WithdrawalKind

from demo.ses import Accepted, Answer
from gazette_support.steps.withdrawals import add_withdrawal
from tests.runbook.state import ADDRESS, ANN, CATEGORY, KEY, State, envelope

Scenario = Callable[[State], AbstractContextManager[None]]

_REFUSED = Answer(400, "AccountSuspendedException")
_OLD_ADDRESS = "old@example.com"
_PREFERENCES = re.compile(r'href="([^"#]+/preferences/(k\d+)\.[^"#]+)')


@contextmanager
def a_batch_is_cancelled(state: State) -> Iterator[None]:
    """Its digest does not go out, and its event goes with the next one."""
    state.digest_is_due()
    with state.emails(0):
        yield
        assert standing(state) == (Status.CANCELLED, Reason.BATCH_CANCELLED)
        state.try_to_send()
    with state.emails(1):
        state.next_digest()
    assert "2 likes" in state.inbox[-1].part("plain")


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
    assert standing(state) == (Status.PENDING, Reason.DUE)


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
    assert standing(state) == (Status.SKIPPED, Reason.CATEGORY_HELD)


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
    assert "2 likes" in state.inbox[-1].part("plain")


@contextmanager
def content_is_withdrawn(state: State) -> Iterator[None]:
    """A digest of nothing else is not sent."""
    state.end_withdrawals()
    state.digest_is_due()
    yield
    state.new_workers()
    with state.emails(0):
        state.try_to_send()
    assert standing(state) == (Status.SKIPPED, Reason.WITHDRAWN)


@contextmanager
def an_actor_is_no_longer_withdrawn(state: State) -> Iterator[None]:
    """Send the waiting events."""
    state.end_withdrawals()
    state.digest_is_due()
    add_withdrawal(WithdrawalKind.ACTOR, "bo", context=state.withdrawals)
    yield
    state.new_workers()
    with state.emails(1):
        state.try_to_send()


@contextmanager
def an_address_is_suppressed(state: State) -> Iterator[None]:
    """It gets no email."""
    state.digest_is_due()
    yield
    with state.emails(0):
        state.try_to_send()
    assert standing(state) == (Status.SKIPPED, Reason.SUPPRESSED)


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
    state.suppressions.lift(address_hash(_OLD_ADDRESS), Cause.BOUNCED)
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
def a_reader_is_erased(state: State) -> Iterator[None]:
    """Nothing is known of them, and nothing is sent."""
    state.digest_is_due()
    time.sleep(1)  # `date` says whole seconds, and a profile of the same second would stay
    yield
    state.settle()
    assert isinstance(state.subscribers.get(ANN), Erased)
    with state.emails(0):
        state.try_to_send()
    # The events of the next page are a minute old. The erasure must not apply to them.
    state.forget("subscribers", {"user_id": ANN})


def standing(state: State) -> tuple[Status, Reason]:
    """How the run of the slot stands."""
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
