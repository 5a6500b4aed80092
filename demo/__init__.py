"""The main job on an embedded engine: real input in, real emails out, counted."""
