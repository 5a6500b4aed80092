"""A subscriber's schedules, and the status changes that stop or resume them."""
