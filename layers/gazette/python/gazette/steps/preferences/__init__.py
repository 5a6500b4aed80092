"""The preference page, and past emails in the browser."""
