"""The things about which a reader gets no email."""
