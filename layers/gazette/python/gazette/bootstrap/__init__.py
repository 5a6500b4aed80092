"""Where steps meet adapters: one module a function, so that each imports only its own."""
