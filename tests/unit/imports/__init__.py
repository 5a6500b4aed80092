"""Tests of `gazette import`."""
