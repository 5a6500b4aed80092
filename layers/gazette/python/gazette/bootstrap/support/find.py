"""Dependencies of `gazette find`."""

from collections.abc import Callable

from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Run
from gazette.domain.model import RunKey
from gazette.settings.delivery import SendingSettings


def build_read_run(settings: SendingSettings) -> Callable[[RunKey], Run | None]:
    """Return a function that reads a run, or returns None if the run does not exist or has expired.

    Uses the settings of generate.
    """
    return DynamoRuns(settings.runs_table, retention=settings.run_retention).get
