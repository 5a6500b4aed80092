"""A stage that sends by SMTP, while its server refuses MAIL, on an engine of its own."""
