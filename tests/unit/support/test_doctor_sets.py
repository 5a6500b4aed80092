"""What the doctor says of configuration sets that somebody changed."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import botocore.session
import pytest
from botocore import xform_name
from gazette.domain.console.levels import Level

from gazette_cli.doctor.findings import Finding, Unseen
from gazette_cli.doctor.set_checks import OPTIONS, check_sets
from gazette_cli.doctor.stage_facts import CONFIGURATION_SET, Deployed, StageFacts

NAME = "gazette-prod-digest"
MADE: Mapping[str, Any] = {
    "DeliveryOptions": {"TlsPolicy": "REQUIRE", "SendingPoolName": "digests"},
    "TrackingOptions": {"CustomRedirectDomain": "go.example.com", "HttpsPolicy": "REQUIRE"},
    "ReputationOptions": {"ReputationMetricsEnabled": True},
    "SendingOptions": {"SendingEnabled": True},
    "SuppressionOptions": {"SuppressedReasons": ["BOUNCE", "COMPLAINT"]},
    "VdmOptions": {
        "DashboardOptions": {"EngagementMetrics": "DISABLED"},
        "GuardianOptions": {"OptimizedSharedDelivery": "DISABLED"},
    },
}
"""With everything that a stage may ask for."""

SET: Mapping[str, Any] = {**MADE, "DeliveryOptions": {"TlsPolicy": "OPTIONAL"}} | {
    "TrackingOptions": {}
}
"""As a stage that asks for nothing makes it."""

EACH = {
    "DeliveryOptions.TlsPolicy": "OPTIONAL",
    "DeliveryOptions.SendingPoolName": "others",
    "TrackingOptions.CustomRedirectDomain": "go.example.org",
    "TrackingOptions.HttpsPolicy": "OPTIONAL",
    "ReputationOptions.ReputationMetricsEnabled": False,
    "SendingOptions.SendingEnabled": False,
    "SuppressionOptions.SuppressedReasons": ["BOUNCE"],
    "VdmOptions.DashboardOptions.EngagementMetrics": "ENABLED",
    "VdmOptions.GuardianOptions.OptimizedSharedDelivery": "ENABLED",
}
"""Each field, and a value that somebody gives it."""


def facts(now: Any, made: Mapping[str, Any] = MADE) -> StageFacts:
    found = Deployed(name="Digest", kind=CONFIGURATION_SET, physical=NAME, template=made, now=now)
    return StageFacts(stage="prod", resources=[found])


def changed(path: str, value: object) -> Mapping[str, Any]:
    """A set as it was made, but for one field; None takes it away."""
    *above, last = path.split(".")
    now: dict[str, Any] = {name: {**options} for name, options in MADE.items()}
    options = now
    for name in above:
        options[name] = options = {**options[name]}
    if value is None:
        del options[last]
    else:
        options[last] = value
    return now


def only(found: StageFacts) -> Finding:
    (finding,) = check_sets(found)
    return finding


@pytest.mark.parametrize("made", [MADE, SET])
def test_configuration_set_as_deployed_is_ok(made: Mapping[str, Any]) -> None:
    now = {**made, "Tags": [], "ConfigurationSetName": NAME}
    assert only(facts(now, made)).level is Level.OK
    answered = {"SuppressionOptions": {"SuppressedReasons": ["COMPLAINT", "BOUNCE"]}}
    assert only(facts({**now, **answered}, made)).level is Level.OK, "their order says nothing"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *EACH.items(),
        *((path, None) for path in EACH if path != "SendingOptions.SendingEnabled"),
    ],
)
def test_each_drifted_field_is_a_finding_with_both_values(path: str, value: object) -> None:
    """Gone is drifted too, but SES sends where nobody has said anything."""
    finding = only(facts(changed(path, value)))
    is_paused = path == "SendingOptions.SendingEnabled"
    assert finding.check == f"configuration set {NAME}"
    assert finding.level is (Level.PROBLEM if is_paused else Level.WARNING)
    assert re.fullmatch(re.escape(path) + r" is .+, not .+", finding.seen)
    assert finding.page.startswith("https://docs.aws.amazon.com/ses/")


def test_added_option_is_a_finding() -> None:
    for path in ("DeliveryOptions.SendingPoolName", "TrackingOptions.CustomRedirectDomain"):
        option, _, field = path.partition(".")
        now = {**SET, option: {**SET[option], field: "some"}}
        assert only(facts(now, SET)).seen == f"{path} is some, not unset"


def test_each_changed_option_is_a_separate_finding() -> None:
    now = {**changed("DeliveryOptions.TlsPolicy", "OPTIONAL"), "VdmOptions": {}}
    assert [each.seen.partition(" ")[0] for each in check_sets(facts(now))] == [
        "DeliveryOptions.TlsPolicy",
        "VdmOptions.DashboardOptions.EngagementMetrics",
    ]


def test_missing_set_is_a_problem_and_unreadable_set_is_unseen() -> None:
    assert only(facts(None)).level is Level.PROBLEM
    assert only(facts(Unseen("needs ses:GetConfigurationSet"))).level is Level.UNSEEN


class Ses:
    """One configuration set, which the commands of the AWS command line change."""

    def __init__(self, now: Mapping[str, Any]) -> None:
        self.now = {**now}
        self._model = botocore.session.get_session().get_service_model("sesv2")

    def run(self, command: str) -> None:
        """Put what a command says, as the model of the service has its members."""
        aws, service, operation, *arguments = shlex.split(command)
        assert (aws, service) == ("aws", "sesv2")
        (name,) = (
            each for each in self._model.operation_names if xform_name(each, "-") == operation
        )
        shape: Any = self._model.operation_model(name).input_shape
        known = {f"--{xform_name(each, '-')}": each for each in shape.members}
        put: dict[str, Any] = {}
        for each in arguments:
            if each.startswith("--no-"):
                put[known[f"--{each[5:]}"]] = False
            elif each.startswith("--"):
                member = known[each]
                put[member] = True
            else:
                before = put[member]
                put[member] = each if before is True else [*_listed(before), each]
        assert put.pop("ConfigurationSetName") == NAME
        option = name.removeprefix("PutConfigurationSet")
        if option == "VdmOptions":
            pairs = re.findall(r"(\w+)={(\w+)=(\w+)}", put["VdmOptions"])
            put = {outer: {inner: value} for outer, inner, value in pairs}
        if option == "SuppressionOptions":
            put = {each: _listed(value) for each, value in put.items()}
        self.now[option] = put


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("path", EACH)
@pytest.mark.parametrize("made", [MADE, SET])
def test_command_of_a_finding_restores_the_configuration_set(
    path: str, made: Mapping[str, Any]
) -> None:
    value = "elsewhere" if made is SET and EACH[path] == "OPTIONAL" else EACH[path]
    option, *_ = path.split(".")
    ses = Ses({**made, option: changed(path, value)[option]})
    for finding in [*check_sets(facts(ses.now, made))]:
        (command,) = re.findall(r"`(aws [^`]+)`", finding.todo)
        ses.run(command)
    assert only(facts(ses.now, made)).level is Level.OK


def test_ses_response_has_every_compared_field() -> None:
    model = botocore.session.get_session().get_service_model("sesv2")
    for path in EACH:
        found: Any = model.operation_model("GetConfigurationSet").output_shape
        for name in path.split("."):
            found = found.members[name]
    compared = {path for options in OPTIONS for path in options.defaults}
    assert compared == set(EACH)


def test_setting_enabled_manually_is_disabled_again() -> None:
    off = {**SET, "ReputationOptions": {"ReputationMetricsEnabled": False}}
    ses = Ses({**off, "ReputationOptions": {"ReputationMetricsEnabled": True}})
    finding = only(facts(ses.now, off))
    assert finding.seen == "ReputationOptions.ReputationMetricsEnabled is on, not off"
    ses.run(finding.todo.split("`")[1])
    assert only(facts(ses.now, off)).level is Level.OK
