"""`gazette cost`: what a month of a stage costs, from an adopter's own numbers."""
