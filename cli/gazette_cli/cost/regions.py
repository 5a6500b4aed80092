"""The region of a stage, and whether a price file has the prices of this region."""

import boto3

from gazette_cli.cost.prices import OURS, Prices
from gazette_cli.shared.console import note


def region_of(setting: str) -> str:
    """Return the region of a stage: its `region` setting, or the region of the AWS configuration.

    Return an empty text if neither is set.
    """
    return setting or boto3.Session().region_name or ""


def note_unknown_prices(prices: Prices, region: str) -> None:
    """Print a note if the price file does not have the prices of the region."""
    if region not in {"", prices.region}:
        note(
            f"The prices of {region}, the region of the stage, are unknown. The costs are "
            f"estimated with the prices of {prices.region}. `gazette cost --prices FILE` reads the "
            f"prices of another region from your copy of {OURS}."
        )


def how_to_add(region: str) -> str:
    """Return the sentence that says how to use the prices of a region."""
    return (
        f"Copy the file {OURS}, enter the prices of {region} from "
        "https://aws.amazon.com/pricing/, and specify the copy with --prices."
    )
