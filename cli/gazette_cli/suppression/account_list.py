"""The account-level suppression list in SES."""

from gazette_cli.shared.aws_errors import refusals_in_words
from gazette_cli.shared.console import note
from gazette_support.bootstrap.suppression import build_ses_suppressions


def remove_in_ses(given: str) -> None:
    """Remove all spellings of an address from the SES suppression list. Raises NotPossible.

    SES stores addresses, so an entry cannot be found by a hash.
    """
    address = given.strip()
    if "@" not in address:
        note(
            "The SES suppression list may still contain the address. To remove the address from "
            "that list too, run this command with the address instead of the hash."
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
