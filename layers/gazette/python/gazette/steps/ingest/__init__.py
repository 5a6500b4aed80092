"""What services say: decoded commands become rows."""
