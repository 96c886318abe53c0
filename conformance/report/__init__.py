"""What a person or a machine is shown: the failure block, the closing table, JSON, and the reproduction script."""
