def estimate(text: str) -> int:
    return (len(text) + 3) // 4
