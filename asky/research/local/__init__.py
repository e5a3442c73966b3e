"""Local files. Rule: nothing outside the granted folders is opened, whatever a name or a link says."""
