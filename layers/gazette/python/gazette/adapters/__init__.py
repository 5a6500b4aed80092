"""Adapters that implement the ports: DynamoDB, SQS, SES, SMTP, templates and event contract."""
