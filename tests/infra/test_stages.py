"""Stages: what cdk.json says, nothing else, and clear words when it is wrong."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from gazette_cdk.app import context, main
from gazette_cdk.constructs.watching.health import CLOCK, FAILING, LOST, THROTTLED, TURNED_AWAY
from gazette_cdk.constructs.watching.heartbeats import HEARTBEATS
from gazette_cdk.constructs.watching.shares import SHARES
from gazette_cdk.stages import StageError, read_stage
from tests.infra.synthesis import Properties, Synthesis, Template, without_hash

_ROOT = Path(__file__).parents[2]
_VALID = {"sender": "Gazette <digest@example.com>", "list_id": "digest.example.com"}

_READY = {
    "sender": "Gazette <digest@gazette.dev>",
    "list_id": "digest.gazette.dev",
    "alarm_email": "none",
    "links_domain": "none",
}
"""What a stage that keeps its data has to say."""

_NO_HOSTS = ("https://example.com", "example.com/a", "example.com:443", "", "*", 7)

_FOLLOWS = {
    "sender": {"GAZETTE_SENDER", "GAZETTE_IMMEDIATE_SENDER", "ses:FromAddress"},
    "list_id": {"GAZETTE_LIST_ID"},
    "retain": {
        "DeletionPolicy",
        "UpdateReplacePolicy",
        "DeletionProtectionEnabled",
        "PointInTimeRecoveryEnabled",
    },
    "ticks": {"State", "GAZETTE_TICKS"},
    # the name of a deployment follows from all of it, and the dashboard has a tile for each alarm
    "host_layers": {"S3Key", "Description", "DashboardBody"},
    "shards": {"GAZETTE_SHARDS"},
    "spread": {"GAZETTE_SPREAD", "Threshold"},
    "emails_per_second": {"GAZETTE_EMAILS_PER_SECOND", "MemorySize"},
    "ramp_from": {"GAZETTE_RAMP_FROM"},
    "collapse": {"GAZETTE_COLLAPSE"},
    "clock_skew": {"GAZETTE_CLOCK_SKEW"},
    "settle_lag": {"GAZETTE_SETTLE_LAG"},
    "concurrency": {"MaximumConcurrency"},
    "feedback_window": {"BatchSize", "MaximumBatchingWindowInSeconds", "VisibilityTimeout"},
}
"""The properties that a field of a stage decides, for the fields in which local differs."""

_NOT_ON_THIS_MACHINE = {
    each.name.title().replace("-", "")
    for each in (*SHARES, *HEARTBEATS, CLOCK, FAILING, LOST, THROTTLED, TURNED_AWAY)
} | {"QueuesGrowing", "TurnedAway"}
"""What `host_layers` leaves out: alarms with metric math; and what `ticks` leaves out: those that
listen to the clock."""


def test_local_stage_differs_from_prod_only_by_its_settings(
    prod: Synthesis, local: Synthesis
) -> None:
    stages = context()["stages"]
    one, other = (asdict(read_stage(name, stages)) for name in ("prod", "local"))
    assert {field for field in one if one[field] != other[field]} == {"name", *_FOLLOWS}

    in_prod, in_local = _unnamed(prod.service, "prod"), _unnamed(local.service, "local")
    assert in_prod.keys() - in_local.keys() == _NOT_ON_THIS_MACHINE
    differing = {
        path[-1]
        for pair in (
            (_unnamed(prod.data, "prod"), _unnamed(local.data, "local")),
            (in_prod, in_local),
        )
        for path in _differences(*pair)
        if path[0] not in _NOT_ON_THIS_MACHINE
    }
    assert differing == set().union(*_FOLLOWS.values())


def _unnamed(template: Template, stage: str) -> Properties:
    text = json.dumps(template.resources)
    for name in (stage, stage.capitalize()):
        text = text.replace(f"/gazette/{name}/", "/gazette/stage/")
        text = text.replace(f"gazette-{name}", "gazette-stage").replace(f"Gazette{name}", "Gazette")
        text = text.replace(f"--stage {name}", "--stage stage")
        text = text.replace(f'"GAZETTE_STAGE_NAME": "{name}"', '"GAZETTE_STAGE_NAME": "stage"')
    return dict(json.loads(text))


def _differences(one: Properties, other: Properties) -> set[tuple[str, ...]]:
    leaves, others = dict(_leaves(one)), dict(_leaves(other))
    return {path for path in {*leaves, *others} if leaves.get(path) != others.get(path)}


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, str(number)))
    else:
        yield path, without_hash(value) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ({"list_id": "digest.example.com"}, "sender is missing"),
        ({"sender": "digest@example.com"}, "list_id is missing"),
        ({**_VALID, "sender": "digest at example.com"}, "sender must be an address"),
        ({**_VALID, "shard": 4}, "there is no setting 'shard'"),
        ({**_VALID, "name": "other"}, "there is no setting 'name'"),
        ({**_VALID, "shards": "4"}, "shards must be of type int"),
        ({**_VALID, "settle_lag": 10**15}, "settle_lag must be 1 to 300"),
        ({**_VALID, "settle_lag": -(10**15)}, "settle_lag must be 1 to 300"),
        ({**_VALID, "max_lateness": 10**400}, "max_lateness must be at most 1000000000"),
        ({**_VALID, "max_lateness": 10**9 + 1}, "max_lateness must be at most 1000000000"),
        ({**_VALID, "shards": True}, "shards must be of type int"),
        ({**_VALID, "retain": 1}, "retain must be of type bool"),
        ({**_VALID, "default_frequencies": "weekly"}, "default_frequencies must be of type dict"),
        ({**_VALID, "shards": 0}, "shards must be 1 to 256"),
        ({**_VALID, "shards": 257}, "shards must be 1 to 256"),
        ({**_VALID, "ingest_window": 61}, "ingest_window must be 0 to 60"),
        ({**_VALID, "feedback_window": -1}, "feedback_window must be 0 to 60"),
        (
            {**_VALID, "feedback_window": 31, "evidence_grace": 61},
            "feedback_window must be at most half of evidence_grace, 30",
        ),
        ({**_VALID, "restorable": ["event"]}, "restorable may contain activities, events"),
        ({**_VALID, "restorable": ["subscribers"]}, "always have recovery"),
        ({**_VALID, "restorable": [["runs"]]}, "restorable may contain"),
        ({**_VALID, "mail_provider": "smtp"}, "mail_provider smtp needs smtp_host"),
        (
            {**_VALID, "mail_provider": "smtp", "smtp_host": "mail.example.com"},
            "mail_provider smtp needs unknown_policy carry_over or assume_sent",
        ),
        (
            {
                **_VALID,
                "mail_provider": "smtp",
                "smtp_host": "mail.example.com",
                "unknown_policy": "carry_over",
            },
            "mail_provider smtp needs emails_per_second",
        ),
        (
            {
                **_VALID,
                "mail_provider": "smtp",
                "smtp_host": "mail.example.com",
                "unknown_policy": "carry_over",
                "feedback_by_sns": True,
            },
            "feedback_by_sns need mail_provider ses",
        ),
    ],
)
def test_invalid_stage_is_rejected_with_stage_and_field(stage: dict[str, Any], words: str) -> None:
    with pytest.raises(StageError) as refused:
        read_stage("canary", {"canary": stage})
    assert "'canary'" in str(refused.value)
    assert words in str(refused.value)


_NO_ADDRESSES = [
    "ann@example.com-",
    f"ann@example.{'a' * 64}",
    "ann@example",
    "ann@example..com",
    "ann.@example.com",
    f"{'a' * 65}@example.com",
    "ann@-example.com",
    "ann@example.com,bo@example.com",
]


@pytest.mark.parametrize("address", _NO_ADDRESSES)
@pytest.mark.parametrize("setting", ["sender", "immediate_sender", "alarm_email"])
def test_stage_addresses_are_validated_like_event_addresses(setting: str, address: str) -> None:
    with pytest.raises(StageError, match=rf"{setting} must be (an|one) address"):
        read_stage("canary", {"canary": {**_VALID, setting: address}})


def test_alarm_email_must_be_a_single_address_without_display_name() -> None:
    with pytest.raises(StageError, match="alarm_email must be one address"):
        read_stage("canary", {"canary": {**_VALID, "alarm_email": "Team <team@example.com>"}})


def test_fresh_clone_reports_each_missing_setting_on_a_separate_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not in a stack that nobody can send from, whose alarms reach nobody."""
    lines = _ends_in(monkeypatch, {"stage": "prod", "aws:cdk:bundling-stacks": []})
    settings = ("sender", "list_id", "alarm_email", "links_domain")
    for line, setting in zip(lines, settings, strict=True):
        assert line.startswith(f"gazette: Stage 'prod' in cdk.json: {setting} is "), line
        assert ". Write " in line or ". Replace it " in line


def test_complete_stage_is_synthesised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = context()
    given = _canary()
    monkeypatch.setattr("gazette_cdk.app.context", lambda: {**known, **given})
    main()


@pytest.mark.parametrize(
    ("missing", "words"),
    [({"sender": ""}, "sender is missing"), ({"alarm_email": ""}, "alarm_email is empty")],
)
def test_missing_setting_is_reported_before_the_cdk_is_imported(
    missing: dict[str, Any], words: str
) -> None:
    """They take twenty seconds; an answer without them takes a fraction of one."""
    ended = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import sys; sys.modules['aws_cdk'] = None; from gazette_cdk.app import main; main()",
        ],
        cwd=_ROOT,
        env={**os.environ, "CDK_CONTEXT_JSON": json.dumps(_canary(**missing))},
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"gazette: Stage 'canary' in cdk.json: {words}")
    assert ended.returncode == 1


def test_unknown_stage_is_reported_on_a_single_line_with_known_stages(
    tmp_path: Path,
) -> None:
    ended = _run_app(tmp_path, {"stage": "nope"})
    assert ended.returncode != 0
    (line,) = ended.stderr.splitlines()
    assert "'nope'" in line
    assert "local, prod" in line


@pytest.mark.parametrize("wrong", [{"spread": 1000}, {"collapse": 301}])
def test_setting_out_of_range_is_reported_on_a_single_line(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(**wrong))
    assert f"cdk.json: {next(iter(wrong))} must be " in line


@pytest.mark.parametrize(
    "wrong",
    [
        {"default_frequencies": {"comment": "hourly"}},
        {"critical_categories": ["a b"]},
        {"settle_lag": 6},
        {"warmup_from": "21 November"},
        *({"link_hosts": ["example.com", entry]} for entry in _NO_HOSTS),
        {"allowed_recipients": ["shop.example"], "retain": False},
        {"allowed_recipients": [f"a{n}@shop.example" for n in range(60)], "retain": False},
    ],
)
def test_setting_that_a_function_would_reject_fails_at_synthesis(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]
) -> None:
    """At synthesis already: what cannot start must not be deployed."""
    (line,) = _ends_in(monkeypatch, _canary(**wrong))
    assert f"cdk.json: {next(iter(wrong))} is " in line


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            {"subscriber.erased": ["shop.accounts"]},
            "sources names 'subscriber.erased', which is not a detail type",
        ),
        ({"subscriber.deleted": []}, "sources is [] for 'subscriber.deleted'"),
        ({"subscriber.deleted": "shop.accounts"}, 'sources is "shop.accounts" for '),
    ],
)
def test_ineffective_sources_setting_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], words: str
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(sources=wrong))
    assert f"cdk.json: {words}" in line
    assert "remove it" in line


def test_production_stage_with_allowed_recipients_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(allowed_recipients=["@shop.example"], retain=True))
    assert "allowed_recipients must be empty with retain" in line


def test_removed_setting_is_reported_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = _ends_in(monkeypatch, _canary(ramp_every=60))
    assert "ramp_every is no longer a setting, because the rate of a ramp now doubles" in line


def test_invalid_link_host_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(link_hosts=["https://example.com"]))
    assert "link_hosts is wrong: 'https://example.com' is not a host: write example.com" in line


@pytest.mark.parametrize(
    "wrong",
    [{"generate": 1}, {"sweep": 1001}, {"generate": True}, {"preferences": 5}, {"shard": 5}],
)
def test_unsupported_sqs_concurrency_is_reported_on_a_single_line(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, int]
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(concurrency=wrong))
    assert "concurrency must give functions (ingest, followers, fanout, generate, immediate" in line
    assert "a number from 2 to 1000" in line


def test_single_concurrency_for_all_functions_is_rejected_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(concurrency=20))
    assert 'concurrency is now set for each function. Write {"generate": 20} instead of 20' in line


@pytest.mark.parametrize("wrong", [-1, 1001])
def test_invalid_reserved_concurrency_is_reported_on_a_single_line(
    monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    (line,) = _ends_in(monkeypatch, _canary(preferences_concurrency=wrong))
    assert "preferences_concurrency must be 0 to 1000: 0 reserves nothing." in line


def test_failed_layer_build_reports_the_uv_error(tmp_path: Path) -> None:
    ended = _run_app(
        tmp_path,
        {"stage": "local"},
        {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path / "nothing-in-it")},
    )
    assert ended.returncode != 0
    assert "\ngazette: uv could not install the dependencies layer" in ended.stderr
    assert "Traceback" not in ended.stderr


def _canary(**wrong: Any) -> dict[str, Any]:
    stages = {"canary": {**_READY, **wrong}}
    return {"stage": "canary", "stages": stages, "aws:cdk:bundling-stacks": []}


def _ends_in(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> list[str]:
    """The lines that the app says as it ends, in this process: another would load the CDK anew."""
    known = context()
    monkeypatch.setattr("gazette_cdk.app.context", lambda: {**known, **given})
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, str), "which Python writes to stderr, and exits with 1"
    return ended.value.code.splitlines()


def _run_app(
    folder: Path, given: dict[str, Any], environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the app as the CDK command line does."""
    return subprocess.run(
        [sys.executable, "-m", "gazette_cdk.app"],
        cwd=_ROOT,
        env={
            **os.environ,
            **(environment or {}),
            "CDK_CONTEXT_JSON": json.dumps(given),
            "CDK_OUTDIR": str(folder / "cdk.out"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
