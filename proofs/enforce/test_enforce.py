"""A short seed of the proof, and tests that it finds missing and superfluous grants."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from proofs.enforce import commands
from proofs.enforce.__main__ import record
from proofs.enforce.account import Account
from proofs.enforce.calls import Asked
from proofs.enforce.deciding import differing
from proofs.enforce.record import kept, recorded_before, stages_in
from proofs.enforce.report import Report, Reports, report_on
from proofs.enforce.second_opinion import SecondOpinion
from proofs.enforce.stages import STAGES, Judged, synthesised
from proofs.enforce.template import ACCOUNT, REGION, Templates
from proofs.enforce.verdict import Verdict

_TESTS = (
    "tests/functions/test_grants.py",
    "tests/functions/test_grants_besides_tables.py",
    "tests/functions/test_outbox.py",
    "tests/functions/delivery/test_template_versions.py",
)
"""Test modules that together use every grant of every function, in each stage."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the recorded calls."""
    made = tmp_path_factory.mktemp("enforce")
    synthesised(stages_in(made))
    if not recorded_before(made, _TESTS):
        record(made, "-n", "0", *_TESTS)
    return made


@pytest.fixture(scope="module")
def stages(folder: Path) -> tuple[Judged, ...]:
    return synthesised(stages_in(folder))


@pytest.fixture(scope="module", params=STAGES)
def stage(stages: tuple[Judged, ...], request: pytest.FixtureRequest) -> Judged:
    """Each judged stage."""
    (found,) = (each for each in stages if each.name == request.param)
    return found


def report_of(folder: Path, *stages: Judged) -> Report:
    """Return the report on the last of these stages."""
    *_, of_the_last, _ = report_on(stages, folder).each
    return of_the_last


def test_functions_ask_for_no_more_than_they_may_and_may_no_more_than_they_ask_for(
    folder: Path, stages: tuple[Judged, ...]
) -> None:
    for report in report_on(stages, folder).each[: len(stages)]:
        assert not report.problems, f"a test of {' or '.join(_TESTS)} has to use what is unused"


def judged(stage: Judged, folder: Path, *, grants: Account | None = None) -> Verdict:
    """Judge the calls that count for this stage, with other grants if given."""
    verdict = Verdict.of(grants or stage.account)
    for step, asked, told in kept(folder):
        functions = stage.account.functions
        if step in functions and not differing(told, stage.account.settings_of(step)):
            verdict.judge(step, asked, told)
    return verdict


def test_without_any_one_grant_something_is_denied(folder: Path, stage: Judged) -> None:
    verdict = judged(stage, folder)
    needed = {grant for grant in stage.account.grants if grant.allows}
    assert needed == verdict.used | verdict.of_aws.keys()
    calls = verdict.calls
    for grant in sorted(needed, key=verdict.line):
        without = Account.of(stage.account.templates, sandbox=stage.account.sandbox, without=grant)
        of_this = {
            call for call in calls if call.action == grant.action and not without.allowing(call)
        }
        assert of_this, grant


def test_another_evaluator_allows_the_same_calls(folder: Path, stage: Judged) -> None:
    account = stage.account
    documents: dict[str, list[dict[str, Any]]] = {}
    roles = {each.ref: each.arn for each in account.templates.of_type("AWS::IAM::Role")}
    for policy in account.templates.of_type("AWS::IAM::Policy"):
        for name in policy.properties["Roles"]:
            documents.setdefault(roles[name], []).append(policy.properties["PolicyDocument"])
    with SecondOpinion() as other:
        for request in judged(stage, folder).calls:
            if request.caller not in documents:
                continue
            assert other.allows(request, documents[request.caller])
            for strange in ("sqs:DeleteQueue", "dynamodb:DeleteTable"):
                changed = replace(request, action=strange)
                assert not other.allows(changed, documents[request.caller])
                assert not account.allowing(changed)


def edited(
    stage: Judged, edit: Callable[[dict[str, Any]], None], *, policy: str = "Generate"
) -> Judged:
    """Return the stage with another policy of one function."""
    stacks = json.loads(json.dumps(stage.account.templates.stacks))
    (document,) = (
        resource["Properties"]["PolicyDocument"]
        for template in stacks.values()
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Policy" and name.startswith(f"{policy}Role")
    )
    edit(document)
    account = Account.of(Templates.read(stacks), sandbox=stage.account.sandbox)
    return replace(stage, account=account)


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
    folder: Path, stages: tuple[Judged, ...], edit: Callable[[dict[str, Any]], None]
) -> None:
    denied = report_of(folder, edited(stages[1], edit)).denied
    on = "generate may not ses:SendEmail on "
    assert {line.removeprefix(on) for line in denied if line.startswith(on)} == {
        "Digest",
        "Immediate",
        "DomainIdentity",
        "identity/digest+weekly@eu.news.gazette.dev",
        "identity/digest@eu.news.gazette.dev",
        "identity/eu.news.gazette.dev",
        "identity/now@news.gazette.dev",
    }


@pytest.mark.parametrize(
    ("action", "resource"),
    [("dynamodb:Scan", "*"), ("sqs:PurgeQueue", "*"), ("s3:GetObject", "arn:aws:s3:::b/*")],
)
def test_a_grant_that_nothing_uses_is_seen(
    folder: Path, stage: Judged, action: str, resource: str
) -> None:
    def add(document: dict[str, Any]) -> None:
        document["Statement"].append({"Effect": "Allow", "Action": action, "Resource": resource})

    unused = report_of(folder, edited(stage, add)).unused
    assert {(who, what) for who, what, _ in unused} == {("generate", action)}


def test_a_grant_that_another_one_covers_is_seen(folder: Path, stage: Judged) -> None:
    def add(document: dict[str, Any]) -> None:
        document["Statement"].append(
            {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": "*"}
        )

    unused = report_of(folder, edited(stage, add)).unused
    assert ("generate", "secretsmanager:GetSecretValue", "*") in unused


def test_a_grant_of_a_command_that_another_one_covers_is_seen(
    stages: tuple[Judged, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        commands,
        "PERMISSIONS",
        {
            "dlq list": frozenset(
                (f"queue/{name}", "sqs:ReceiveMessage") for name in ("*", "failed")
            )
        },
    )
    judged = commands.Commands(stages[0].account)
    url = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/gazette-prod-failed"
    judged.judge("dlq list", [Asked("sqs:ReceiveMessage", "queue", url)], {})
    assert judged.denied == set()
    assert len(judged.granted() - judged.lines()) == 2


def everywhere(document: dict[str, Any]) -> None:
    for each in statements(document, "dynamodb:GetItem"):
        each["Resource"] = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/*"


def in_every_account(document: dict[str, Any]) -> None:
    for each in statements(document, "dynamodb:GetItem"):
        each["Resource"] = f"arn:aws:dynamodb:{REGION}:*:table/*"


def in_every_region(document: dict[str, Any]) -> None:
    for each in statements(document, "dynamodb:GetItem"):
        each["Resource"] = f"arn:aws:dynamodb:*:{ACCOUNT}:table/*"


def every_action(document: dict[str, Any]) -> None:
    for each in statements(document, "dynamodb:GetItem"):
        each["Action"] = "dynamodb:*"


def whoever_sends(document: dict[str, Any]) -> None:
    for each in statements(document, "ses:SendEmail"):
        del each["Condition"]


def every_identity(document: dict[str, Any]) -> None:
    for each in statements(document, "ses:SendEmail"):
        each["Resource"] = [f"arn:aws:ses:{REGION}:{ACCOUNT}:identity/*", *each["Resource"][-1:]]


def every_secret(document: dict[str, Any]) -> None:
    for each in statements(document, "secretsmanager:GetSecretValue"):
        each["Resource"] = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:*"


@pytest.mark.parametrize(
    ("edit", "seen"),
    [
        (everywhere, "generate may also dynamodb:GetItem on Runs-x"),
        (in_every_account, "generate may also dynamodb:GetItem on arn:aws:dynamodb:eu-central-1:9"),
        (in_every_region, "generate may also dynamodb:GetItem on arn:aws:dynamodb:ap-southeast-2"),
        (every_action, "generate dynamodb:* "),
        (every_secret, "generate may also secretsmanager:GetSecretValue on "),
    ],
)
def test_a_grant_that_was_widened_is_seen(
    folder: Path, stage: Judged, edit: Callable[[dict[str, Any]], None], seen: str
) -> None:
    assert any(each.startswith(seen) for each in report_of(folder, edited(stage, edit)).wide)


@pytest.mark.parametrize(("edit", "number"), [(whoever_sends, 0), (whoever_sends, 3)])
def test_a_sender_that_nobody_names_is_seen(
    folder: Path,
    stages: tuple[Judged, ...],
    edit: Callable[[dict[str, Any]], None],
    number: int,
) -> None:
    wide = report_of(folder, edited(stages[number], edit)).wide
    assert any("ses:fromaddress somebody@else.example" in each for each in wide)


def test_outside_the_sandbox_an_identity_that_nobody_names_is_seen(
    folder: Path, stages: tuple[Judged, ...]
) -> None:
    wide = report_of(folder, edited(stages[1], every_identity)).wide
    assert "generate may also ses:SendEmail on identity/else.example" in " ".join(wide)


def with_policy(stage: Judged, name: str, edit: Callable[[dict[str, Any]], None]) -> Judged:
    """Return the stage with other properties of the resource whose name begins with `name`."""
    stacks = json.loads(json.dumps(stage.account.templates.stacks))
    (properties,) = (
        resource["Properties"]
        for template in stacks.values()
        for logical, resource in template["Resources"].items()
        if logical.startswith(name) and resource["Type"].endswith(("::Policy", "::Key"))
    )
    edit(properties)
    account = Account.of(Templates.read(stacks), sandbox=stage.account.sandbox)
    return replace(stage, account=account)


@pytest.mark.parametrize("action", ["Decrypt", "GenerateDataKey"])
def test_a_missing_grant_on_the_key_is_seen(
    folder: Path, stages: tuple[Judged, ...], action: str
) -> None:
    def without_generate(properties: dict[str, Any]) -> None:
        roles = properties["Roles"]
        properties["Roles"] = [each for each in roles if "Generate" not in each["Ref"]]

    denied = report_of(folder, with_policy(stages[1], f"May{action}", without_generate)).denied
    assert {each for each in denied if "kms:" in each} == {f"generate may not kms:{action} on Key"}


def test_an_unused_grant_on_the_key_is_seen(folder: Path, stages: tuple[Judged, ...]) -> None:
    def add(properties: dict[str, Any]) -> None:
        (statement,) = properties["PolicyDocument"]["Statement"]
        statement["Action"] = ["kms:Decrypt", "kms:Encrypt"]

    unused = report_of(folder, with_policy(stages[1], "MayDecrypt", add)).unused
    assert ("generate", "kms:Encrypt", "Key") in unused
    assert {what for _, what, _ in unused} == {"kms:Encrypt"}


def test_a_service_that_may_not_use_the_key_is_seen(
    folder: Path, stages: tuple[Judged, ...]
) -> None:
    def without_events(properties: dict[str, Any]) -> None:
        policy = properties["KeyPolicy"]
        policy["Statement"] = [
            each for each in policy["Statement"] if "events" not in str(each["Principal"])
        ]

    denied = report_of(folder, with_policy(stages[1], "Key", without_events)).denied
    assert "events.amazonaws.com may not kms:GenerateDataKey on Key" in denied
    on_the_key = [each for each in denied if "kms:" in each]
    assert all(each.startswith("events.amazonaws.com") for each in on_the_key)


def test_a_key_that_services_may_use_for_other_accounts_is_seen(
    folder: Path, stages: tuple[Judged, ...]
) -> None:
    def without_conditions(properties: dict[str, Any]) -> None:
        for each in properties["KeyPolicy"]["Statement"]:
            each.pop("Condition", None)

    wide = report_of(folder, with_policy(stages[1], "Key", without_conditions)).wide
    for service in ("cloudwatch", "ses", "sns"):
        assert any(each.startswith(f"{service}.amazonaws.com may also kms:") for each in wide)


def test_in_the_sandbox_the_identity_of_a_recipient_is_asked_for(
    folder: Path, stages: tuple[Judged, ...]
) -> None:
    in_it, outside, *_ = stages
    account = Account.of(outside.account.templates, sandbox=True)
    denied = report_of(folder, in_it, replace(outside, account=account)).denied
    assert "generate may not ses:SendEmail on identity/ann@example.com" in denied


def test_a_call_of_which_no_stage_can_tell_what_it_names_is_seen(
    tmp_path: Path, stages: tuple[Judged, ...]
) -> None:
    one = {"GAZETTE_RUNS_TABLE": "one", "GAZETTE_EVENTS_TABLE": "one"}
    told = {**stages[0].account.settings_of("generate"), **one}
    call = asdict(Asked("dynamodb:GetItem", "table", "one"))
    line = {"actor": "generate", "told": told, "asked": [call]}
    (tmp_path / "1.jsonl").write_text(json.dumps(line, default=list))
    (seen,) = report_on(stages, tmp_path).each[0].denied
    assert seen.startswith("generate asks for dynamodb:GetItem, and no stage tells")


def test_a_call_of_another_stage_uses_no_grant(folder: Path, stages: tuple[Judged, ...]) -> None:
    """Grants that only SMTP needs are unused if no test sends by SMTP, and so on."""
    login = ("generate", "secretsmanager:GetSecretValue", "gazette-smtp-??????")
    everything, _, by_smtp, plain = stages
    assert login in report_of(folder, by_smtp).used
    for stage, lacks in ((by_smtp, "smtp"), (everything, "ses"), (plain, "ses")):
        calls = [
            call
            for step, asked, told in kept(folder)
            if told.get("GAZETTE_MAIL_PROVIDER") != lacks and step == "generate"
            if not differing(told, stage.account.settings_of(step))
            for call in asked
        ]
        assert calls == []


def test_a_reason_for_what_is_not_granted_is_stale() -> None:
    line = ("generate", "sqs:PurgeQueue", "*")
    nothing: frozenset[Any] = frozenset()
    report = Report(
        name="prod", granted=nothing, used=nothing, denied=nothing, reasons=frozenset({line})
    )
    assert Reports((report,)).problems == ["generate sqs:PurgeQueue * needs no reason any more"]
    assert str(Reports((report,))).splitlines() == [
        "prod: grants=0 used=0 reasoned=0 denied=0",
        "enforced: grants=0 used=0 reasoned=0 denied=0",
    ]
