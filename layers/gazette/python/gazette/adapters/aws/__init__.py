"""Adapters for EventBridge, SQS, CloudWatch and Secrets Manager."""
