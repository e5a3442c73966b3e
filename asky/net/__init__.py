"""How asky reaches the network. Rule: nothing here knows what is asked for or what an answer means."""
