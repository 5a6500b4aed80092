"""The peer of `cold_start`, a single module that imports everything and creates clients at first
use.

It uses its libraries as their documentation recommends: `import boto3`, Powertools' batch
processor, parser and data classes, premailer for each email, and a PynamoDB model for each table.
It creates the same clients and reads the same secrets as `generate`.
"""

import json
import os
from functools import cache
from typing import Any

import boto3
import jinja2
import premailer
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
from aws_lambda_powertools.utilities.data_classes import SQSEvent
from aws_lambda_powertools.utilities.parser import BaseModel
from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.models import Model

USED = (BatchProcessor(EventType.SQS), SQSEvent, premailer.transform)


class Event(BaseModel):
    """An event that a service published."""

    user_id: str
    id: str
    category: str


class EventRow(Model):
    """A waiting event."""

    class Meta:
        table_name = "events"

    user_id = UnicodeAttribute(hash_key=True)
    event_id = UnicodeAttribute(range_key=True)
    body = UnicodeAttribute()


class RunRow(Model):
    """The row of a run, which becomes one email."""

    class Meta:
        table_name = "runs"

    user_id = UnicodeAttribute(hash_key=True)
    run = UnicodeAttribute(range_key=True)
    attempt = NumberAttribute()


@cache
def build() -> tuple[Any, ...]:
    """Create the clients, the logger and the templates, and read the secrets."""
    secrets = boto3.client("secretsmanager")
    names = ("GAZETTE_LINKS_SECRET", "GAZETTE_SUPPRESSIONS_SECRET")
    read = [secrets.get_secret_value(SecretId=os.environ[name]) for name in names]
    return (
        Logger(service="naive"),
        Metrics(namespace="Naive", service="naive"),
        boto3.client("sqs"),
        boto3.client("sesv2"),
        [model._get_connection().connection.client for model in (EventRow, RunRow)],
        jinja2.Environment(autoescape=True),
        [json.dumps(secret["SecretString"]) for secret in read],
    )
