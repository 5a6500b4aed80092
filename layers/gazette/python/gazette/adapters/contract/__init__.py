"""The event contract: the events that services may publish, and their decoding."""

from gazette.adapters.contract.decoding import DETAIL_MODELS, Reading, decode, read_detail

__all__ = ["DETAIL_MODELS", "Reading", "decode", "read_detail"]
