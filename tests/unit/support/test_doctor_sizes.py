"""What the doctor says of how often functions may run at once."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from gazette.domain.console.levels import Level
from gazette.domain.delivery.pace import ASSUMED_QUOTA, MAX_RATE, QUOTA_SHARE
from gazette.settings.delivery import GenerateSettings

from gazette_cdk.concurrency import Size, senders
from gazette_cli.doctor.findings import Finding, Unseen
from gazette_cli.doctor.size_checks import check_limit, check_sizes
from gazette_cli.doctor.stage_facts import ALARM, FUNCTION, MAPPING, Deployed, StageFacts

SHARE = 20


def account(quota: float, *, is_sandbox: bool = False) -> Mapping[str, Any]:
    return {"ProductionAccessEnabled": not is_sandbox, "SendQuota": {"MaxSendRate": quota}}


def settings(emails_per_second: int, provider: str = "ses") -> GenerateSettings:
    made = object.__new__(GenerateSettings)
    for name, value in {
        "emails_per_second": emails_per_second,
        "immediate_share": SHARE,
        "mail_provider": provider,
    }.items():
        object.__setattr__(made, name, value)
    return made


def mapping(queue: str, size: Size) -> Deployed:
    return Deployed(
        name=queue,
        kind=MAPPING,
        physical=f"uuid-of-{queue}",
        template={
            "BatchSize": size.batch,
            "ScalingConfig": {"MaximumConcurrency": size.concurrency},
        },
    )


def alarm(said: int, name: str = "concurrency-nearly-used-up") -> Deployed:
    """As the stack makes it for an account of which `said` was said."""
    made = {"AlarmName": f"gazette-prod-{name}", "Threshold": 0.9 * said}
    return Deployed(name=name, kind=ALARM, physical=name, template=made)


RESERVED = Deployed(
    name="preferences", kind=FUNCTION, physical="f", template={"ReservedConcurrentExecutions": 10}
)


def stage(rate: float, *, limit: int = 1000, said: int = 1000, **overridden: int) -> StageFacts:
    """Made for a rate, but for what `concurrency` says."""
    sizes = {
        name: replace(size, concurrency=overridden.get(name, size.concurrency))
        for name, size in senders(rate, immediate_share=SHARE).items()
    }
    mappings = [mapping(name, size) for name, size in sizes.items()]
    return StageFacts(
        stage="prod",
        resources=[*mappings, mapping("ingest", Size(50)), alarm(7, "late"), alarm(said), RESERVED],
        limits={"AccountLimit": {"ConcurrentExecutions": limit}},
    )


ASSUMED = QUOTA_SHARE * ASSUMED_QUOTA


def wrong(
    facts: StageFacts, emails_per_second: int = 0, quota: float = 14, *, is_sandbox: bool = False
) -> list[Finding]:
    answer = account(quota, is_sandbox=is_sandbox)
    found = check_sizes(facts, settings(emails_per_second), answer)
    return [each for each in found if each.level is not Level.OK]


def test_stage_sized_for_the_account_quota_is_ok() -> None:
    assert wrong(stage(ASSUMED)) == []
    assert wrong(stage(100), 100, quota=200) == []


def test_quota_above_the_assumption_names_queues_and_suggested_rate() -> None:
    found = wrong(stage(ASSUMED), quota=200)
    assert [each.check for each in found] == ["size generate", "size immediate"]
    assert {each.level for each in found} == {Level.WARNING}
    needed = senders(180, immediate_share=SHARE)["generate"]
    assert found[0].seen.startswith(
        "2 concurrent invocations with up to 10 runs each; 180 emails per second in both "
    )
    size = f"{needed.concurrency} concurrent invocations with up to {needed.batch} runs each"
    assert f"need {size}: " in found[0].seen
    assert "more slowly" in found[0].seen
    assert {each.todo.partition(",")[0] for each in found} == {"Set `emails_per_second` to 180"}
    assert wrong(stage(180), 180, quota=200) == [], "that is what it takes"


def test_quota_below_the_assumption_is_reported_except_in_the_sandbox() -> None:
    (finding,) = wrong(stage(ASSUMED), quota=5)
    assert finding.check == "size immediate"
    assert "runs wait for permits" in finding.seen
    assert finding.todo.startswith("Set `emails_per_second` to 4, and deploy")
    assert wrong(stage(ASSUMED), quota=1, is_sandbox=True) == []


@pytest.mark.parametrize(("number", "words"), [(2, "more slowly"), (40, "runs wait")])
def test_concurrency_that_does_not_fit_the_rate_is_named(number: int, words: str) -> None:
    (finding,) = wrong(stage(100, generate=number), 100, quota=200)
    fits = senders(100, immediate_share=SHARE)["generate"].concurrency
    assert finding.check == "size generate"
    assert words in finding.seen
    assert finding.todo.startswith(f"In the `concurrency` setting, set `generate` to {fits} or")
    (finding,) = wrong(stage(ASSUMED, immediate=30))
    assert finding.check == "size immediate"
    assert finding.todo == "Remove `immediate` from `concurrency`, and deploy."
    (finding,) = wrong(stage(ASSUMED, generate=40), quota=28)
    assert "remove `generate` from `concurrency`" in finding.todo
    assert "Set `emails_per_second` to 25" in finding.todo


def test_suggested_rate_is_within_the_allowed_range() -> None:
    found = wrong(stage(ASSUMED), quota=10_000)
    assert {each.todo.partition(",")[0] for each in found} == {"Set `emails_per_second` to 5000"}
    assert wrong(stage(MAX_RATE), MAX_RATE, quota=10_000) == []


def test_suggested_concurrency_is_reduced_only_to_fit_the_limit() -> None:
    for limit, is_offered in ((30, True), (20, True), (10, False)):
        first, _ = check_limit(replace(stage(500, limit=limit)))
        assert (first.check, first.level) == ("lambda concurrency", Level.WARNING)
        assert ("lower `concurrency`" in first.todo) == is_offered
        assert "request-service-quota-increase" in first.todo


def test_smtp_stage_is_sized_by_its_configured_rate() -> None:
    sizes = senders(10, immediate_share=SHARE, by_smtp=True)
    resources = [*(mapping(name, size) for name, size in sizes.items()), alarm(1000)]
    facts = replace(stage(10), resources=resources)
    assert {each.level for each in check_sizes(facts, settings(10, "smtp"), None)} == {Level.OK}
    many = stage(10, generate=90)
    (finding,) = (each for each in check_sizes(many, settings(10, "smtp"), None) if each.todo)
    assert finding.check == "size generate"


def test_fewer_smtp_connections_than_the_rate_requires_are_accepted() -> None:
    """As docs/sending.md says for twenty of them."""
    few = stage(10, generate=14, immediate=4, resend=2)
    found = [*check_sizes(few, settings(10, "smtp"), None)]
    assert {each.level for each in found} == {Level.OK}


def test_sizes_are_not_checked_if_the_quota_is_unreadable() -> None:
    denied = Unseen("needs ses:GetAccount")
    found = check_sizes(stage(1), settings(0), denied)
    assert {each.check for each in found} == {"lambda concurrency", "account concurrency"}


@pytest.mark.parametrize(
    ("limit", "said", "words", "todo"),
    [
        (
            200,
            1000,
            "too late or never",
            r"Set `account_concurrency` to 200 and deploy, or request ",
        ),
        (3000, 1000, "too early", r"Set `account_concurrency` to 3000 and deploy\."),
        (101, 10, "too early", r"Set `account_concurrency` to 101 and deploy\."),
    ],
)
def test_account_concurrency_setting_is_compared_with_the_account_limit(
    limit: int, said: int, words: str, todo: str
) -> None:
    facts = stage(ASSUMED, limit=limit, said=said)
    (finding,) = (each for each in check_limit(facts) if each.level is not Level.OK)
    assert (finding.check, finding.level) == ("account concurrency", Level.WARNING)
    assert f"limit is {limit}, but `account_concurrency` is {said}" in finding.seen
    assert words in finding.seen
    assert re.match(todo, finding.todo)
    assert ("--quota-code L-B99A9384 --desired-value 1000`" in finding.todo) == (limit < said)


@pytest.mark.parametrize("said", [10, 11, 33, 999, 1000, 4321])
def test_account_concurrency_matching_the_limit_is_ok(said: int) -> None:
    found = {each.check: each for each in check_limit(stage(1, limit=said, said=said))}
    assert found["account concurrency"].level is Level.OK


def test_reserved_concurrency_is_unavailable_to_shared_queues() -> None:
    taken = sum(each.concurrency for each in senders(1, immediate_share=SHARE).values()) + 50
    enough = taken + 10
    for limit, level in ((enough, Level.OK), (enough - 1, Level.WARNING)):
        first, _ = check_limit(stage(1, limit=limit))
        assert (first.check, first.level) == ("lambda concurrency", level)
    assert (
        f"the account's limit is {enough - 1} invocations; queues use up to {taken}" in first.seen
    )


def test_doctor_reports_missing_permissions() -> None:
    denied = replace(stage(1), limits=Unseen("needs lambda:GetAccountSettings"))
    assert [each.level for each in check_limit(denied)] == [Level.UNSEEN]
    old = replace(stage(1), resources=[])
    assert [each.level for each in check_limit(old)] == [Level.OK, Level.UNSEEN]
    unlisted = replace(stage(1), resources=Unseen("needs cloudformation:ListStackResources"))
    assert [each.check for each in check_limit(unlisted)] == ["lambda concurrency"]
