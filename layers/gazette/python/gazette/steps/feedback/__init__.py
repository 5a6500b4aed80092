"""What the provider tells of an email: recorded, counted, and obeyed."""
