"""What the model sees. Pure: values in, a `ContextWindow` out; no network, no database."""
