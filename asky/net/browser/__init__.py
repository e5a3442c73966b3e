"""Pages rendered by a real browser. Rule: every request of the browser passes the guard."""
