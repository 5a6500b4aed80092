"""The preference page, leaving by a link, and past emails in the browser."""
