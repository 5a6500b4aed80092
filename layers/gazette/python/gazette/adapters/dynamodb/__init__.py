"""DynamoDB: the client, the table models, and one adapter module per table."""
