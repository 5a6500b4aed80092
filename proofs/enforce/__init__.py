"""A proof of least privilege: policies allow every call that is made, and no unused one."""
