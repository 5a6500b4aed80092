"""Amazon SES and SMTP."""
