"""The event contract, which defines and decodes the events that services may publish."""

from gazette.adapters.contract.decoding import DETAIL_MODELS, Reading, decode, read_detail

__all__ = ["DETAIL_MODELS", "Reading", "decode", "read_detail"]
