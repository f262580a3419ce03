"""Arrays, and what they have in common with views and expressions: operators, methods, operands."""
