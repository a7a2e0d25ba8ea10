"""Any LLM: a pure translation per protocol, and one small loop over httpx."""
