"""Delivery events, statistics, experiments and the reputation of categories. Pure."""
