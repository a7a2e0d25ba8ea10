"""Facts whose value has to be right to the letter."""

from __future__ import annotations

import random
from functools import partial

from jitchat.rot.book.draws import among, built, number, shaped
from jitchat.rot.book.making import Maker, told
from jitchat.rot.fact import Fact
from jitchat.rot.kinds import Kind

_fact = partial(told, Kind.EXACT)


def _with_form(maker: Maker, another: tuple[str, str]) -> Maker:
    """Accept the value with something replaced in it, too."""

    def make(chance: random.Random) -> Fact:
        fact = maker(chance)
        (value,) = fact.accepted
        forms = (value, value.replace(*another))
        return Fact(fact.kind, fact.name, fact.sayings, fact.question, value, forms)

    return make


EXACT = (
    _fact(
        "photo backup",
        "The command for the backup of the photo archive is `{v}`, and it has to run as the user"
        " that owns the disk.",
        "What exactly is the command for the backup of the photo archive?",
        built(
            "rsync -a --delete --bwlimit={rate} /mnt/{disk}/ {host}:/vault",
            rate=number(1100, 9900, 100),
            disk=among("photos, pictures, negatives, scans, raw-files"),
            host=among("walnut, chestnut, filbert, macadamia, pecan"),
        ),
    ),
    _with_form(
        _fact(
            "cottage deposit",
            "Please remember that the deposit for the holiday cottage goes to the IBAN {v}, with"
            " our surname as the reference.",
            "To which IBAN does the deposit for the holiday cottage go?",
            shaped("DE## #### #### #### #### ##"),
        ),
        (" ", ""),
    ),
    _fact(
        "label printer",
        "Whenever the label printer chokes, it writes its log file to `{v}`, and that is what the"
        " hotline asks for.",
        "To which path does the label printer write its log file?",
        built(
            "/var/opt/{maker}/spool-{number}/stuck_{letters}.log",
            maker=among("labelwerk, tagomat, stickerd, etiprint"),
            number=number(11, 98),
            letters=shaped("%%%%"),
        ),
    ),
    _fact(
        "blank invoices",
        "I have been bisecting all evening, and the bug with the blank invoices came in with"
        " commit `{v}`, no doubt about it.",
        "Which commit did the bug with the blank invoices come in with?",
        shaped("%%%%%%%%%%%%"),
    ),
    _fact(
        "plotting package",
        "To stop the warnings on the build machine, we peg the plotting package to `{v}`, exactly"
        " so, in the requirements.",
        "To which requirement do we peg the plotting package on the build machine?",
        built(
            "{name}=={major}.{minor}.{patch}{stage}",
            name=among("gridplot, pyfigures, chartkit, axislib"),
            major=number(1, 9),
            minor=number(10, 29),
            patch=number(1, 9),
            stage=among("rc1, rc2, b3, a4, post1, .dev7"),
        ),
    ),
    _fact(
        "visitor wifi",
        "The visitor wifi of the yoga studio has the password {v}, and capitals matter, so type it"
        " with care.",
        "What is the password of the visitor wifi in the yoga studio?",
        built(
            "{one}-{two}{number}",
            one=among("Lotus, Cobra, Crow, Pigeon, Eagle, Camel"),
            two=among("kAlm, bReath, mAntra, sTretch, pOse"),
            number=number(104, 989),
        ),
    ),
    _fact(
        "floor plan licence",
        "The architect forwarded the licence key for the floor plan software, it is {v}, valid for"
        " a pair of computers.",
        "What is the licence key for the floor plan software?",
        shaped("@@##-#@#@-@##@-##@@"),
    ),
    _fact(
        "container image",
        "The demo for the investors runs from the container image `{v}`, do not let anybody"
        " rebuild it.",
        "From which container image does the demo for the investors run?",
        built(
            "ghcr.io/{team}/{app}:{year}.{number}-{tag}",
            team=among("northstar, bluefin, redwood, tumbleweed"),
            app=among("storefront, dashboard, kiosk, checkout"),
            year=number(21, 29),
            number=number(3, 98),
            tag=among("slim, alpine, edge, hotfix"),
        ),
    ),
    _fact(
        "greenhouse sensors",
        "In the crontab, the schedule for reading the greenhouse sensors is `{v}`, everything else"
        " drains the batteries.",
        "What is the crontab schedule for reading the greenhouse sensors?",
        built(
            "*/{every} {first}-{last} * * {days}",
            every=among("5, 10, 12, 15, 20"),
            first=number(4, 8),
            last=number(17, 22),
            days=among("1-5, 1-6, 2-6, 0-4, 1,3,5"),
        ),
    ),
    _fact(
        "amplifier parcel",
        "The tracking number of the parcel with my mended amplifier is {v}, in case the courier"
        " leaves it at the wrong door again.",
        "What is the tracking number of the parcel with the amplifier?",
        shaped("R@#########DE"),
    ),
    _fact(
        "peat bog manuscript",
        "The manuscript about peat bogs that the journal wants me to review has the DOI {v}, so I"
        " can find the supplement.",
        "Which DOI does the manuscript about peat bogs have that I review?",
        shaped("10.4##2/bog.202#.0##1-@"),
    ),
    _fact(
        "payment sandbox",
        "If the payment sandbox spams the console, set the environment variable `{v}` and it goes"
        " silent.",
        "Which environment variable silences the payment sandbox?",
        built(
            "{name}_{what}={value}",
            name=among("PAYBOX, SANDPAY, FAKEBANK, TILLMOCK"),
            what=among("LOG_LEVEL, VERBOSITY, TRACE_MODE"),
            value=among("error-only, quiet_v2, none:all, Off, muted.1"),
        ),
    ),
)
