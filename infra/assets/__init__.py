"""What is deployed beside the template: layers, function code and built templates."""
