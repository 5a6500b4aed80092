"""The command `make worst`, which measures the CPU time and memory of the worst possible messages
and forms.

Each input is read in a separate process, whose peak memory before and after is compared.
"""

import json
import resource
import sys
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

from gazette.adapters.contract import DETAIL_MODELS, decode
from gazette.adapters.web.forms import LONGEST_FORM, read_request
from gazette.domain.errors import InvalidEvent, UnreadableForm
from rich.console import Console
from rich.table import Table

_MESSAGE = 1024 * 1024
"""The maximum size of an SQS message in bytes.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
"""

_REQUEST = 6 * 1024 * 1024
"""The maximum payload of a synchronous invocation in bytes.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

_URLENCODED = "application/x-www-form-urlencoded"
_PARTS = "multipart/form-data; boundary=b"
_EVENT = {
    "user_id": "a",
    "id": "a",
    "category": "a",
    "entity": {"type": "a", "id": "a", "title": "a", "url": "http://a.example"},
    "actor": {"id": "a", "name": "a"},
    "occurred_at": "2026-11-21T09:30:00Z",
}


class Cost(NamedTuple):
    """The cost of reading one input: CPU seconds, and the growth of peak memory in megabytes."""

    cpu: float
    memory: float


def _message(detail: str, detail_type: str = "event.created") -> str:
    """Return an event envelope around `detail`, which is JSON text."""
    return (
        '{"version":"0","id":"6a7e8feb-b491-4cf7-a9f1-bf3703467718","source":"test",'
        '"account":"123456789012","time":"2026-11-21T09:30:00Z","region":"us-east-1",'
        f'"resources":[],"detail-type":"{detail_type}","detail":{detail}}}'
    )


def _list(one: str) -> str:
    return _message(f'{{"events":[{",".join([one] * (_MESSAGE // (len(one) + 1) - 400))}]}}')


def _names(detail_type: str) -> str:
    """Return a detail that consists of unknown fields."""
    fields = ",".join(f'"{number}":1' for number in range(_MESSAGE // 10))
    return _message(f"{{{fields}}}", detail_type)


def _long(detail_type: str) -> str:
    """Return a detail in which all fields are long texts."""
    names = sorted({name for model in DETAIL_MODELS[detail_type] for name in model.model_fields})
    text = "%" * (_MESSAGE // len(names) - 400)
    return _message(json.dumps(dict.fromkeys(names, text)), detail_type)


def _in_base64() -> str:
    return b64encode(b"a" * (_REQUEST * 3 // 4)).decode()


_LISTS = {
    "valid events": json.dumps(_EVENT),
    "events without a field": "{}",
    "events with unknown fields": json.dumps({f"field{number}": 1 for number in range(150)}),
    "numbers": "7",
    "lists": "[]",
}

MESSAGES: dict[str, Callable[[], str]] = {
    "brackets alone": lambda: "[" * _MESSAGE,
    **{f"a list of {name}": partial(_list, one) for name, one in _LISTS.items()},
    **{f"{each} with unknown fields": partial(_names, each) for each in DETAIL_MODELS},
    **{f"{each} with long fields": partial(_long, each) for each in DETAIL_MODELS},
}
"""Functions that create the worst messages, by name."""

FORMS: dict[str, tuple[Callable[[], str], str, bool]] = {
    "a form of separators": (lambda: "&" * LONGEST_FORM, _URLENCODED, False),
    "a form of percent signs": (lambda: "%" * LONGEST_FORM, _URLENCODED, False),
    "a form of a thousand fields": (lambda: "&".join(["a=%C3%9F"] * 1000), _URLENCODED, False),
    "a form as long as a request": (lambda: "a" * _REQUEST, _URLENCODED, False),
    "the same in base64": (_in_base64, _URLENCODED, True),
    "a form in parts, with semicolons": (lambda: "--b\r\n" + ";" * _REQUEST, _PARTS, False),
    "a form in parts, one in another": (
        lambda: "--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" * 100_000,
        _PARTS,
        False,
    ),
}
"""Functions that create the worst forms, by name, with the content type and True for base64."""


def measure(name: str) -> Cost:
    """Read one of the worst inputs in this process."""
    if name in MESSAGES:
        body = MESSAGES[name]()
        read: Callable[[], object] = partial(decode, body)
    else:
        make, content_type, is_base64 = FORMS[name]
        read = partial(read_request, make(), content_type, is_base64=is_base64)
    before, began = _peak(), time.process_time()
    with suppress(InvalidEvent, UnreadableForm):
        read()
    return Cost(time.process_time() - began, _peak() - before)


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1024**2


def main() -> int:
    """Measure all inputs, and print a table."""
    table = Table(title="The worst possible messages and forms")
    for column, justify in (("", "left"), ("CPU, s", "right"), ("memory, MB", "right")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type] # a literal
    names = [*MESSAGES, *FORMS]
    with get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for name, cost in zip(names, processes.imap(measure, names), strict=True):
            table.add_row(name, f"{cost.cpu:.2f}", f"{cost.memory:.0f}")
    Console(highlight=False).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
