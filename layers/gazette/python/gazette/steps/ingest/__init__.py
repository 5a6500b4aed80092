"""The processing of messages from services, which contain commands."""
