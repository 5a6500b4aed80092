"""What support and operators ask for, from a shell."""
