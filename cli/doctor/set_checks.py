"""Whether the configuration sets are as the template of the stacks made them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from cli.doctor.stage_facts import CONFIGURATION_SET, Answer, StageFacts
from cli.shared.next_commands import PUT_BACK, PUT_BACK_PAGE

_SES = "https://docs.aws.amazon.com/ses/latest"
_PAUSED = f"{_SES}/dg/monitoring-sender-reputation-pausing.html"


@dataclass(frozen=True, slots=True)
class Options:
    """Options that SES puts at once. `defaults`: each field by its path, and its value if nobody
    has said anything. `operation`: how the AWS command line puts them.

    Template and GetConfigurationSet have one shape.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ses-configurationset.html
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetConfigurationSet.html
    """

    operation: str
    defaults: Mapping[str, object]

    def of(self, found: Answer) -> Mapping[str, object]:
        """The fields of a configuration set."""
        return {path: _at(found, path, default) for path, default in self.defaults.items()}

    def command(self, name: str, made: Mapping[str, object]) -> str:
        """What puts the options back to what they were `made`."""
        said = " ".join(filter(None, _arguments(made)))
        return f"aws sesv2 {self.operation} --configuration-set-name {name} {said}".rstrip()


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
    """Each configuration set: one finding for all that is put at once."""
    for each in facts.of(CONFIGURATION_SET):
        check = f"configuration set {each.physical}"
        if isinstance(each.now, Unseen):
            yield unseen(check, each.now)
        elif each.now is None:
            todo = f"Somebody deleted it: `{PUT_BACK}` makes it again, without its events."
            yield problem(check, "it is not there", todo, PUT_BACK_PAGE)
        else:
            drifted = [*_drifted(check, each.physical, each.made, each.now)]
            yield from drifted or [ok(check, "as the template made it")]


def _drifted(check: str, name: str, made: Answer, now: Answer) -> Iterator[Finding]:
    for options in OPTIONS:
        wanted, found = options.of(made), options.of(now)
        changed = [
            f"{path} is {_text(found[path])}, not {_text(wanted[path])}"
            for path in wanted
            if found[path] != wanted[path]
        ]
        if not changed:
            continue
        seen, command = "; ".join(changed), options.command(name, wanted)
        page = f"{_SES}/APIReference-V2/API_{_operation(options)}.html"
        if options is _SENDING:
            todo = f"Somebody paused it: mend the cause, then `{command}` resumes it."
            yield problem(check, seen, todo, _PAUSED)
        else:
            todo = f"Somebody changed it: `{command}` changes it back; a deployment does not."
            yield warning(check, seen, todo, page)


def _at(found: Answer, path: str, default: object) -> object:
    value: Any = found
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return default
    return sorted(value) if isinstance(value, list) else value


def _arguments(made: Mapping[str, object]) -> Iterator[str]:
    """A structure in a structure is one argument, in the CLI's shorthand; a flag has no value."""
    nested = {path: value for path, value in made.items() if path.count(".") > 1}
    if any(nested.values()):
        parts = ([*path.split(".")[1:], f"{value}"] for path, value in nested.items() if value)
        inner = ",".join(f"{option}={{{field}={value}}}" for option, field, value in parts)
        yield f"--vdm-options '{inner}'"
    for path, value in made.items():
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
