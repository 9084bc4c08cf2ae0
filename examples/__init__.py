"""Small experiments with the library, each a program of its own."""
