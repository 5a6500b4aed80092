"""The score that SpamAssassin gives to each kind of email, in each language."""
