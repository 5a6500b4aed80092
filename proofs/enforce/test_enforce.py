"""A short seed of the proof, and that it sees what is missing and what is too much."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofs.enforce.__main__ import record
from proofs.enforce.account import Account
from proofs.enforce.record import kept
from proofs.enforce.report import Report, report_on
from proofs.enforce.second_opinion import SecondOpinion
from proofs.enforce.stages import EVERYTHING, account_with
from proofs.enforce.template import Templates
from proofs.enforce.verdict import Verdict

_TESTS = (
    "tests/functions/test_grants.py",
    "tests/functions/delivery/test_outcomes.py",
    "tests/functions/test_handlers.py",
    "tests/functions/test_follower_costs.py",
    "tests/functions/test_coming_back.py",
)
_CHOSEN = (
    "exactly or refused or settles or waits_in_quarantine or sends or fallen_behind or queued_again"
    " or click_ends or known_to_come or dead_letter or at_once or collects or four_messages"
    " or coming_back or on_its_own_queue or permit_is_requeued or wait_somewhere"
    " or goes_to_quarantine"
)
"""Tests that use every grant of a function between them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was recorded."""
    made = tmp_path_factory.mktemp("enforce")
    record(made, "-n", "0", "-k", _CHOSEN, *_TESTS)
    return made


@pytest.fixture(scope="module")
def account(folder: Path) -> Account:
    """The stage that uses everything."""
    return account_with(folder / "stage", **EVERYTHING)


def of_functions(lines: frozenset[Any]) -> set[Any]:
    """Without those of commands, whose tests take long."""
    return {line for line in lines if not line[0].startswith("gazette ")}


def test_functions_ask_for_no_more_than_they_may_and_may_no_more_than_they_ask_for(
    folder: Path, account: Account
) -> None:
    report = report_on(account, folder)
    assert report.denied == frozenset()
    assert of_functions(report.unused) == set()


def judged(account: Account, folder: Path) -> Verdict:
    verdict = Verdict.of(account)
    for step, asked, told in kept(folder):
        if step in account.functions:
            verdict.judge(step, asked, told)
    return verdict


def test_without_any_one_grant_something_is_denied(folder: Path, account: Account) -> None:
    verdict = judged(account, folder)
    needed = {grant for grant in account.grants if grant.allows}
    assert needed == verdict.used | verdict.of_aws.keys()
    for grant in sorted(needed, key=verdict.line):
        without = Account.of(account.templates, without=grant)
        _, action, _ = verdict.line(grant)
        denied = Verdict.of(without).denied
        if grant in verdict.of_aws:
            assert any(action in line for line in denied), grant
            continue
        step = next(
            name
            for name, each in account.functions.items()
            if account.role_of(name) == grant.holder
        )
        told = Verdict.of(without)
        for actor, asked, settings in kept(folder):
            if actor == step:
                told.judge(actor, asked, settings)
        assert any(line.startswith(f"{step} may not {action} on ") for line in told.denied), grant


def test_another_evaluator_allows_the_same_calls(folder: Path, account: Account) -> None:
    documents: dict[str, list[dict[str, Any]]] = {}
    roles = {each.ref: each.arn for each in account.templates.of_type("AWS::IAM::Role")}
    for policy in account.templates.of_type("AWS::IAM::Policy"):
        for name in policy.properties["Roles"]:
            documents.setdefault(roles[name], []).append(policy.properties["PolicyDocument"])
    asked = {
        account.request(step, each, told)
        for step, calls, told in kept(folder)
        if step in account.functions
        for each in calls
    }
    with SecondOpinion() as other:
        for request in asked:
            assert other.allows(request, documents[request.caller])
            for strange in ("sqs:DeleteQueue", "dynamodb:DeleteTable"):
                changed = replace(request, action=strange)
                assert not other.allows(changed, documents[request.caller])
                assert not account.allowing(changed)


def edited(
    account: Account, edit: Callable[[dict[str, Any]], None], *, policy: str = "Generate"
) -> Account:
    """The account with another policy of one function."""
    stacks = json.loads(json.dumps(account.templates.stacks))
    (document,) = (
        resource["Properties"]["PolicyDocument"]
        for template in stacks.values()
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Policy" and name.startswith(f"{policy}Role")
    )
    edit(document)
    return Account.of(Templates.read(stacks))


def statements(document: dict[str, Any], action: str) -> list[dict[str, Any]]:
    return [each for each in document["Statement"] if action in str(each["Action"])]


def another_sender(document: dict[str, Any]) -> None:
    for each in statements(document, "ses:SendEmail"):
        each["Condition"]["StringEquals"]["ses:FromAddress"] = "somebody@else.dev"


def another_operator(document: dict[str, Any]) -> None:
    for each in statements(document, "ses:SendEmail"):
        each["Condition"] = {"StringLike": {"ses:FromAddress": "*@else.dev"}}


@pytest.mark.parametrize("edit", [another_sender, another_operator])
def test_a_condition_that_the_sender_does_not_meet_is_seen(
    folder: Path, account: Account, edit: Callable[[dict[str, Any]], None]
) -> None:
    denied = report_on(edited(account, edit), folder).denied
    on = "generate may not ses:SendEmail on "
    assert {line.removeprefix(on) for line in denied if line.startswith(on)} == {
        "Digest",
        "Immediate",
        "DomainIdentity",
    }


@pytest.mark.parametrize(
    ("action", "resource"),
    [("dynamodb:Scan", "*"), ("sqs:PurgeQueue", "*"), ("s3:GetObject", "arn:aws:s3:::b/*")],
)
def test_a_grant_that_nothing_uses_is_seen(
    folder: Path, account: Account, action: str, resource: str
) -> None:
    def add(document: dict[str, Any]) -> None:
        document["Statement"].append({"Effect": "Allow", "Action": action, "Resource": resource})

    unused = of_functions(report_on(edited(account, add), folder).unused)
    assert {(who, what) for who, what, _ in unused} == {("generate", action)}


def test_a_grant_that_another_one_covers_is_seen(folder: Path, account: Account) -> None:
    def add(document: dict[str, Any]) -> None:
        document["Statement"].append(
            {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": "*"}
        )

    unused = of_functions(report_on(edited(account, add), folder).unused)
    assert ("generate", "secretsmanager:GetSecretValue", "*") in unused


def test_a_reason_for_what_is_not_granted_is_stale() -> None:
    line = ("generate", "sqs:PurgeQueue", "*")
    nothing: frozenset[Any] = frozenset()
    report = Report(
        granted=nothing, used=nothing, of_aws=nothing, denied=nothing, reasoned=frozenset({line})
    )
    assert report.problems == ["generate sqs:PurgeQueue * needs no reason any more"]
    assert str(report) == "enforced: grants=0 used=0 reasoned=0 denied=0"
