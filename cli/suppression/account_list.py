"""The suppression list of the SES account, from which `remove` takes an address too."""

from gazette.bootstrap.support.suppression import build_ses_suppressions

from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import note


def remove_in_ses(given: str) -> None:
    """Let SES send to an address again, in every spelling that it has of it.

    Of a hash nobody can tell which entry of SES it is.

    Raises NotPossible.
    """
    address = given.strip()
    if "@" not in address:
        note(
            "SES may still keep its own entry, which it stores by address: run this with the "
            "address to remove that too."
        )
        return
    with refusals_in_words("SES's own suppression list", service="ses"):
        removed = build_ses_suppressions().remove(address)
    if removed > 1:
        note(f"SES's own {removed} entries, in several spellings, are removed too")
    else:
        note(f"SES's own entry {'is removed too' if removed else 'was not there'}")
