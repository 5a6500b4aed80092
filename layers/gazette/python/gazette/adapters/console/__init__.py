"""The support page, which CloudWatch shows as a custom widget: its requests and its HTML."""
