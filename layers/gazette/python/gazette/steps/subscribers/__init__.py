"""A subscriber's schedules, and the changes of status that stop or resume them."""
