"""DynamoDB's expressions for write conditions, keys and filters, as far as the adapters use them.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
"""

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

Value = dict[str, Any]
Item = dict[str, Value]
Names = dict[str, str]
Values = dict[str, Value]

Term = Callable[[Item, Names, Values], Value | None]
Condition = Callable[[Item, Names, Values], bool]
_TOKEN = re.compile(r"\s*([#:]?\w+|<=|>=|<>|[=<>(),+-])")


def holds(text: str, item: Item, names: Names, values: Values) -> bool:
    """Return True if the condition holds for the item, or if the condition is empty."""
    return not text or _condition(text)(item, names, values)


@cache
def _condition(text: str) -> Condition:
    tokens = Tokens(text)
    condition = _either(tokens)
    tokens.expect("")
    return condition


class Tokens:
    """The tokens of an expression in sequence. The token at the end is empty."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._at = 0

    def peek(self) -> str:
        """Return the next token."""
        return self._tokens[self._at]

    def take(self) -> str:
        """Return the next token, and move past it."""
        self._at += 1
        return self._tokens[self._at - 1]

    def expect(self, token: str) -> None:
        """Move past the next token. Raise ValueError if the token is not `token`."""
        if (found := self.take()).upper() != token:
            raise ValueError(f"{found!r} instead of {token!r} in {' '.join(self._tokens)}")


def _either(tokens: Tokens) -> Condition:
    first = _both(tokens)
    while tokens.peek().upper() == "OR":
        tokens.take()
        first = _any(first, _both(tokens))
    return first


def _both(tokens: Tokens) -> Condition:
    first = _one(tokens)
    while tokens.peek().upper() == "AND":
        tokens.take()
        first = _all(first, _one(tokens))
    return first


def _any(one: Condition, other: Condition) -> Condition:
    return lambda item, names, values: one(item, names, values) or other(item, names, values)


def _all(one: Condition, other: Condition) -> Condition:
    return lambda item, names, values: one(item, names, values) and other(item, names, values)


def _one(tokens: Tokens) -> Condition:
    word = tokens.peek().lower()
    if word == "(":
        tokens.take()
        inner = _either(tokens)
        tokens.expect(")")
        return inner
    if word == "not":
        tokens.take()
        denied = _one(tokens)
        return lambda item, names, values: not denied(item, names, values)
    if word in _TESTS:
        return _tested(tokens)
    return _compared(tokens)


def _tested(tokens: Tokens) -> Condition:
    test = _TESTS[tokens.take().lower()]
    terms = _arguments(tokens)
    return lambda item, names, values: test(*(term(item, names, values) for term in terms))


def _compared(tokens: Tokens) -> Condition:
    left, operator = term_of(tokens), tokens.take().upper()
    if operator == "BETWEEN":
        least = term_of(tokens)
        tokens.expect("AND")
        most = term_of(tokens)
        return lambda item, names, values: _is_between(
            *(term(item, names, values) for term in (left, least, most))
        )
    if operator == "IN":
        terms = _arguments(tokens)
        return lambda item, names, values: (
            left(item, names, values) in [term(item, names, values) for term in terms]
        )
    compare, right = _COMPARISONS[operator], term_of(tokens)
    return lambda item, names, values: compare(
        left(item, names, values), right(item, names, values)
    )


def _arguments(tokens: Tokens) -> list[Term]:
    tokens.expect("(")
    terms = [term_of(tokens)]
    while tokens.peek() == ",":
        tokens.take()
        terms.append(term_of(tokens))
    tokens.expect(")")
    return terms


def term_of(tokens: Tokens) -> Term:
    """Return a term: an attribute, a given value, or `if_not_exists`."""
    token = tokens.take()
    if token.lower() == "if_not_exists":
        path, default = _arguments(tokens)
        return lambda item, names, values: path(item, names, values) or default(item, names, values)
    if token.startswith(":"):
        return lambda _, __, values: values[token]
    return lambda item, names, _: item.get(names.get(token, token))


def ordered(value: Value | None) -> Any:
    """Return a sort key for comparing values of the same type."""
    if value is None:
        return None
    ((kind, content),) = value.items()
    return Decimal(content) if kind == "N" else content


def _compare(decide: Callable[[Any, Any], bool]) -> Callable[[Value | None, Value | None], bool]:
    def compare(one: Value | None, other: Value | None) -> bool:
        return (
            one is not None
            and other is not None
            and one.keys() == other.keys()
            and decide(ordered(one), ordered(other))
        )

    return compare


_COMPARISONS: dict[str, Callable[[Value | None, Value | None], bool]] = {
    "=": _compare(lambda one, other: bool(one == other)),
    "<>": lambda one, other: one != other,
    "<": _compare(lambda one, other: bool(one < other)),
    "<=": _compare(lambda one, other: bool(one <= other)),
    ">": _compare(lambda one, other: bool(one > other)),
    ">=": _compare(lambda one, other: bool(one >= other)),
}


def _is_between(value: Value | None, least: Value | None, most: Value | None) -> bool:
    at_least = _COMPARISONS[">="]
    return at_least(value, least) and at_least(most, value)


_TESTS: dict[str, Callable[..., bool]] = {
    "attribute_exists": lambda value: value is not None,
    "attribute_not_exists": lambda value: value is None,
    "begins_with": lambda value, start: value is not None and value["S"].startswith(start["S"]),
    "contains": lambda value, part: (
        value is not None and next(iter(part.values())) in next(iter(value.values()))
    ),
}
