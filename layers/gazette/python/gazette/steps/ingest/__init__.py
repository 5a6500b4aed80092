"""The processing of messages from services, whose commands become rows."""
