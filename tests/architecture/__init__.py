"""Holds the code against ARCHITECTURE.md and docs/dependencies.md. Rust's half: crates/coquina/tests."""
