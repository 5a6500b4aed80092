"""A stage from the view of IAM, with the grants of its roles and the settings of its functions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Any

from proofs.enforce.calls import Asked
from proofs.enforce.keys import calls_on_the_key, grants_of_key
from proofs.enforce.policies import Grant, Request, allowing, read
from proofs.enforce.template import ACCOUNT, REGION, Resource, Templates, in_account

_OF_A_RESOURCE = {
    "AWS::SQS::QueuePolicy": "Queues",
    "AWS::SNS::TopicPolicy": "Topics",
}
_BY_NAME = {
    "queue": "AWS::SQS::Queue",
    "function": "AWS::Lambda::Function",
    "log group": "AWS::Logs::LogGroup",
}
"""Resources that commands name by the names that they derive from the stage."""

_MANAGED = {
    "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole": [
        "logs:CreateLogGroup",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
    ]
}
"""The permissions of AWS's managed policies, on all resources.
https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSLambdaBasicExecutionRole.html"""


_DRAWN = {
    "layer": "",
    "mapping": "",
    "rule": "AWS::Events::Rule",
    "schedule": "AWS::Scheduler::Schedule",
    "stack": "",
    "topic": "AWS::SNS::Topic",
}
"""Kinds of resources whose names CloudFormation generates, by the type of the resource."""

_OUTSIDE = {
    "layer": "lambda:{place}:layer:Core:1",
    "mapping": "lambda:{place}:event-source-mapping:0",
    "stack": "cloudformation:{place}:stack/GazetteProd/0",
}


class Misplaced(Exception):
    """A call on a resource that no setting of its function names."""


@dataclass(slots=True)
class Account:
    """The functions of an account by the name of their step, and the grants of all roles.

    With `sandbox`, SES sends only to verified recipients, and requires permission for theirs, too.
    """

    templates: Templates
    sandbox: bool = True
    functions: dict[str, Resource] = field(default_factory=dict)
    grants: list[Grant] = field(default_factory=list)
    _by_holder: dict[str, list[Grant]] = field(default_factory=lambda: defaultdict(list))
    _answers: dict[Request, frozenset[Grant]] = field(default_factory=dict)
    _by_length: list[Resource] = field(init=False)
    _arns: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._by_length = sorted(self.templates.resources, key=lambda each: -len(each.arn))
        self._arns = {}
        for each in self.templates.resources:
            self._arns.setdefault(each.ref, each.arn)
            self._arns.setdefault(each.arn, each.arn)

    @classmethod
    def of(
        cls, templates: Templates, *, sandbox: bool = True, without: Grant | None = None
    ) -> "Account":
        """Return the account into which the templates are deployed, `without` one of its grants."""
        made = cls(templates, sandbox)
        made.functions = {
            each.ref.rpartition("-")[2]: each for each in templates.of_type("AWS::Lambda::Function")
        }
        made.grants = [grant for grant in made._grants() if grant != without]
        for grant in made.grants:
            made._by_holder["" if grant.principals else grant.holder].append(grant)
        return made

    def role_of(self, step: str) -> str:
        """Return the ARN of the role of a function."""
        return str(self.functions[step].properties["Role"])

    def settings_of(self, step: str) -> Mapping[str, str]:
        """Return the environment of a function."""
        variables: Mapping[str, str] = self.functions[step].properties["Environment"]["Variables"]
        return variables

    def requests(self, step: str, asked: Asked, told: Mapping[str, str]) -> Iterator[Request]:
        """Yield a function's call as IAM gets it, if the function had the settings of the template.

        `told` are the settings during the call. A call names a resource as one of them does. Here
        it is the resource that the same setting names in the template. Raise Misplaced if none
        does.
        """
        context = {("aws:securetransport", ("true",)), *asked.context}
        if asked.kind in {"identity", "configuration set"}:
            sender = Asked("", "identity", dict(asked.context)["ses:fromaddress"][0])
            context = {each for each in context if each[0] != "ses:fromaddress"}
            context.add(("ses:fromaddress", (self._meant(step, sender, told),)))
        meant = self._meant(step, asked, told)
        if asked.kind == "identity":
            resources = list(self._identities(meant))
            if self.sandbox:
                recipients = dict(asked.context)["ses:recipients"]
                resources += [identity_of(each) for each in recipients]
        else:
            resources = [self._arn(asked, meant) + asked.inside]
        for resource in resources:
            request = Request(
                caller=self.role_of(step),
                action=asked.action,
                resource=resource,
                context=frozenset(context),
            )
            yield from self.with_calls_on_the_key(request)

    def with_calls_on_the_key(self, request: Request) -> Iterator[Request]:
        """Yield a request, and those on the key that encrypts its resource."""
        yield request
        yield from calls_on_the_key(request, self._resource_of(request.resource))

    def named_by_any(self, asked: Asked, told: Mapping[str, str]) -> str:
        """Return the ARN of a resource that a command names, by its name or by any function's
        setting.

        Raise Misplaced if there is none.
        """
        if asked.kind in _DRAWN:
            return self._any_of(asked.kind)
        name = asked.named.replace(":", "/").rpartition("/")[2]
        for resource in self.templates.of_type(_BY_NAME.get(asked.kind, "")):
            if name == _name_in(resource.arn):
                return resource.arn + asked.inside
        for step in self.functions:
            with suppress(Misplaced):
                return self._arn(asked, self._meant(step, asked, told)) + asked.inside
        raise Misplaced(f"{asked.action} on {asked.named}, which no setting names")

    def _any_of(self, kind: str) -> str:
        """Return the ARN of some resource of a kind. A template has no layers, stacks or
        mappings."""
        of_type = self.templates.of_type(_DRAWN[kind])
        return next((each.arn for each in of_type), in_account(_OUTSIDE.get(kind, kind)))

    def allowing(self, request: Request) -> frozenset[Grant]:
        """Return the grants that allow a request. It is denied if there are none."""
        if request not in self._answers:
            own, of_resources = self._by_holder[request.caller], self._by_holder[""]
            self._answers[request] = allowing(request, [*own, *of_resources])
        return self._answers[request]

    def label(self, text: str) -> str:
        """Return a pattern of ARNs with the labels of the templates, such as `Runs/index/due`."""
        if resource := self._resource_of(text):
            return resource.label + text.removeprefix(resource.arn)
        if text.startswith("arn:") and f":{REGION}:{ACCOUNT}:" not in text:
            return text
        return text.removeprefix(in_account("")).rpartition(":")[2] or text

    def _resource_of(self, arn: str) -> Resource | None:
        """Return the resource of the templates with this ARN, or that contains the part with it."""
        return next((each for each in self._by_length if arn.startswith(each.arn)), None)

    def _meant(self, step: str, asked: Asked, told: Mapping[str, str]) -> str:
        if not asked.named:
            return ""
        settings = self.settings_of(step)
        for variable, value in sorted(told.items()):
            if variable not in settings:
                continue
            if asked.kind == "identity":
                if parseaddr(value)[1] == asked.named:
                    return parseaddr(settings[variable])[1]
            elif value == asked.named:
                return settings[variable]
        if asked.kind == "queue" and _STAGE_NAME in told:
            name = asked.named.rpartition("/")[2]
            for queue in self.templates.of_type("AWS::SQS::Queue"):
                if name == _name_in(queue.arn):
                    return queue.arn
        raise Misplaced(f"{step} calls {asked.action} on {asked.named}, which no setting names")

    def _identities(self, address: str) -> Iterator[str]:
        """Yield the identities that may verify this address, if one of the templates has them.

        SES uses the closest: the address, the address without its label, its domain, or a parent
        domain. Others may have been verified by hand.
        https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
        """
        known = {each.ref for each in self.templates.of_type("AWS::SES::EmailIdentity")}
        for name in _verified_as(address):
            yield identity_of(name)
            if name in known:
                return

    def _arn(self, asked: Asked, meant: str) -> str:
        match asked.kind:
            case "":
                return "*"
            case "identity":
                return identity_of(meant)
            case "configuration set":
                return in_account(f"ses:{{place}}:configuration-set/{meant}")
        found = self._arns.get(meant)
        if not found and asked.kind == "secret" and not meant.startswith("arn:"):
            return in_account(f"secretsmanager:{{place}}:secret:{meant}-AbCdEf")
        if not found:
            raise Misplaced(f"{asked.action} on {meant}, which is in no template")
        return found

    def _grants(self) -> Iterator[Grant]:
        roles = {each.ref: each.arn for each in self.templates.of_type("AWS::IAM::Role")}
        for role in self.templates.of_type("AWS::IAM::Role"):
            for policy in role.properties.get("Policies", []):
                yield from read(role.arn, policy["PolicyDocument"])
            for managed in role.properties.get("ManagedPolicyArns", []):
                for action in _MANAGED[managed]:
                    yield Grant(holder=role.arn, allows=True, action=action, resource="*")
            trust = role.properties["AssumeRolePolicyDocument"]
            yield from read(role.arn, trust, resource=role.arn)
        for policy in self.templates.of_type("AWS::IAM::Policy"):
            for name in policy.properties["Roles"]:
                yield from read(roles[name], policy.properties["PolicyDocument"])
        for kind, of in _OF_A_RESOURCE.items():
            for policy in self.templates.of_type(kind):
                for _ in policy.properties[of]:
                    yield from read(policy.arn, policy.properties["PolicyDocument"])
        for key in self.templates.of_type("AWS::KMS::Key"):
            yield from grants_of_key(key)
        for permission in self.templates.of_type("AWS::Lambda::Permission"):
            yield _permission(permission.arn, permission.properties)


_STAGE_NAME = "GAZETTE_STAGE_NAME"
"""The setting of functions that name queues by their stage, as commands do."""


def _name_in(arn: str) -> str:
    """Return the name at the end of an ARN, without the path of a log group."""
    return arn.removesuffix(":*").replace(":", "/").rpartition("/")[2]


def identity_of(name: str) -> str:
    """Return the ARN of an identity of SES, which is an address or a domain."""
    return in_account(f"ses:{{place}}:identity/{name}")


def _verified_as(address: str) -> Iterator[str]:
    local, _, domain = address.rpartition("@")
    yield address
    if "+" in local:
        yield f"{local.partition('+')[0]}@{domain}"
    while "." in domain:
        yield domain
        domain = domain.partition(".")[2]


def _permission(holder: str, given: Mapping[str, Any]) -> Grant:
    """Return the grant of a Lambda permission.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-permission.html"""
    named = given["FunctionName"]
    conditions = []
    if "SourceArn" in given:
        conditions.append(("ArnLike", "aws:sourcearn", (given["SourceArn"],)))
    if "SourceAccount" in given:
        conditions.append(("StringEquals", "aws:sourceaccount", (given["SourceAccount"],)))
    return Grant(
        holder=holder,
        allows=True,
        action=given["Action"],
        resource=named
        if named.startswith("arn:")
        else in_account(f"lambda:{{place}}:function:{named}"),
        principals=frozenset({given["Principal"]}),
        conditions=tuple(conditions),
    )
