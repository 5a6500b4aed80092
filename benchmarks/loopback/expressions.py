"""DynamoDB's expressions, as far as the adapters use them: conditions, keys, filters, updates.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
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
Change = Callable[[Item, Item, Names, Values], None]
"""Changes the second item by what the first one, the item as it was, holds."""

_TOKEN = re.compile(r"\s*([#:]?\w+|<=|>=|<>|[=<>(),+-])")


def holds(text: str, item: Item, names: Names, values: Values) -> bool:
    """Whether a condition holds; an empty one does."""
    return not text or _condition(text)(item, names, values)


def updated(text: str, item: Item, names: Names, values: Values) -> Item:
    """The item after an update. The given one stays as it is."""
    after = dict(item)
    for change in _update(text):
        change(item, after, names, values)
    return after


@cache
def _condition(text: str) -> Condition:
    tokens = _Tokens(text)
    condition = _either(tokens)
    tokens.expect("")
    return condition


@cache
def _update(text: str) -> tuple[Change, ...]:
    tokens = _Tokens(text)
    changes: list[Change] = []
    while clause := tokens.take().upper():
        changes.append(_CLAUSES[clause](tokens))
        while tokens.peek() == ",":
            tokens.take()
            changes.append(_CLAUSES[clause](tokens))
    return tuple(changes)


class _Tokens:
    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at]

    def take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def expect(self, token: str) -> None:
        if (found := self.take()).upper() != token:
            raise ValueError(f"{found!r} instead of {token!r} in {' '.join(self._tokens)}")


def _either(tokens: _Tokens) -> Condition:
    first = _both(tokens)
    while tokens.peek().upper() == "OR":
        tokens.take()
        first = _any(first, _both(tokens))
    return first


def _both(tokens: _Tokens) -> Condition:
    first = _one(tokens)
    while tokens.peek().upper() == "AND":
        tokens.take()
        first = _all(first, _one(tokens))
    return first


def _any(one: Condition, other: Condition) -> Condition:
    return lambda item, names, values: one(item, names, values) or other(item, names, values)


def _all(one: Condition, other: Condition) -> Condition:
    return lambda item, names, values: one(item, names, values) and other(item, names, values)


def _one(tokens: _Tokens) -> Condition:
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


def _tested(tokens: _Tokens) -> Condition:
    test = _TESTS[tokens.take().lower()]
    terms = _arguments(tokens)
    return lambda item, names, values: test(*(term(item, names, values) for term in terms))


def _compared(tokens: _Tokens) -> Condition:
    left, operator = _term(tokens), tokens.take().upper()
    if operator == "BETWEEN":
        least = _term(tokens)
        tokens.expect("AND")
        most = _term(tokens)
        return lambda item, names, values: _is_between(
            *(term(item, names, values) for term in (left, least, most))
        )
    if operator == "IN":
        terms = _arguments(tokens)
        return lambda item, names, values: (
            left(item, names, values) in [term(item, names, values) for term in terms]
        )
    compare, right = _COMPARISONS[operator], _term(tokens)
    return lambda item, names, values: compare(
        left(item, names, values), right(item, names, values)
    )


def _arguments(tokens: _Tokens) -> list[Term]:
    tokens.expect("(")
    terms = [_term(tokens)]
    while tokens.peek() == ",":
        tokens.take()
        terms.append(_term(tokens))
    tokens.expect(")")
    return terms


def _term(tokens: _Tokens) -> Term:
    token = tokens.take()
    if token.lower() == "if_not_exists":
        path, default = _arguments(tokens)
        return lambda item, names, values: path(item, names, values) or default(item, names, values)
    if token.startswith(":"):
        return lambda _, __, values: values[token]
    return lambda item, names, _: item.get(names.get(token, token))


def _ordered(value: Value | None) -> Any:
    """What can be compared with another value of the same type."""
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
            and decide(_ordered(one), _ordered(other))
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


def _set(tokens: _Tokens) -> Change:
    token = tokens.take()
    tokens.expect("=")
    first, sign, second = _term(tokens), "", None
    if tokens.peek() in {"+", "-"}:
        sign, second = tokens.take(), _term(tokens)

    def change(before: Item, after: Item, names: Names, values: Values) -> None:
        value = first(before, names, values)
        if second is not None:
            one, other = _ordered(value), _ordered(second(before, names, values))
            value = {"N": str(one + other if sign == "+" else one - other)}
        if value is None:
            raise ValueError(f"{names.get(token, token)} is set to what is not there")
        after[names.get(token, token)] = value

    return change


def _remove(tokens: _Tokens) -> Change:
    token = tokens.take()

    def change(_: Item, after: Item, names: Names, __: Values) -> None:
        after.pop(names.get(token, token), None)

    return change


def _add(tokens: _Tokens) -> Change:
    token, term = tokens.take(), _term(tokens)

    def change(before: Item, after: Item, names: Names, values: Values) -> None:
        name, added = names.get(token, token), term(before, names, values)
        if added is None:
            raise ValueError(f"nothing is added to {name}")
        ((kind, content),) = added.items()
        had = before.get(name, {}).get(kind)
        if kind == "N":
            after[name] = {kind: str(Decimal(had or 0) + Decimal(content))}
        else:
            after[name] = {kind: sorted({*(had or ()), *content})}

    return change


def _delete(tokens: _Tokens) -> Change:
    token, term = tokens.take(), _term(tokens)

    def change(before: Item, after: Item, names: Names, values: Values) -> None:
        name, taken = names.get(token, token), term(before, names, values)
        ((kind, content),) = (taken or {}).items()
        left = sorted({*before.get(name, {}).get(kind, ())} - {*content})
        after.pop(name, None)
        if left:
            after[name] = {kind: left}

    return change


_CLAUSES: dict[str, Callable[[_Tokens], Change]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
    "DELETE": _delete,
}
