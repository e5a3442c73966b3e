"""What vaults hold beside notes: canvases and drawings."""
