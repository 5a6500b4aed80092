"""Content sources that Gazette queries, such as an adopter's HTTP service."""
