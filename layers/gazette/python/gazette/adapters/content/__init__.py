"""Content sources that Gazette queries: an HTTP service of the adopter."""
