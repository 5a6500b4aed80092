"""The clients of this process, redirected to the engine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from demo.engine import Engine


@contextmanager
def as_client_of(engine: Engine) -> Iterator[None]:
    """Redirect the adapters in this process to the engine."""
    before = dict(os.environ)
    for name in before:
        if name.startswith("AWS_"):
            del os.environ[name]
    os.environ.update(engine.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
