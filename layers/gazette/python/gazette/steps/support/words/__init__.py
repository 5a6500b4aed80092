"""Sentences and tables that answer questions of operators, for commands and for pages."""
