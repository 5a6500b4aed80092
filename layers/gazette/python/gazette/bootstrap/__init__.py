"""Composition roots, which connect steps to adapters. Each function has its own module, to keep its
imports few.
"""
