"""Facts with near-duplicates that say the same of other systems and people."""

from __future__ import annotations

from jitchat.rot.book.draws import MONTH, among, clock, number
from jitchat.rot.book.making import distracted

DISTRACTED = (
    distracted(
        "service port",
        (
            "In our cluster the {who} service listens on port {v}, and its health check answers on"
            " the same one.",
            "The {who} service in our cluster listens on port {v}, only from inside the gateway.",
            "Port {v} is what the {who} service listens on in our cluster, with encryption.",
        ),
        "On which port does the {who} service listen in our cluster?",
        number(4101, 9899),
        among("lantern, anvil, beacon, thimble, walrus, pelican, saffron"),
    ),
    distracted(
        "shoe size",
        (
            "{who} wears shoe size {v} these days and would love a pair of football boots.",
            "{who} has grown again and wears shoe size {v}, also for football boots.",
            "For {who} it is shoe size {v}, at least that is what the football boots say.",
        ),
        "Which shoe size does {who} wear?",
        number(28, 44),
        among("Levin, Smilla, Bruno, Fenja, Oskar, Thea, Anton"),
    ),
    distracted(
        "coach departure",
        (
            "The coach to {who} departs from bay seven of the central terminal at {v}, and it"
            " takes prams.",
            "From the central terminal the coach to {who} departs at {v}, with an on-board toilet.",
            "At {v} the coach to {who} departs from the central terminal, if traffic allows.",
        ),
        "At what time does the coach to {who} depart from the central terminal?",
        clock(6, 17),
        among("Dresden, Rostock, Kassel, Bremen, Mannheim, Chemnitz, Potsdam"),
    ),
    distracted(
        "library card",
        (
            "The library card of {who} has the number {v}, and there are comics out on it that we"
            " must return.",
            "{who} got a library card as well, it has the number {v} and a dragon on its back.",
            "I noted the number of the library card of {who}, it is {v}, for borrowing e-books.",
        ),
        "What number does the library card of {who} have?",
        number(20011, 89989),
        among("Kasimir, Emmy, Rasmus, Lotta, Vincent, Malin, Benno"),
    ),
    distracted(
        "tent pitch",
        (
            "At the lakeside campsite {who} and the kids have pitch {v}, with some shade in the"
            " afternoon.",
            "{who} wrote that their pitch at the lakeside campsite is {v}, not far from the"
            " showers.",
            "The lakeside campsite gave pitch {v} to {who}, on the meadow with the goats.",
        ),
        "Which pitch does {who} have at the lakeside campsite?",
        number(14, 189),
        among("Gunnar, Sabine, Detlef, Monika, Rainer, Ulrike, Holger"),
    ),
    distracted(
        "field trial",
        (
            "In the field trial the plots with {who} yielded {v} kilos of grain after drying, says"
            " the weighing protocol.",
            "{v} kilos of grain is what the plots with {who} yielded in the field trial.",
            "The plots with {who} yielded {v} kilos of grain in the field trial, despite the hail.",
        ),
        "How many kilos of grain did the plots with {who} yield in the field trial?",
        number(211, 689),
        among("barley, rye, spelt, millet, buckwheat, triticale, sorghum"),
    ),
    distracted(
        "meter reading",
        (
            "For the landlord I have read the {who} meter in the pantry, and it stood at {v} this"
            " morning.",
            "The {who} meter in the pantry stood at {v} when I read it for the landlord.",
            "I sent the landlord a picture of the {who} meter in the pantry, which stood at {v}.",
        ),
        "What did the {who} meter in the pantry stand at?",
        number(10012, 79988),
        among("gas, water, electricity, heating, solar"),
    ),
    distracted(
        "half marathon",
        (
            "{who} finished the half marathon in {v} minutes and could hardly walk down the stands"
            " afterwards.",
            "It took {who} {v} minutes to finish the half marathon, with a smile on the photo.",
            "In the half marathon {who} finished after {v} minutes, in brand-new trainers too.",
        ),
        "In how many minutes did {who} finish the half marathon?",
        number(92, 158),
        among("Tamsin, Douglas, Imogen, Rupert, Fiona, Callum, Beatrix"),
    ),
    distracted(
        "cheese counter",
        (
            "At our cheese counter a kilo of {who} sells for {v} euros since the new delivery, and"
            " people still queue.",
            "A kilo of {who} sells for {v} euros at our cheese counter, and tasting is free.",
            "For {v} euros a kilo we sell {who} at our cheese counter, which hardly covers costs.",
        ),
        "For how many euros does a kilo of {who} sell at our cheese counter?",
        number(17, 49),
        among("gruyere, manchego, pecorino, cheddar, taleggio, emmental, halloumi"),
    ),
    distracted(
        "consulting room",
        (
            "At the outpatient clinic Doctor {who} sees patients in consulting room {v}, past the"
            " vending machine and then left.",
            "Doctor {who} sees patients in consulting room {v} of the outpatient clinic.",
            "Consulting room {v} is where Doctor {who} sees patients at the outpatient clinic.",
        ),
        "In which consulting room of the outpatient clinic does Doctor {who} see patients?",
        number(101, 389),
        among("Abadi, Winkler, Okonkwo, Lindqvist, Moreau, Petrov, Castillo"),
    ),
    distracted(
        "newspaper subscription",
        (
            "The printed subscription to the {who} costs {v} euros a quarter, crossword supplement"
            " included.",
            "A printed subscription to the {who} costs {v} euros a quarter, I looked it up.",
            "We would pay {v} euros a quarter, that is what a printed subscription to the {who}"
            " costs.",
        ),
        "How many euros a quarter does a printed subscription to the {who} cost?",
        number(51, 149),
        among("Gazette, Chronicle, Herald, Courier, Observer, Tribune, Sentinel"),
    ),
    distracted(
        "passport expiry",
        (
            "Looking at the documents for the visa, the passport of {who} expires in {v}, so that"
            " will be tight.",
            "The passport of {who} expires in {v}, and the visa office is picky about it.",
            "In {v} the passport of {who} expires, I checked it for the visa.",
        ),
        "In which month does the passport of {who} expire?",
        MONTH,
        among("Ottilie, Konrad, Helene, Arvid, Cosima, Lorenz, Mathilda"),
    ),
)
