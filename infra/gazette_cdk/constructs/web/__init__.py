"""The HTTP API for readers, the domain of links in emails, and the CloudFront front."""
