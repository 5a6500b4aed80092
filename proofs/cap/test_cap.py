"""A search that finds no fault within its bounds, and the faults that each rule prevents."""

from dataclasses import replace

import pytest
from gazette.domain.model import Event
from gazette.steps.routing.limit import Tokens
from gazette.steps.routing.target import Target

from proofs.cap.search import search
from proofs.cap.setups import setups
from proofs.cap.worlds import Setup
from tests.fake_stores import FakeImmediateUsage

SETUPS = dict(setups())


def small(name: str) -> Setup:
    return replace(SETUPS[name], switches=1)


@pytest.mark.parametrize("name", SETUPS)
def test_nothing_breaks_with_all_rules(name: str) -> None:
    found = search(small(name))
    assert found.violations == 0, found.broken
    assert found.worlds > 3


def test_limit_is_soft_by_a_worker_whose_run_ends() -> None:
    assert search(small("a run that ends before an event joins it")).most == 2


def test_without_tokens_too_many_emails_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(_: Tokens, event: Event, target: Target) -> bool:
        return bool(event and target)

    monkeypatch.setattr(Tokens, "_take", always)
    found = search(small("two events of two entities"))
    assert found.broken
    assert found.broken.violation == "2 immediate emails, more than 1"


def test_unconditional_write_of_the_usage_breaks_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def put(self: FakeImmediateUsage, user_id: str, usage: object, *, replacing: object) -> bool:
        self.events.usage[user_id] = usage  # type: ignore[assignment]
        return replacing is replacing

    monkeypatch.setattr(FakeImmediateUsage, "put", put)
    found = search(small("two events of two entities"))
    assert found.broken
    assert found.broken.violation == "2 immediate emails, more than 1"


def test_token_of_new_events_alone_does_not_limit_a_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tokens, "refused", lambda *_: ())
    found = search(small("a switch to immediate, and an event"))
    assert found.broken
    assert "immediate emails, more than 1" in str(found.broken.violation)
