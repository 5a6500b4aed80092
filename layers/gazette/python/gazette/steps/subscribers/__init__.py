"""What a subscriber has: schedules, and a status that stops or resumes them."""
