"""The generated pages of docs/cli: IAM permissions, an example and the JSON shape of each
command.
"""
