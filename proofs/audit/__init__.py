"""The rules of cdk-nag, cfn-lint and checkov, over every shape that a stage can have."""
