"""Tests of the construct `Gazette` in the CDK app of an adopter."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

import gazette_cdk
from gazette_cdk import Gazette, Refused, tools
from gazette_cdk.settings_file import stage_file
from tests.infra.app import SETTINGS, Resources, new_app
from tests.infra.synthesis import Synthesis


def test_logical_ids_do_not_depend_on_the_constructs_around_the_stacks(
    tracking: Synthesis,
) -> None:
    """Otherwise a deployment would create a second mapping of each queue, which Lambda rejects.

    The stage has delivery events by SNS, whose subscription would be deleted with its former id.
    """
    settings = {**SETTINGS, "alarm_email": "none", "feedback_by_sns": True, "track_clicks": True}
    outer = cdk.Stage(new_app(), "Prod")
    mail = Gazette(outer, "Mail", stage="prod", settings=settings)
    assert (mail.data.stack_name, mail.service.stack_name) == ("GazetteDataProd", "GazetteProd")
    for stack, expected in ((mail.data, tracking.data), (mail.service, tracking.service)):
        resources = Template.from_stack(stack).to_json()["Resources"]
        assert _ids(resources) == _ids(expected.raw["Resources"])


def _ids(resources: Resources) -> set[str]:
    """The logical ids, except those of versions, which contain a hash of their content."""
    return {name for name, each in resources.items() if each["Type"] != "AWS::Lambda::Version"}


def refusal(**given: Any) -> list[str]:
    """The lines of a refused stage."""
    with pytest.raises(Refused) as caught:
        Gazette(new_app(), "Mail", **{"stage": "prod", "settings": SETTINGS, **given})
    return str(caught.value.code).splitlines()


def test_each_wrong_setting_is_a_line_with_the_construct() -> None:
    lines = refusal(settings={"sender": "x", "lst_id": "y"})
    assert len(lines) == 3
    begin = "gazette: Stage 'prod' in the settings of Mail: "
    assert all(line.startswith(begin) for line in lines)
    (line,) = refusal(settings={**SETTINGS, "alarm_email": ""})
    assert line.startswith(f"{begin}alarm_email is empty")


def test_wrong_settings_of_an_app_are_printed_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "from gazette_cdk import Gazette, stage_file\n"
        "import aws_cdk as cdk\n"
        "Gazette(cdk.App(), 'Mail', stage='prod', settings=stage_file())\n"
    )
    (tmp_path / "gazette.toml").write_text("[prod]\nsender = 'digest@shop.dev'\n")
    run = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    (line,) = run.stderr.splitlines()
    assert line.startswith("gazette: Stage 'prod' in gazette.toml: list_id is missing.")
    assert (run.returncode, run.stdout) == (1, "")


def test_wrong_template_is_named_before_the_layers_are_built(tmp_path: Path) -> None:
    (tmp_path / "digest").mkdir()
    (tmp_path / "digest" / "subject.txt").write_text("{{ nothing.like.this }}")
    (line,) = refusal(templates=tmp_path)
    template = tmp_path / "digest" / "subject.txt"
    assert line.startswith(f"gazette: {template}:1: an email cannot be rendered")
    (line,) = refusal(templates=tmp_path / "missing")
    assert "there is no such folder" in line


def test_faults_of_all_templates_are_printed_at_once(tmp_path: Path) -> None:
    (tmp_path / "digest").mkdir()
    (tmp_path / "digest" / "subject.txt").write_text("{{ nothing.like.this }}")
    (tmp_path / "digest" / "body.txt").write_text("\n{% if %}")
    (tmp_path / "brand.json").write_text('{"name": "Shop",\n "colour": "red"}')
    lines = refusal(templates=tmp_path)
    starts = [
        f"gazette: {tmp_path}/brand.json:1: postal_address is missing.",
        f"gazette: {tmp_path}/brand.json:2: unknown field 'colour'",
        f"gazette: {tmp_path}/digest/body.txt:2: ",
        f"gazette: {tmp_path}/digest/subject.txt:1: an email cannot be rendered",
    ]
    assert len(lines) == len(starts), lines
    for line, start in zip(lines, starts, strict=True):
        assert line.startswith(start)


def test_templates_of_a_file_are_next_to_the_file(tmp_path: Path) -> None:
    settings = "\n".join(f"{name} = '{value}'" for name, value in SETTINGS.items())
    (tmp_path / "gazette.toml").write_text(f"[prod]\n{settings}\ntemplates = 'brand'\n")
    (line,) = refusal(settings=stage_file(tmp_path / "gazette.toml"))
    assert "there is no such folder next to the file of the settings" in line
    (tmp_path / "brand").mkdir()
    (tmp_path / "brand" / "brand.json").write_text("{")
    (line,) = refusal(settings=stage_file(tmp_path / "gazette.toml"))
    assert str(tmp_path / "brand" / "brand.json") in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[test]\n", "There is no stage 'prod' in gazette.toml. Its stages are test."),
        ("", "There is no stage 'prod' in gazette.toml. It has no stages."),
        ("prod = 1\n", "Stage 'prod' in gazette.toml: a stage must be an object of settings"),
        ("[prod]\nwarmup_from = 2027-01-04x\n", "is not TOML: "),
        ("[prod]\nsender = '\udcff'\n", "is not TOML: "),
        (
            '[prod]\n"services_api": {"requests_per_second": 50}\n',
            "needs the form of TOML, such as services_api = { requests_per_second",
        ),
    ],
)
def test_unusable_file_of_settings_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "gazette.toml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(Refused) as caught:
        Gazette(new_app(), "Mail", stage="prod", settings=stage_file(file))
    (line,) = str(caught.value.code).splitlines()
    assert words in line


def test_missing_file_of_settings_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"gazette: .*/none.toml is not readable: No such file"):
        stage_file(tmp_path / "none.toml")


def test_date_in_a_file_of_settings_is_text(tmp_path: Path) -> None:
    file = tmp_path / "gazette.toml"
    file.write_text("[prod]\nwarmup_from = 2027-01-04\nlist = [2027-01-04]\n")
    assert stage_file(file).stages == {
        "prod": {"warmup_from": "2027-01-04", "list": ["2027-01-04"]}
    }


@pytest.mark.parametrize("prefix", ["", "1st", "a_b", "x" * 32])
def test_stack_prefix_must_be_the_beginning_of_a_stack_name(prefix: str) -> None:
    (line,) = refusal(stack_prefix=prefix)
    assert "stack_prefix is " in line


def test_topic_and_alarm_email_exclude_each_other() -> None:
    app = new_app()
    topic = sns.Topic(cdk.Stack(app, "Shop"), "Alarms")
    with pytest.raises(Refused, match=r"alarm_email is 'team@shop\.dev', but the app passes"):
        Gazette(app, "Mail", stage="prod", settings=SETTINGS, alarms=topic)


def test_zone_needs_a_name_that_is_known_at_synthesis() -> None:
    app = new_app()
    zone = route53.HostedZone.from_hosted_zone_id(cdk.Stack(app, "Shop"), "Zone", "Z0123")
    unnamed = route53.HostedZone.from_hosted_zone_attributes(
        cdk.Stack(app, "Other"),
        "Zone",
        hosted_zone_id=zone.hosted_zone_id,
        zone_name=cdk.Aws.STACK_NAME,
    )
    with pytest.raises(Refused, match="hosted_zone has a name that is known only after"):
        Gazette(app, "Mail", stage="prod", settings=SETTINGS, hosted_zone=unnamed)


def test_two_constructs_with_the_same_bus_are_refused_unless_they_are_elsewhere() -> None:
    app = new_app()
    Gazette(app, "Mail", stage="prod", settings=SETTINGS)
    with pytest.raises(Refused, match="stage 'prod' uses the same event bus"):
        Gazette(app, "Test", stage="test", settings=SETTINGS)
    elsewhere = cdk.Stage(
        app, "Elsewhere", env=cdk.Environment(account="123456789012", region="eu-west-1")
    )
    Gazette(elsewhere, "Test", stage="test", settings=SETTINGS)


def test_only_names_of_the_construct_can_be_imported() -> None:
    assert gazette_cdk.stage_file is stage_file
    with pytest.raises(AttributeError, match="no attribute 'Gazete'"):
        _ = gazette_cdk.Gazete


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("none", "The CDK needs Node, but there is none at none, the value of JSII_NODE."),
        ("v20.20.2", "The CDK needs Node 22 or newer, but "),
    ],
)
def test_missing_or_old_node_is_named_with_the_remedy(
    node: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if node.startswith("v"):
        script = tmp_path / "node"
        script.write_text(f"#!/bin/sh\necho {node}\n")
        script.chmod(0o755)
        node = str(script)
    monkeypatch.setenv("JSII_NODE", node)
    with pytest.raises(Refused) as caught:
        tools.check_tools()
    assert words in str(caught.value.code)
    assert "gazette-digest[deploy]" in str(caught.value.code)


def test_missing_node_on_the_path_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JSII_NODE")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Refused, match="but there is none on the path"):
        tools.check_tools()


def test_missing_cdk_is_named_with_the_extra() -> None:
    code = "import sys; sys.modules['aws_cdk'] = None; from gazette_cdk import Gazette"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "JSII_NODE": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == (
        "gazette: The AWS CDK is missing. Install gazette-digest[deploy], which contains it.\n"
    )
    assert run.returncode == 1
