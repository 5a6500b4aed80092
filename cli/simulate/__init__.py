"""`gazette simulate`: whether a day fits, what it costs, and what breaks first."""
