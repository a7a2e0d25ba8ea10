"""Files that came with messages, as values: their parts for windows, their pictures for models."""

import hashlib
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file's text, cut at its structure; the texts of all parts add up to it."""

    locator: str
    """Where it is in the file: `§ Install`, `lines 10–62`, `p. 3`; empty where it is all."""
    text: str
    head: str = ""
    """What it is not understood without where it stands alone: the header of a table."""


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    digest: str
    """SHA-256 of the bytes, in hexadecimal."""
    media_type: str
    """`image/png`, `image/jpeg`, `image/webp` or `image/gif`."""
    width: int
    """In pixels, as that of the file says."""
    height: int
    data: bytes = field(default=b"", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file as it was when it was attached."""

    name: str
    """As the user named it, without what leads there where that is long."""
    digest: str
    """SHA-256 of the bytes, in hexadecimal: what has the same one is stored once."""
    media_type: str
    size: int
    """In bytes."""
    parts: tuple[Part, ...] = ()
    """None of a picture."""
    picture: Picture | None = None
    path: str = ""
    """From where it was read, absolute."""
    modified_at: float = 0.0
    """As the file system said then, in seconds since 1970."""
    turn: int = 0
    """The position of the turn that it came with; 0 while it is in no turn."""
    data: bytes = field(default=b"", compare=False, repr=False)
    """All of it; empty where it was loaded from the store, which has it."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    def place(self, part: int) -> str:
        """Name a part, by its number: `README.md § Install`."""
        return f"{self.name} {self.parts[part].locator}".rstrip()


@dataclass(frozen=True, slots=True)
class PartHit:
    """A part of a file that is worth recalling."""

    turn: int
    """The position of the turn that the file came with."""
    digest: str
    """The file's."""
    part: int
    """Its number, from 0."""
    score: float
    reason: str
    left_out: str = ""
    """Why it is not worth its room, as a clause; empty where it is."""


def digest_of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
