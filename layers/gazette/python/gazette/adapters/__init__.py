"""Adapters of the ports: DynamoDB, SQS, SES, SMTP, templates and the event contract."""
