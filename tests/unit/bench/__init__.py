"""What `make bench` says of what it measured."""
