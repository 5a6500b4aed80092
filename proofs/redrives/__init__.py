"""Dead letters that a person redrives on the support page while its function is killed."""
