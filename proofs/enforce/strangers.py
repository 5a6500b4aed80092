"""Variations of a call that must not be allowed. A grant that allows one is too wide.

It is the same action on another resource, also of another account or Region, by another sender of
email, or for a resource of another account. A grant of too many actions is found without such
calls.
"""

from collections.abc import Iterator
from dataclasses import replace

from proofs.enforce.account import Account, identity_of
from proofs.enforce.policies import Request
from proofs.enforce.template import ACCOUNT, in_account

_OTHER_ACCOUNT = "999999999999"
_OTHER_REGION = "ap-southeast-2"
_STREAM = ":log-stream:"
_EVERY_OBJECT = ("/versions/", "/aws/lambda/")
"""The parts of buckets in which functions may read or write every object."""


def strangers_of(account: Account, request: Request) -> Iterator[Request]:
    """Yield calls that the grant of this one must not allow."""
    for resource in _other_resources(account, request.resource):
        yield replace(request, resource=resource)
    context = dict(request.context)
    if "ses:fromaddress" in context:
        yield _with(request, "ses:fromaddress", "somebody@else.example")
    if "aws:sourceaccount" in context:
        (source,) = context["aws:sourcearn"]
        yield _with(
            _with(request, "aws:sourceaccount", _OTHER_ACCOUNT),
            "aws:sourcearn",
            source.replace(ACCOUNT, _OTHER_ACCOUNT),
        )


def _other_resources(account: Account, resource: str) -> Iterator[str]:
    """Yield other resources: another index, or the same name in another account or Region. Other
    streams of the same log and other versions are allowed."""
    if resource == "*":
        return
    yield from _elsewhere(resource)
    if resource.startswith(identity_of("")):
        if not account.sandbox:
            yield identity_of("else.example")
            yield f"{resource}.example"
        return
    whole = _whole(account, resource)
    within = resource.removeprefix(whole)
    yield f"{whole}-x{within}"
    if within.startswith(_EVERY_OBJECT):
        yield f"{whole}/x{within}"
    elif within and not within.startswith(_STREAM):
        yield f"{resource}-x"


def _elsewhere(resource: str) -> Iterator[str]:
    *start, region, owner, name = resource.split(":", 5)
    if owner:
        yield ":".join((*start, region, _OTHER_ACCOUNT, name))
    if region:
        yield ":".join((*start, _OTHER_REGION, owner, name))


def _whole(account: Account, resource: str) -> str:
    """Return the resource of the templates that contains this one, or itself; a secret without its
    suffix."""
    arns = (each.arn.removesuffix(":*") for each in account.templates.resources)
    found = max((arn for arn in arns if resource.startswith(arn)), key=len, default="")
    if found:
        return found
    is_secret = resource.startswith(in_account("secretsmanager:{place}:secret:"))
    return resource.rpartition("-")[0] if is_secret else resource


def _with(request: Request, key: str, value: str) -> Request:
    context = {**dict(request.context), key: (value,)}
    return replace(request, context=frozenset(context.items()))
