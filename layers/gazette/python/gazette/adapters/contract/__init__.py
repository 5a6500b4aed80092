"""The event contract: what services may put on the bus, and how it is decoded."""

from gazette.adapters.contract.decoding import DETAIL_MODELS, Reading, decode, read_detail

__all__ = ["DETAIL_MODELS", "Reading", "decode", "read_detail"]
