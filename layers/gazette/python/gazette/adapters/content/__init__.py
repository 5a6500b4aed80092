"""Content sources that are asked: an HTTP service of the adopter."""
