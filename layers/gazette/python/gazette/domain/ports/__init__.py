"""The ports: what the steps need from outside, as protocols."""
