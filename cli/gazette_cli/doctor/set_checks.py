"""Checks that SES configuration sets match the template."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gazette_cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from gazette_cli.doctor.stage_facts import CONFIGURATION_SET, Answer, StageFacts
from gazette_cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE

_SES = "https://docs.aws.amazon.com/ses/latest"
_PAUSED = f"{_SES}/dg/monitoring-sender-reputation-pausing.html"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a configuration set that a single SES operation changes.

    The template and GetConfigurationSet use the same fields.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ses-configurationset.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetConfigurationSet.html
    """

    # The operation of the AWS CLI.
    operation: str

    # The default value of each field, by path.
    defaults: Mapping[str, object]

    def of(self, answer: Answer) -> Mapping[str, object]:
        """Return the fields of a configuration set, keyed by path."""
        return {path: _at(answer, path, default) for path, default in self.defaults.items()}

    def command(self, name: str, template: Mapping[str, object]) -> str:
        """Return the AWS CLI command that restores the options in the template."""
        arguments = " ".join(filter(None, _arguments(template)))
        return f"aws sesv2 {self.operation} --configuration-set-name {name} {arguments}".rstrip()


_DELIVERY = Options(
    "put-configuration-set-delivery-options",
    {"DeliveryOptions.TlsPolicy": "OPTIONAL", "DeliveryOptions.SendingPoolName": None},
)
_TRACKING = Options(
    "put-configuration-set-tracking-options",
    {
        "TrackingOptions.CustomRedirectDomain": None,
        "TrackingOptions.HttpsPolicy": "OPTIONAL",
    },
)
_REPUTATION = Options(
    "put-configuration-set-reputation-options",
    {"ReputationOptions.ReputationMetricsEnabled": False},
)
_SENDING = Options("put-configuration-set-sending-options", {"SendingOptions.SendingEnabled": True})
_SUPPRESSION = Options(
    "put-configuration-set-suppression-options", {"SuppressionOptions.SuppressedReasons": None}
)
_VDM = Options(
    "put-configuration-set-vdm-options",
    {
        "VdmOptions.DashboardOptions.EngagementMetrics": None,
        "VdmOptions.GuardianOptions.OptimizedSharedDelivery": None,
    },
)
OPTIONS = (_SENDING, _DELIVERY, _TRACKING, _REPUTATION, _SUPPRESSION, _VDM)


def check_sets(facts: StageFacts) -> Iterator[Finding]:
    """Check each configuration set, with one finding per operation."""
    for each in facts.of(CONFIGURATION_SET):
        check = f"configuration set {each.physical}"
        if isinstance(each.now, Unseen):
            yield unseen(check, each.now)
        elif each.now is None:
            todo = (
                f"The configuration set was deleted. Run `{PUT_BACK}` to create it again, "
                "without event destinations."
            )
            yield problem(check, "does not exist", todo, PUT_BACK_PAGE)
        else:
            drifted = [*_drifted(check, each.physical, each.template, each.now)]
            yield from drifted or [ok(check, "matches the template")]


def _drifted(check: str, name: str, template: Answer, now: Answer) -> Iterator[Finding]:
    for options in OPTIONS:
        expected, actual = options.of(template), options.of(now)
        changed = [
            f"{path} is {_text(actual[path])}, not {_text(expected[path])}"
            for path in expected
            if actual[path] != expected[path]
        ]
        if not changed:
            continue
        seen, command = "; ".join(changed), options.command(name, expected)
        page = f"{_SES}/APIReference-V2/API_{_operation(options)}.html"
        if options is _SENDING:
            todo = f"Sending was paused. Fix the cause, then run `{command}` to resume sending."
            yield problem(check, seen, todo, _PAUSED)
        else:
            todo = (
                "The configuration set was changed manually. To revert the change, run "
                f"`{command}`. A deployment does not revert it."
            )
            yield warning(check, seen, todo, page)


def _at(answer: Answer, path: str, default: object) -> object:
    value: Any = answer
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return default
    return sorted(value) if isinstance(value, list) else value


def _arguments(template: Mapping[str, object]) -> Iterator[str]:
    """Yield the arguments of the AWS CLI. A nested structure becomes one argument in shorthand
    syntax.
    """
    nested = {path: value for path, value in template.items() if path.count(".") > 1}
    if any(nested.values()):
        parts = ([*path.split(".")[1:], f"{value}"] for path, value in nested.items() if value)
        inner = ",".join(f"{option}={{{field}={value}}}" for option, field, value in parts)
        yield f"--vdm-options '{inner}'"
    for path, value in template.items():
        if path in nested or value is None:
            continue
        option = _kebab(path.rpartition(".")[2])
        match value:
            case bool():
                yield f"--{option}" if value else f"--no-{option}"
            case list():
                yield f"--{option} {' '.join(value)}"
            case _:
                yield f"--{option} {value}"


def _text(value: object) -> str:
    match value:
        case None:
            return "unset"
        case bool():
            return "on" if value else "off"
        case list():
            return " and ".join(map(str, value)) or "empty"
        case _:
            return str(value)


def _kebab(name: str) -> str:
    return "".join(f"-{each.lower()}" if each.isupper() else each for each in name).lstrip("-")


def _operation(options: Options) -> str:
    return "".join(map(str.capitalize, options.operation.split("-")))
