"""What servers over the use cases share: runs that outlive a request, the token and the names of a server, its door."""
