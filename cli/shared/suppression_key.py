"""The key of the suppressions of a stage, for the commands that look an address up."""

from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.domain.errors import InvalidKeys

from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible, printable


def suppression_key(stage: str, secret: str) -> bytes:
    """The key in the secret that the settings of a stage name. Raises NotPossible."""
    name = f"the key of the suppressions of stage {stage}"
    try:
        with refusals_in_words(name, service="secretsmanager"):
            return read_suppression_key(secret)
    except InvalidKeys as err:
        raise NotPossible(printable(str(err))) from err
