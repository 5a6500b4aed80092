"""The account-level suppression list of SES."""

from gazette.bootstrap.support.suppression import build_ses_suppressions

from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import note


def remove_in_ses(given: str) -> None:
    """Remove all spellings of an address from SES's list. Raises NotPossible.

    SES stores addresses, so a hash does not identify an entry.
    """
    address = given.strip()
    if "@" not in address:
        note(
            "SES may still have an entry in its own suppression list. To remove that entry too, "
            "run this command with the address instead of its hash."
        )
        return
    with refusals_in_words("the SES suppression list", service="ses"):
        removed = build_ses_suppressions().remove(address)
    if removed > 1:
        note(f"Removed {removed} spellings of the address from the SES suppression list.")
    elif removed:
        note("Removed the address from the SES suppression list.")
    else:
        note("The address was not in the SES suppression list.")
