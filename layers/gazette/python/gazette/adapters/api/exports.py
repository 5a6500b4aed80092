"""The route that exports everything that is stored on a person."""

from collections.abc import Callable

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from gazette.adapters.api import models, parameters
from gazette.adapters.api.problems import invalid_parameter
from gazette.adapters.api.resolver import JSON, answers
from gazette.adapters.api.views import export_answer
from gazette.domain.export import ExportPage, InvalidCursor

Export = Callable[[str, str], ExportPage]
"""A function that returns a page of an export (steps/support/export.py).

Arguments: user id, cursor. Raises InvalidCursor.
"""


def add_export(app: APIGatewayHttpResolver, export: Export) -> None:
    """Add the route."""

    @app.get(
        "/v1/subscriber/export",
        operation_id="exportSubscriber",
        summary="Export everything that is stored on a person",
        tags=["privacy"],
        responses=answers(models.Export, "A page of the stored rows."),
    )
    def export_subscriber(
        user_id: parameters.UserIdParameter, cursor: parameters.CursorParameter = ""
    ) -> Response[models.Export]:
        try:
            page = export(user_id, cursor)
        except InvalidCursor:
            detail = "must be the `next` of a previous page of the same user_id"
            raise invalid_parameter("cursor", detail) from None
        return Response(200, JSON, export_answer(page))
