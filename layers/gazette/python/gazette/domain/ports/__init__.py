"""What the steps need from the outside, as protocols."""
