"""Figures that the documentation shows, each made by one command."""
