"""HTML forms from browsers, and the signed links in emails."""
