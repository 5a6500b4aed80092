"""The key that hashes suppressed addresses of a stage, for commands that look up an address."""

from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.domain.errors import InvalidKeys

from gazette_cli.shared.aws_errors import refusals_in_words
from gazette_cli.shared.console import NotPossible, printable


def suppression_key(stage: str, secret: str) -> bytes:
    """Read the suppression key from the secret in a stage's settings. Raises NotPossible."""
    name = f"the suppression key of stage {stage}"
    try:
        with refusals_in_words(name, service="secretsmanager"):
            return read_suppression_key(secret)
    except InvalidKeys as err:
        raise NotPossible(printable(str(err))) from err
