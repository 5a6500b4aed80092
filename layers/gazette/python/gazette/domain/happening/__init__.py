"""Events of one reader about one happening, such as a comment and a mention in it.

The events are the bodies of the happening. They share one row, so that one email shows one of them.
"""
