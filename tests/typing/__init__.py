"""Types that users' type checkers see."""
