"""The model of a mail provider's delivery events, which services report. docs/events is generated
from it."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from gazette.adapters.contract.details import Detail
from gazette.adapters.contract.fields import Address, Given, Instant, Shape
from gazette.domain.feedback.reports import REFERENCE, REFERENCE_HEADER, read_reference

_MESSAGE_ID = rf"(?:{REFERENCE}|{REFERENCE}@[!-;=?A-~]+|<{REFERENCE}@[!-;=?A-~]+>)"


def _names_a_run(text: str) -> str:
    read_reference(text)
    return text


ReferenceText = Annotated[
    str,
    StringConstraints(max_length=600),
    Shape(_MESSAGE_ID, f"must be the value of the email's {REFERENCE_HEADER} or Message-ID"),
    AfterValidator(_names_a_run),
]
"""The reference of an email, or its Message-ID with or without angle brackets."""

StatusCode = Annotated[
    str,
    Shape(
        r"[245]\.[0-9]{1,3}\.[0-9]{1,3}",
        "must be an enhanced status code (RFC 3463), such as 5.1.1",
    ),
]

ReportType = Literal[
    "sent", "delivered", "delayed", "bounced", "complained", "rejected", "opened", "clicked"
]
Bounce = Literal["permanent", "transient"]


def _only_with_a_bounce(schema: dict[str, Any]) -> None:
    schema["if"] = {"properties": {"type": {"const": "bounced"}}, "required": ["type"]}
    schema["then"] = {"required": ["bounce"]}
    schema["else"] = {"properties": {"bounce": False, "status": False}}


class DeliveryReported(Detail):
    """A delivery event of any mail provider, about an email that Gazette sent by SMTP.

    The stage's `sources` setting must list the source. Duplicates and any order are harmless.
    """

    model_config = ConfigDict(json_schema_extra=_only_with_a_bounce)

    reference: ReferenceText = Field(
        description=f"The value of the email's header `{REFERENCE_HEADER}`. The email's "
        "`Message-ID`, which begins with this value, is accepted too.",
        examples=["ann-daily-17.1.1795248002.5f0c8a1be27d43966f1e0c9ab8d7e254"],
    )
    recipient: Address = Field(
        description="The address to which the email was sent. Gazette stores only its keyed hash.",
        examples=["ann@example.com"],
    )
    type: ReportType = Field(
        description="The kind of event. `sent`: the provider accepted the email. `delivered`: the "
        "recipient's server accepted it. `delayed`: the provider is still trying. `bounced`: the "
        "email was not delivered. `complained`: the recipient marked it as spam. `rejected`: the "
        "provider accepted the email and then discarded it. `opened` and `clicked`: the recipient "
        "opened the email or followed a link in it.",
        examples=["bounced"],
    )
    at: Instant = Field(
        description="The time of the event, by the provider's clock, with the offset from UTC. A "
        "time more than an hour in the future is rejected.",
        examples=["2026-11-21T08:00:05Z"],
    )
    bounce: Annotated[Bounce | None, Given] = Field(
        default=None,
        description="Required for `bounced`, and not allowed otherwise. `permanent`: the address "
        "will never accept email, and Gazette suppresses it. `transient`: the address did not "
        "accept this email. Report only the provider's final attempt; use `delayed` before.",
        examples=["permanent"],
    )
    status: Annotated[StatusCode | None, Given] = Field(
        default=None,
        description="The enhanced status code of a bounce (RFC 3463), if the provider states it. "
        "Bounces because of a policy (`5.7.1`), the content (`5.6.0`) or the size of the message "
        "(`5.3.4`, `5.2.3`) do not suppress the address.",
        examples=["5.1.1"],
    )

    @model_validator(mode="after")
    def _has_a_bounce_only_if_it_bounced(self) -> "DeliveryReported":
        if self.type == "bounced" and self.bounce is None:
            raise ValueError("bounce is required for type bounced: permanent or transient")
        if self.type != "bounced" and (self.bounce or self.status):
            raise ValueError("bounce and status are only allowed for type bounced")
        return self
