"""Subscribers, their choices, and the entities that they follow. Pure."""
