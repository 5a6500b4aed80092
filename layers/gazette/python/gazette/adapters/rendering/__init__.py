"""Rendering of emails and pages from templates, in the reader's language and time zone."""
