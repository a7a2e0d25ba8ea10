"""The lab's colours, for the screen and for pictures.

The colour of a share goes from amber (none right) to blue (all right), which can be distinguished
with every kind of colour blindness; each step is darker than the previous one, so that a greyscale
print is readable too. All colours stand out from white and from black backgrounds.
"""

from itertools import cycle

from jitchat.values import Mode

SCALE = ("#f6c06a", "#e98a4f", "#c2696a", "#7f6199", "#2a5fa5")
"""Colours of shares from 0 to 1, in equal steps."""

MODE_HUES = ("#d1495b", "#868b94", "#00798c", "#8a4fd0", "#c07000", "#2a6bff")
"""Colours of the modes, in their order: any two differ with every kind of colour vision."""
MODE_COLOURS = dict(zip(Mode, cycle(MODE_HUES), strict=False))

_DARK, _LIGHT = "#000000", "#ffffff"


def colour_of(share: float) -> str:
    """Return the colour of a share, 0 to 1, as `#rrggbb`."""
    place = min(1.0, max(0.0, share)) * (len(SCALE) - 1)
    step = min(int(place), len(SCALE) - 2)
    below, above = (bytes.fromhex(end.removeprefix("#")) for end in SCALE[step : step + 2])
    mixed = (
        round(low + (high - low) * (place - step)) for low, high in zip(below, above, strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def ink_on(colour: str) -> str:
    """Return black or white for text on a colour; the contrast is at least 4.5 to 1."""
    return max(_DARK, _LIGHT, key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21, as WCAG 2 defines it."""
    lights = sorted((_luminance(one), _luminance(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance, 0 to 1, as WCAG 2 defines it."""
    parts = (part / 255 for part in bytes.fromhex(colour.removeprefix("#")))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
