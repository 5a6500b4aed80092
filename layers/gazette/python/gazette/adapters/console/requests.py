"""The requests that CloudWatch makes for a custom widget.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_about.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NAME = 6
"""The place of the function's name in its ARN."""

_LONGEST = 4000
"""The maximum length of a parameter, in characters. An order to redrive is shorter."""


@dataclass(frozen=True, slots=True)
class WidgetRequest:
    """A request of a widget, or of a button in it."""

    # The action that a button names. Empty when the dashboard is opened or refreshed.
    do: str

    # The parameters of the button, without `do`.
    parameters: Mapping[str, str]

    # The fields of the forms in the widget.
    fields: Mapping[str, str]

    # The theme of the console, `light` or `dark`.
    theme: str

    # True if the console asks for the documentation of the widget.
    describes: bool

    # The ARN by which the function was invoked, with its alias.
    arn: str

    def value(self, name: str) -> str:
        """Return a parameter, or the field of this name without spaces around it."""
        return self.parameters.get(name) or self.fields.get(name, "").strip()


def read_widget(event: Mapping[str, Any], arn: str) -> WidgetRequest:
    """Return the request in the event of a function. Values that are not texts are left out."""
    context = _mapping(event.get("widgetContext"))
    parameters = _texts(event)
    return WidgetRequest(
        do=parameters.pop("do", ""),
        parameters=parameters,
        fields=_texts(_mapping(_mapping(context.get("forms")).get("all"))),
        theme="dark" if context.get("theme") == "dark" else "light",
        describes="describe" in event,
        arn=arn,
    )


def arn_of(function: str, arn: str) -> str:
    """Return the ARN of another function of the stage, with the same alias as `arn`."""
    parts = arn.split(":")
    return ":".join([*parts[:_NAME], function, *parts[_NAME + 1 :]])


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, str) and len(value) <= _LONGEST
    }
