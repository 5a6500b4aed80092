"""DynamoDB: the client, the tables, and one module per table."""
