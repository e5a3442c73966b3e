"""The child processes that parse files. Rule: a child can be killed at any time without harm to anything else."""
