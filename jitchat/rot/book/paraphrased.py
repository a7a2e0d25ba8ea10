"""Facts that the question shares no content word with."""

from __future__ import annotations

from functools import partial

from jitchat.rot.book.draws import DATE, MONTH, among, number
from jitchat.rot.book.making import told
from jitchat.rot.kinds import Kind

_fact = partial(told, Kind.PARAPHRASED)

PARAPHRASED = (
    _fact(
        "newborn girl",
        "My sister gave birth last night, and both of them are doing fine! It is a girl, and they"
        " have decided on {v}, after our great-aunt.",
        "What name did the baby in the family get?",
        among("Maren, Tilda, Romy, Svea, Yara, Elin, Liv, Josefine, Annette, Carlotta, Philippa"),
    ),
    _fact(
        "swollen throat",
        "Before you suggest anything for dinner: my throat swells shut as soon as I eat {v}, even"
        " a crumb of it, so I carry an emergency pen.",
        "To which food do I have an allergy?",
        among(
            "walnuts, hazelnuts, sesame, celery, shellfish, cashews, mustard, lupins, kiwi, soy,"
            " pistachios"
        ),
    ),
    _fact(
        "riverside chapel",
        "Johanna said yes! We shall marry in {v} next summer, in the little chapel above the river"
        " where her parents come from.",
        "Where is our wedding going to be held?",
        among("Ghent, Bergen, Siena, Coimbra, Salzburg, Girona, Turku, Bruges, Heidelberg, Avila"),
    ),
    _fact(
        "flat without a lift",
        "The flat that we signed for is on the {v} floor of an old building without a lift, so the"
        " piano movers are going to curse us.",
        "How many storeys above the ground is our new home?",
        among("third, fourth, fifth, sixth, seventh"),
    ),
    _fact(
        "last smoke",
        "I stubbed out my last smoke in {v} and have not lit one since, which my lungs and my"
        " purse both appreciate.",
        "In which month did I quit cigarettes?",
        MONTH,
    ),
    _fact(
        "motorway breakdown",
        "What a trip: the car died on the motorway just outside {v}, and we sat there in the rain"
        " until the tow truck arrived.",
        "Close to which city did our vehicle break down?",
        among("Ulm, Metz, Lausanne, Padua, Erfurt, Reims, Linz, Zwolle, Pilsen, Orleans"),
    ),
    _fact(
        "pay rise",
        "The boss gave in at last: from the next quarter on I am paid {v} euros a month before"
        " tax, which is just what I had in mind.",
        "How high is my gross salary going to be?",
        number(3050, 4950, 50),
    ),
    _fact(
        "flatmate's dissertation",
        "Poor Milan has to hand in his dissertation by {v}, and he has not even begun with the"
        " chapter on methods.",
        "When is the PhD thesis due?",
        DATE,
    ),
    _fact(
        "shelter puppy",
        "We fetched a puppy from the shelter today! She answers to {v} and has already eaten a"
        " slipper and most of a cushion.",
        "What name did our new pet get?",
        among(
            "Biscuit, Pepper, Waffle, Nutmeg, Pumpkin, Sprocket, Marzipan, Truffle, Domino, Pickle"
        ),
    ),
    _fact(
        "wrapped telescope",
        "The telescope that Theo unwraps on Sunday is in the {v} until then, under an old blanket,"
        " so that he does not stumble over it.",
        "Where did I hide the present for our boy?",
        among(
            "attic, cellar, laundry room, garden shed, broom cupboard, boiler room, garage,"
            " wardrobe, guest room"
        ),
    ),
    _fact(
        "grandfather's bread",
        "My grandfather earned his bread as a {v} in a village near the coast until his hands"
        " would no longer let him.",
        "What was granddad's profession?",
        among(
            "blacksmith, cooper, cobbler, thatcher, tanner, saddler, clockmaker, basket weaver,"
            " glazier, stonemason, sailmaker"
        ),
    ),
    _fact(
        "cardiologist's orders",
        "The cardiologist wants me to swallow {v} milligrams every morning from now on, with"
        " plenty of water and never on an empty stomach.",
        "What dose of the heart pills was I prescribed?",
        number(20, 95, 5),
    ),
)
