"""What readers reach: the HTTP API, its domain, and CloudFront before it."""
