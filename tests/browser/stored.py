"""What the deployed stage has stored."""

import json
from collections.abc import Iterator
from typing import Any

import boto3

from tests.stage import Deployed

Tables = dict[str, list[str]]


def everything(deployed: Deployed) -> Tables:
    """Each row of each table, by the table's name; in an order that does not depend on how."""
    environment = deployed.engine.environment
    client = boto3.client(
        "dynamodb",
        endpoint_url=deployed.engine.url,
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )

    def rows(table: str) -> Iterator[dict[str, Any]]:
        for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
            yield from page["Items"]

    try:
        return {
            table: sorted(json.dumps(row, sort_keys=True, default=repr) for row in rows(table))
            for table in client.list_tables()["TableNames"]
        }
    finally:
        client.close()


def rows_of(deployed: Deployed, user: str) -> Tables:
    """Those rows that name the user."""
    return {
        table: [row for row in rows if f'"{user}' in row]
        for table, rows in everything(deployed).items()
    }
