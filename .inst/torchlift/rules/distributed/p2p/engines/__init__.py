"""Simulating an exchange on the engines of torch."""
