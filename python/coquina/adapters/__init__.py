"""Other libraries that take coquina's arrays and tables, each in a module that only it imports."""
