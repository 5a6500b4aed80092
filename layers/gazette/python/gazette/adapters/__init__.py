"""The outside: DynamoDB, SQS, SES, SMTP, templates and the event contract."""
