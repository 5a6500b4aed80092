"""Dependencies of `gazette withdraw`."""

from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.bootstrap.parts.clock import now
from gazette.domain.scheduling.lifetime import withdrawn_for
from gazette.settings.ingest import IngestSettings

from gazette_support.steps.withdrawals import WithdrawalContext


def build_withdrawals(settings: IngestSettings) -> WithdrawalContext:
    """Return the context of `gazette withdraw`, from the settings of ingest."""
    return WithdrawalContext(
        store=DynamoWithdrawals(settings.control_table),
        applies_for=withdrawn_for(settings.event_retention),
        clock=now,
    )
