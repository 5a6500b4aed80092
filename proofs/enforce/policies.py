"""An evaluator of IAM's answer to one request, by the policies of one account.

An explicit Deny wins. Otherwise one Allow is enough, of the caller's own policies or of the
resource's. Otherwise the request is denied.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-denyallow.html

Elements that our templates do not have (NotAction, NotResource, NotPrincipal, operators that are
not listed here) raise UnknownElement, because a proof must not skip unknown elements.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

Context = frozenset[tuple[str, tuple[str, ...]]]
"""Condition keys in lower case, each with its values."""


class UnknownElement(Exception):
    """An element of a policy that this evaluator does not know."""


@dataclass(frozen=True, slots=True)
class Request:
    """One action on one resource. `caller` is the ARN of a role, or a service's principal."""

    caller: str
    action: str
    resource: str
    context: Context = frozenset()


@dataclass(frozen=True, slots=True)
class Grant:
    """One pattern of actions on one pattern of resources, from one statement.

    `holder` is the role or the resource with the policy. `principals` are those of a resource's
    policy, `*` for all; empty for a role's own policy.
    """

    holder: str
    allows: bool
    action: str
    resource: str
    principals: frozenset[str] = frozenset()
    conditions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    def covers(self, request: Request) -> bool:
        """Return True if the grant applies to the request."""
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
    """Return the grants that allow the request; none if it is denied."""
    covering = [grant for grant in grants if grant.covers(request)]
    if not all(grant.allows for grant in covering):
        return frozenset()
    return frozenset(covering)


def read(holder: str, document: Mapping[str, Any], *, resource: str = "") -> Iterator[Grant]:
    """Yield the grants of a policy. `resource` is the resource of a policy that names none."""
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
    """Return a value as a list, because IAM allows a single value without one."""
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
    """Match a pattern in which `*` is any text, including slashes and colons, and `?` one
    character.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html
    """
    return _pattern(pattern).fullmatch(value) is not None


def _arn_matches(pattern: str, value: str) -> bool:
    """Match each of the six parts of an ARN separately.

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
    """Evaluate a condition. Without the key, negated operators, IfExists and ForAllValues are true.

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
