"""The client of servers: what is behind a URL, with the words of local files."""
