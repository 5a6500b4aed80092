"""The evaluator agrees with IAM's documentation and with an independent implementation."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofs.enforce.policies import Grant, Request, UnknownElement, allowing, read
from proofs.enforce.second_opinion import SecondOpinion

ROLE = "arn:aws:iam::123456789012:role/r"
QUEUE = "arn:aws:sqs:eu-central-1:123456789012:q"
_ARNS = [QUEUE, QUEUE + "2", "arn:aws:dynamodb:eu-central-1:123456789012:table/t/index/i"]
_ACTIONS = ["sqs:SendMessage", "sqs:sendmessage", "sqs:ReceiveMessage", "dynamodb:Query"]
_TEXTS = ["a@example.com", "b@example.com", "true", "false"]
_OF_TEXTS = ["StringEquals", "StringLike", "StringNotEquals", "StringNotLike", "Bool"]
_OF_TEXTS += ["StringEqualsIfExists", "ForAllValues:StringEquals", "ForAnyValue:StringLike"]
_OF_ARNS = ["ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike", "ArnLikeIfExists"]


def some(operators: list[str], keys: list[str], values: list[str]) -> Any:
    """Draw conditions with values that suit operators whose behaviour is documented."""
    compared = st.lists(st.sampled_from(values), min_size=1, max_size=2)
    by_key = st.dictionaries(st.sampled_from(keys), compared, min_size=1, max_size=2)
    return st.dictionaries(st.sampled_from(operators), by_key, max_size=1)


patterns = st.sampled_from([*_ARNS, QUEUE + "*", QUEUE + "?", "*", "arn:aws:sqs:*:*:q"])
conditions = st.builds(
    lambda texts, arns: {**texts, **arns},
    some(_OF_TEXTS, ["ses:FromAddress", "aws:SecureTransport"], [*_TEXTS, "a@*", "?@example.com"]),
    some(_OF_ARNS, ["aws:SourceArn"], [*_ARNS, QUEUE + "*", QUEUE + "?"]),
)
statements = st.fixed_dictionaries(
    {
        "Effect": st.sampled_from(["Allow", "Allow", "Deny"]),
        "Action": st.one_of(
            st.sampled_from([*_ACTIONS, "sqs:*", "sqs:Send*", "*"]),
            st.lists(st.sampled_from(_ACTIONS), min_size=1, max_size=2),
        ),
        "Resource": st.one_of(patterns, st.lists(patterns, min_size=1, max_size=2)),
        "Condition": conditions,
    }
)
policies = st.fixed_dictionaries({"Statement": st.lists(statements, min_size=1, max_size=3)})
contexts = st.fixed_dictionaries(
    {"aws:securetransport": st.sampled_from([("true",), ("false",)])},
    optional={
        "ses:fromaddress": st.tuples(st.sampled_from(_TEXTS)),
        "aws:sourcearn": st.tuples(st.sampled_from(_ARNS)),
    },
)
requests = st.builds(
    lambda action, resource, context: Request(ROLE, action, resource, frozenset(context.items())),
    st.sampled_from(_ACTIONS),
    st.sampled_from(_ARNS),
    contexts,
)


def grants_of(*documents: dict[str, Any]) -> list[Grant]:
    return [grant for document in documents for grant in read(ROLE, document)]


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(policies, requests)
def test_another_evaluator_answers_the_same(document: dict[str, Any], request: Request) -> None:
    ours = bool(allowing(request, grants_of(document)))
    assert OTHER.allows(request, [document]) == ours


OTHER = SecondOpinion()


@pytest.fixture(scope="module", autouse=True)
def _other() -> Any:
    with OTHER:
        yield


@given(policies, policies, requests)
def test_a_deny_more_never_allows_and_an_allow_less_neither(
    document: dict[str, Any], more: dict[str, Any], request: Request
) -> None:
    before = bool(allowing(request, grants_of(document)))
    denies = [grant for grant in grants_of(more) if not grant.allows]
    assert bool(allowing(request, [*grants_of(document), *denies])) <= before
    fewer = [grant for grant in grants_of(document)[1:] if grant.allows]
    every = [grant for grant in grants_of(document) if grant.allows]
    assert bool(allowing(request, fewer)) <= bool(allowing(request, every))


@given(policies, requests)
def test_nobody_else_has_the_grants_of_a_role(document: dict[str, Any], request: Request) -> None:
    other = Request("arn:aws:iam::123456789012:role/other", request.action, request.resource)
    assert not allowing(other, grants_of(document))


def test_each_part_of_an_arn_is_compared_by_itself() -> None:
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html"""
    condition = {"ArnLike": {"aws:SourceArn": "arn:aws:events:*:rule/gazette/*"}}
    document = {
        "Statement": {
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": QUEUE,
            "Condition": condition,
        }
    }
    arn = "arn:aws:events:eu-central-1:123456789012:rule/gazette/all"
    context = frozenset({("aws:sourcearn", (arn,))})
    request = Request("events.amazonaws.com", "sqs:SendMessage", QUEUE, context)
    assert not allowing(request, read(QUEUE, document))
    condition["ArnLike"]["aws:SourceArn"] = "arn:aws:events:*:*:rule/gazette/*"
    assert allowing(request, read(QUEUE, document))


@pytest.mark.parametrize(
    "statement",
    [
        {"Effect": "Allow", "NotAction": "sqs:*", "Resource": "*"},
        {"Effect": "Allow", "Action": "sqs:*", "NotResource": "*"},
        {"Effect": "Allow", "NotPrincipal": "*", "Action": "sqs:*", "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "*",
            "Resource": "*",
            "Condition": {"DateLessThan": {"aws:CurrentTime": "2026-11-23T00:00:00Z"}},
        },
    ],
)
def test_what_the_evaluator_does_not_know_stops_the_proof(statement: dict[str, Any]) -> None:
    with pytest.raises(UnknownElement):
        grants_of({"Statement": [statement]})
