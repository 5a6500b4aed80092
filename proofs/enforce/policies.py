"""IAM's answer to one request, by the policies of one account.

An explicit Deny wins; else one Allow is enough, of the caller's own policies or of the resource's;
else the request is denied.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-denyallow.html

What no template of ours has (NotAction, NotResource, NotPrincipal, operators that are not listed
here) raises UnknownElement: a proof that skips what it does not know proves nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

Context = frozenset[tuple[str, tuple[str, ...]]]
"""Condition keys in lower case, each with its values."""


class UnknownElement(Exception):
    """A policy has something that this evaluator does not know."""


@dataclass(frozen=True, slots=True)
class Request:
    """One action on one resource. `caller`: the ARN of a role, or a service's principal."""

    caller: str
    action: str
    resource: str
    context: Context = frozenset()


@dataclass(frozen=True, slots=True)
class Grant:
    """One pattern of actions on one pattern of resources, as one statement has it.

    `holder`: the role whose policy has it, or the resource. `principals`: whom the policy of a
    resource names, `*` for everybody; of a role's own policy empty.
    """

    holder: str
    allows: bool
    action: str
    resource: str
    principals: frozenset[str] = frozenset()
    conditions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    def covers(self, request: Request) -> bool:
        """Whether the grant speaks of the request."""
        return (
            self._names(request.caller)
            and _matches(self.action.lower(), request.action.lower())
            and _matches(self.resource, request.resource)
            and all(_holds(*condition, request.context) for condition in self.conditions)
        )

    def _names(self, caller: str) -> bool:
        if self.principals:
            return caller in self.principals or "*" in self.principals
        return self.holder == caller


def allowing(request: Request, grants: Iterable[Grant]) -> frozenset[Grant]:
    """The grants that allow the request; none if it is denied."""
    covering = [grant for grant in grants if grant.covers(request)]
    if not all(grant.allows for grant in covering):
        return frozenset()
    return frozenset(covering)


def read(holder: str, document: Mapping[str, Any], *, resource: str = "") -> Iterator[Grant]:
    """The grants of a policy. `resource`: what the policy of a resource without one is about."""
    for statement in listed(document["Statement"]):
        unknown = statement.keys() - {"Sid", "Effect", *_ELEMENTS}
        if unknown:
            raise UnknownElement(", ".join(sorted(unknown)))
        conditions = tuple(
            (operator, key.lower(), tuple(map(str, listed(values))))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
        for operator, _, _ in conditions:
            _operator(operator)
        principals = frozenset(_principals(statement.get("Principal", {})))
        for action in listed(statement["Action"]):
            for pattern in listed(statement.get("Resource", resource)):
                yield Grant(
                    holder=holder,
                    allows=statement["Effect"] == "Allow",
                    action=action,
                    resource=pattern,
                    principals=principals,
                    conditions=conditions,
                )


_ELEMENTS = ("Action", "Resource", "Principal", "Condition")


def listed(value: Any) -> Sequence[Any]:
    """IAM lets one thing stand without its list."""
    return value if isinstance(value, list) else [value]


def _principals(named: Any) -> Iterator[str]:
    if isinstance(named, str):
        yield named
        return
    for each in named.values():
        yield from listed(each)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(sign) or re.escape(sign) for sign in text), re.DOTALL)


@cache
def _matches(pattern: str, value: str) -> bool:
    """`*` is any text, also one with slashes and colons, and `?` is one sign.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
    """
    return _pattern(pattern).fullmatch(value) is not None


def _arn_matches(pattern: str, value: str) -> bool:
    """Each of the six parts of an ARN is compared by itself.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_ARN
    """
    ours, theirs = pattern.split(":", 5), value.split(":", 5)
    return len(ours) == len(theirs) == 6 and all(map(_matches, ours, theirs))


def _equals(pattern: str, value: str) -> bool:
    return pattern == value


def _same_flag(pattern: str, value: str) -> bool:
    return pattern.lower() == value.lower()


_COMPARED: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": _equals,
    "StringLike": _matches,
    "ArnEquals": _arn_matches,
    "ArnLike": _arn_matches,
    "Bool": _same_flag,
}
_NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
}


@dataclass(frozen=True, slots=True)
class _Operator:
    compares: Callable[[str, str], bool]
    is_negated: bool
    for_all: bool
    if_exists: bool


@cache
def _operator(name: str) -> _Operator:
    quantifier, _, rest = name.rpartition(":")
    bare = rest.removesuffix("IfExists")
    compared = _NEGATED.get(bare, bare)
    if compared not in _COMPARED or quantifier not in {"", "ForAllValues", "ForAnyValue"}:
        raise UnknownElement(name)
    return _Operator(
        compares=_COMPARED[compared],
        is_negated=bare in _NEGATED,
        for_all=quantifier == "ForAllValues",
        if_exists=rest != bare,
    )


def _holds(name: str, key: str, patterns: tuple[str, ...], context: Context) -> bool:
    """Without the key, a negated operator holds, and so do IfExists and ForAllValues.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html
    """
    operator = _operator(name)
    values = dict(context).get(key)
    if not values:
        is_any = name.startswith("ForAnyValue")
        return operator.if_exists or operator.for_all or (operator.is_negated and not is_any)
    found = [
        any(operator.compares(pattern, value) for pattern in patterns) != operator.is_negated
        for value in values
    ]
    return all(found) if operator.for_all or not name.startswith("ForAnyValue") else any(found)
