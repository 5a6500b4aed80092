"""What became of emails, and which addresses get none: one module per table."""
