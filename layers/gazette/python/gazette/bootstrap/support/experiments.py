"""For `gazette experiment`."""

from gazette.adapters.dynamodb.control.experiments import DynamoExperiments
from gazette.settings.delivery import SendingSettings


def build_experiments(settings: SendingSettings) -> DynamoExperiments:
    """The port `Experiments`, from the settings of generate."""
    return DynamoExperiments(settings.control_table)
