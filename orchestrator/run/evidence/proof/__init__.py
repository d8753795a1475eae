"""Proofs beyond a passing run: old tests on the new code, new tests on the old code."""
