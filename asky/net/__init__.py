"""Network access. Rule: nothing here depends on what is requested or what a response means."""
