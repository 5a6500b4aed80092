"""What browsers send, and the links that readers follow."""
