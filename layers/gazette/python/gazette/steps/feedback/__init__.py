"""Delivery events: recorded, counted by category, and bounces and complaints acted upon."""
