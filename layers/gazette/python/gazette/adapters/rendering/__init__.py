"""Templates become emails and pages, in the reader's language and on the reader's clock."""
