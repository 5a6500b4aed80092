"""What botocore and moto do for every client, test or call, and tests need once in a process.

A client of botocore takes longer to make than moto takes to answer several of its calls, and a test
of all functions makes dozens of them. A client holds nothing of what a test does: moto answers
every one of them, and what tests replace they replace in its class.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from decimal import Decimal
from functools import cache
from inspect import CO_VARKEYWORDS
from itertools import count
from typing import Any

import boto3
import botocore.hooks
import botocore.session
import moto.core.models
import moto.core.responses
import moto.sqs.models
import pytest
from botocore.auth import SigV4Auth
from botocore.config import Config
from botocore.hooks import EVENT_ALIASES, EventAliaser
from botocore.session import Session
from botocore.useragent import UserAgentComponent
from moto.core.base_backend import BaseBackend
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.models import botocore_stubber
from moto.core.serialize import (
    AttributePickerContext,
    ResponseSerializer,
    XFormedAttributePicker,
)
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing import ast_nodes, expressions, validators
from moto.utilities import aws_headers

_NODES: Any = ast_nodes  # both modules have no types
_EXPRESSIONS: Any = expressions
_ON_MOTO: BotocoreStubber = botocore_stubber
"""`enabled` while moto answers."""

_SCALARS = frozenset({"S", "N", "B", "BOOL", "NULL"})
_AS_STORED = frozenset({"S", "B", "BOOL"})
"""The types whose values moto compares as it stores them."""


@contextmanager
def aws_once() -> Iterator[None]:
    """Read what botocore reads once, and share clients while moto answers them."""
    with pytest.MonkeyPatch.context() as patch:
        # Each session would read megabytes of JSON for itself. What a session reads it shows to
        # all of its clients already, so nothing changes it.
        patch.setattr(botocore.session, "create_loader", cache(botocore.session.create_loader))
        patch.setattr(UserAgentComponent, "to_string", cache(UserAgentComponent.to_string))
        _register_quickly(patch)
        _name_the_caller_only(patch)
        _number_requests(patch)
        # For the package `requests`, which nothing here uses, each account would register over a
        # thousand addresses.
        patch.setattr(moto.core.models, "RESPONSES_METHODS", [])
        _share_clients(patch)
        _remember_what_moto_looks_up(patch)
        _serialize_what_is_there(patch)
        _read_updates_once(patch)
        _read_conditions_once(patch)
        _copy_what_may_change(patch)
        _compare_plain_values(patch)
        yield


def _share_clients(patch: pytest.MonkeyPatch) -> None:
    """Return the same client for the same arguments."""
    made: dict[tuple[object, ...], Any] = {}
    create = Session.create_client
    default, shared = boto3._get_default_session, cache(boto3.Session)

    def session() -> boto3.Session:
        return shared() if _ON_MOTO.enabled else default()

    def created(session: Session, service: str, *given: Any, **named: Any) -> Any:
        if not _ON_MOTO.enabled:
            return create(session, service, *given, **named)
        key = (service, _who(session), _shown(given), _shown(named), *_environment())
        if key not in made:
            made[key] = create(session, service, *given, **named)
        return made[key]

    patch.setattr(boto3, "_get_default_session", session)
    patch.setattr(Session, "create_client", created)


def _register_quickly(patch: pytest.MonkeyPatch) -> None:
    """Share the names of events between sessions, and read from the code whether it takes more.

    Each session registers 130 handlers: for each it would look for one of sixty aliases, and
    inspect the handler's signature.
    """
    names: dict[str, str] = {}
    init: Callable[..., None] = EventAliaser.__init__
    inspected = botocore.hooks.accepts_kwargs

    def with_known_names(aliaser: Any, *given: Any, **named: Any) -> None:
        init(aliaser, *given, **named)
        if aliaser._event_aliases == EVENT_ALIASES:
            aliaser._alias_name_cache = names

    def accepts_more(handler: Any) -> object:
        code = getattr(handler, "__code__", None)
        return code.co_flags & CO_VARKEYWORDS if code else inspected(handler)

    patch.setattr(EventAliaser, "__init__", with_known_names)
    patch.setattr(botocore.hooks, "accepts_kwargs", accepts_more)


def _name_the_caller_only(patch: pytest.MonkeyPatch) -> None:
    """Write the caller, the region and the service into each request, but compute no signature.

    moto reads the first three from the header, and checks no signature. S3 signs in its own way.
    """
    sign = SigV4Auth.add_auth

    def named(auth: Any, request: Any) -> None:
        is_of_s3 = type(auth) is not SigV4Auth
        if not _ON_MOTO.enabled or is_of_s3 or auth.credentials is None:
            sign(auth, request)
            return
        scope = f"{auth.credentials.access_key}/20260101/{auth._region_name}/{auth._service_name}"
        del request.headers["Authorization"]
        request.headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={scope}/aws4_request, SignedHeaders=host, Signature=0"
        )

    patch.setattr(SigV4Auth, "add_auth", named)


def _number_requests(patch: pytest.MonkeyPatch) -> None:
    """Number the requests. moto would draw 52 random characters for the id of each."""
    numbers = count(1)

    def request_id(headers: Any = None) -> str:
        number = f"{next(numbers):052d}"
        if isinstance(headers, dict):
            headers["x-amzn-requestid"] = number
        return number

    for module in (aws_headers, moto.core.responses):
        patch.setattr(module, "gen_amzn_requestid_long", request_id)


def _remember_what_moto_looks_up(patch: pytest.MonkeyPatch) -> None:
    """Cache what moto finds by inspecting its own classes at every call."""
    keys: dict[tuple[object, ...], tuple[object, list[str]]] = {}
    keys_of: Callable[..., Iterator[str]] = XFormedAttributePicker.get_possible_keys
    urls_of: Any = BaseBackend.urls
    urls: dict[type, Any] = {}

    def possible_keys(picker: Any, context: AttributePickerContext) -> list[str]:
        """By what the names depend on; the shape is kept, so that no other gets its id."""
        key = (*picker.alias_providers, type(context.obj), context.key, id(context.shape))
        if key not in keys:
            keys[key] = (context.shape, list(keys_of(picker, context)))
        return keys[key][1]

    def urls_once(backend: BaseBackend) -> Any:
        kind = type(backend)
        if kind not in urls:
            urls[kind] = urls_of.fget(backend)
        return urls[kind]

    patch.setattr(XFormedAttributePicker, "get_possible_keys", possible_keys)
    patch.setattr(BaseBackend, "urls", property(urls_once))
    for module, name in (
        (moto.core.responses, "method_names_from_class"),
        (moto.core.responses, "camelcase_to_underscores"),
        (moto.sqs.models, "camelcase_to_underscores"),
    ):
        patch.setattr(module, name, cache(getattr(module, name)))


def _serialize_what_is_there(patch: pytest.MonkeyPatch) -> None:
    """An attribute of DynamoDB has one of ten types: moto would ask it for each of them."""
    every_member: Any = ResponseSerializer._serialize_type_structure

    def serialize(serializer: Any, into: Any, value: Any, shape: Any, key: str) -> None:
        is_attribute = shape.name == "AttributeValue" and type(value) is dict and len(value) == 1
        if not is_attribute or not key or not value.keys() <= shape.members.keys():
            every_member(serializer, into, value, shape, key)
            return
        (kind,) = value
        written = serializer.MAP_TYPE()
        member = shape.members[kind]
        member.parent = shape
        serializer._serialize_structure_member(written, value, member, kind)
        serializer._default_serialize(into, written, shape, key)

    patch.setattr(ResponseSerializer, "_serialize_type_structure", serialize)


def _read_updates_once(patch: pytest.MonkeyPatch) -> None:
    """Check an update expression as a whole, read it once, and copy it by its own shape.

    moto checks each part of it for what it checks the whole for: an update of thirty attributes
    takes ten times as long as any other call.
    """
    is_one: Any = cache(issubclass)

    def traverse(processor: Any, root: Any) -> Any:
        kinds = processor.nodes_to_be_processed()

        def walk(node: Any, number: int) -> Any:
            if not is_one(type(node), _NODES.Node):
                return node
            parent = node.parent
            for nth, child in enumerate(node.children or ()):
                processor.pre_processing_of_child(node, nth)
                walk(child, nth)
            if is_one(type(node), kinds):
                node = processor.process(node)
                node.parent = parent
                if parent:
                    parent.children[number] = node
            return node

        return walk(root, -1)

    def copied(node: Any) -> Any:
        if not is_one(type(node), _NODES.Node):
            return deepcopy(node)
        made = object.__new__(type(node))
        vars(made).update(vars(node))
        if node.children is not None:
            made.children = [copied(child) for child in node.children]
            for child in made.children:
                if is_one(type(child), _NODES.Node):
                    child.parent = made
        return made

    patch.setattr(_NODES.DepthFirstTraverser, "traverse", traverse)
    for whole in (validators.ActionCountValidator, validators.OverlappingPathsValidator):
        patch.setattr(whole, "traverse", lambda validator, root: validator.process(root))
    patch.setattr(validators, "deepcopy", copied)
    patch.setattr(
        _EXPRESSIONS.UpdateExpressionParser,
        "make",
        staticmethod(cache(_EXPRESSIONS.UpdateExpressionParser.make)),
    )


def _who(session: Any) -> tuple[object, ...]:
    """What the clients of a session depend on; credentials may come from the environment."""
    known = session._credentials
    access = known.access_key if known else os.environ.get("AWS_ACCESS_KEY_ID")
    return (access, session.user_agent_name, _shown(session._session_instance_vars))


def _environment() -> Iterator[tuple[str, str]]:
    return ((name, os.environ[name]) for name in sorted(os.environ) if name.startswith("AWS_"))


def _shown(value: Any) -> str:
    if isinstance(value, Config):
        value = value._user_provided_options  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return str({name: _shown(each) for name, each in sorted(value.items())})
    if isinstance(value, tuple):
        return str([_shown(each) for each in value])
    return repr(value)


def _read_conditions_once(patch: pytest.MonkeyPatch) -> None:
    """Split the same text of a condition into the same tokens, which nothing changes."""
    split: Callable[[Any], deque[Any]] = ConditionExpressionParser._lex_condition_expression
    known: dict[str, deque[Any]] = {}

    def tokens(parser: Any) -> deque[Any]:
        text = parser.condition_expression
        if text not in known:
            known[text] = split(parser)
        return known[text].copy()  # the parser takes tokens from it

    patch.setattr(ConditionExpressionParser, "_lex_condition_expression", tokens)


def _copy_what_may_change(patch: pytest.MonkeyPatch) -> None:
    """Copy no numbers, strings and truth values, of which each transaction would copy a table's.

    moto replaces them, and changes only lists, maps and sets.
    """
    copy: Callable[[Any, dict[int, Any]], Any] = DynamoType.__deepcopy__

    def copied(value: Any, memo: dict[int, Any]) -> Any:
        return value if value.type in _SCALARS else copy(value, memo)

    patch.setattr(DynamoType, "__deepcopy__", copied)


def _compare_plain_values(patch: pytest.MonkeyPatch) -> None:
    """Compare values of DynamoDB without the calls that moto makes for each of them.

    moto sorts all rows of a table for each query, and compares the keys by six calls each.
    """
    cast: Callable[[Any], Any] = vars(DynamoType)["cast_value"].fget

    def plain(value: Any) -> Any:
        if value.type in _AS_STORED:
            return value.value
        return Decimal(value.value) if value.type == "N" else cast(value)

    def is_equal(one: Any, other: Any) -> bool:
        if one.type != other.type:
            return False
        if one.type in _AS_STORED or one.value == other.value:
            return bool(one.value == other.value)
        return bool(plain(one) == plain(other))

    def all_items(table: Any) -> list[Any]:
        if not table.range_key_attr:
            return sorted(table.items.values(), key=lambda row: plain(row.hash_key))
        rows = (row for rows in table.items.values() for row in rows.values())
        return sorted(rows, key=lambda row: (plain(row.hash_key), plain(row.range_key)))

    patch.setattr(DynamoType, "cast_value", property(plain))
    patch.setattr(DynamoType, "__eq__", is_equal)
    patch.setattr(DynamoType, "__ne__", lambda one, other: not is_equal(one, other))
    patch.setattr(Table, "all_items", all_items)
