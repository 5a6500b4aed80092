"""Many readers, many days, and a clock whose ticks are dropped, doubled and late."""
