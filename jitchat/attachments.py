"""Files attached to messages, as values: their parts for windows, their pictures for models."""

import hashlib
from dataclasses import dataclass, field

_LARGE = 64
"""Parts. What is derived of so many, about 100 KB of text, takes a tenth of a second."""
EXTRACTED = (".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".ipynb")
"""Formats of which the text is extracted."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file's text, split at its structure; the parts' texts add up to the file's."""

    locator: str
    """Its place in the file: `§ Install`, `lines 10–62`, `p. 3`; empty for the whole file."""
    text: str
    head: str = ""
    """Context needed when the part is read alone: the header of a table."""


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    digest: str
    """SHA-256 of the bytes, in hexadecimal."""
    media_type: str
    """`image/png`, `image/jpeg`, `image/webp` or `image/gif`."""
    width: int
    """In pixels, from the file's header."""
    height: int
    data: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as it was when it was attached."""

    name: str
    """As the user named it, shortened if the path is long."""
    digest: str
    """SHA-256 of the bytes, in hexadecimal; equal files are stored once."""
    media_type: str
    size: int
    """In bytes."""
    parts: tuple[Part, ...] = ()
    """Empty for a picture."""
    picture: Picture | None = None
    path: str = ""
    """The absolute path it was read from."""
    modified_at: float = 0.0
    """The modification time when it was attached, in seconds since 1970."""
    turn: int = 0
    """The position of the turn it is attached to; 0 before it is stored."""
    data: bytes = field(default=b"", compare=False, repr=False)
    """The content; empty if it was loaded from the store."""

    @property
    def identity(self) -> tuple[str, ...]:
        """Equal for two states of one file; different for equal files with different names."""
        return (self.path,) if self.path else (self.name, self.digest)

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    @property
    def is_large(self) -> bool:
        """Whether what is derived of its text is worth storing."""
        return len(self.parts) >= _LARGE

    @property
    def is_extracted(self) -> bool:
        """Whether its text is what a reader of its format extracts."""
        return self.name.lower().endswith(EXTRACTED)

    def place(self, part: int) -> str:
        """Name a part by its number: `README.md § Install`."""
        return f"{self.name} {self.parts[part].locator}".rstrip()


@dataclass(frozen=True, slots=True)
class PartHit:
    """A part of a file that may be recalled."""

    turn: int
    """The position of the turn that the file is attached to."""
    digest: str
    """The file's digest."""
    part: int
    """The part's number, from 0."""
    score: float
    reason: str
    left_out: str = ""
    """Why it is left out in favour of turns, as a clause; empty if it is not."""


def digest_of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
