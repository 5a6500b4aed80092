"""Versions of the templates change while digests go out: no email is mixed, lost or doubled."""
