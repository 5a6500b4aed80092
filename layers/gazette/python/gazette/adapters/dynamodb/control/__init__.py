"""DynamoDB: rows that all workers share, and counters."""
