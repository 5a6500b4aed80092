"""EventBridge, SQS, CloudWatch and Secrets Manager."""
