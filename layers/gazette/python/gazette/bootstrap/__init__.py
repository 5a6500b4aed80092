"""Composition of steps and adapters: one module per function, so that each imports only what it
needs.
"""
