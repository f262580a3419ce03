"""Tables: rows of named columns, compressed, queried where they are stored."""
