"""Facts that the question shares words with."""

from __future__ import annotations

from functools import partial

from jitchat.rot.book.draws import DATE, among, clock, number, shaped
from jitchat.rot.book.making import told
from jitchat.rot.kinds import Kind

_fact = partial(told, Kind.DIRECT)

DIRECT = (
    _fact(
        "climbing padlock",
        "I finally bought a padlock for the climbing hall. The combination of my climbing padlock"
        " is {v}, in case I ever stand there with chalky hands and no idea.",
        "What is the combination of my climbing padlock?",
        number(1201, 9899),
    ),
    _fact(
        "code freeze",
        "For the Heron release we agreed that the code freeze begins on {v}; after that only fixes"
        " for blockers go in.",
        "On which date does the code freeze for the Heron release begin?",
        DATE,
    ),
    _fact(
        "birthday lunch",
        "Grandmother turns ninety, and we booked the long table at the restaurant {v} for her"
        " birthday lunch with all the cousins.",
        "Which restaurant did we book for grandmother's birthday lunch?",
        among(
            "Lindenhof, Mirabelle, Kastanie, Belvedere, Tamarind, Oleander, Rosmarin, Seeblick,"
            " Bellavista, Zur Sonne"
        ),
    ),
    _fact(
        "dishwasher technician",
        "The technician who repairs the dishwasher comes at {v}, and he would like a cleared"
        " kitchen floor and somebody who can sign.",
        "At what time does the technician come for the dishwasher?",
        clock(8, 17),
    ),
    _fact(
        "ferry cabin",
        "On the night ferry to {island} we have an inside cabin, number {v}, close to the lounge"
        " and as far as possible from the disco.",
        "What is the number of our cabin on the night ferry?",
        number(411, 989),
        island=among("Corsica, Gotland, Shetland, Bornholm, Sardinia, Crete, Minorca"),
    ),
    _fact(
        "chess membership",
        "The chess club has put up its fees: the yearly membership of the chess club costs every"
        " adult {v} euros from this season on, and juniors half.",
        "How many euros does the yearly membership of the chess club cost an adult?",
        number(61, 139),
    ),
    _fact(
        "enzyme samples",
        "Before I forget, the chilled enzyme samples from the spring campaign stand in fridge rack"
        " {v}, behind the boxes with the buffers.",
        "In which fridge rack do the chilled enzyme samples stand?",
        shaped("@#"),
    ),
    _fact(
        "paper bags",
        "Our bakery gets its paper bags from a supplier called {v} now, who prints the logo on"
        " them and does not ask extra for small quantities.",
        "Which supplier does our bakery get its paper bags from?",
        among(
            "Brownfold, Kraftwell, Papiria, Sackville, Tragwerk, Wrapline, Foldmark, Bagatelle,"
            " Carryall, Packhorse"
        ),
    ),
    _fact(
        "physiotherapy",
        "My physiotherapy for the stiff shoulder is always on a {v}, straight after work, with the"
        " therapist whom my sister swears by.",
        "On which weekday is the physiotherapy for my stiff shoulder?",
        among("Monday, Tuesday, Wednesday, Thursday, Friday"),
    ),
    _fact(
        "parking bay",
        "Since the company moved, my parking bay in the basement garage is {v}, right beside the"
        " lift, which is pure luck.",
        "Which parking bay in the basement garage is mine?",
        number(11, 98),
    ),
    _fact(
        "choir conductor",
        "Great news, our choir has found a conductor at last! From the autumn on {v} takes over as"
        " conductor of the choir and wants to rehearse Brahms.",
        "Who takes over as conductor of the choir in the autumn?",
        among(
            "Aldous, Brandauer, Castellan, Dimitrov, Ekström, Falconer, Gruber, Hathaway, Iversen,"
            " Jankowski"
        ),
    ),
    _fact(
        "red canoe",
        "We did it, we are boat people: at the rowing club's jumble sale we paid {v} euros for the"
        " red canoe, paddles and spray deck included.",
        "How much did we pay for the red canoe at the jumble sale?",
        number(215, 785, 5),
    ),
)
