"""The assets of a deployment: layers, function code and built templates."""
