"""Facts that change later: what was said before is wrong."""

from __future__ import annotations

from jitchat.rot.book.draws import DATE, WEEKDAY, among, clock, number
from jitchat.rot.book.making import updated

UPDATED = (
    updated(
        "stand-up room",
        (
            "Our weekly stand-up with the mobile developers takes place in room {v}, the one with"
            " the whiteboard wall and the squeaky chairs.",
            "Facilities have thrown us out: the weekly stand-up of the mobile developers is in"
            " room {v} now, no longer in the one with the whiteboard wall.",
        ),
        "In which room is the weekly stand-up of the mobile developers?",
        among("Cedar, Maple, Birch, Juniper, Larch, Rowan, Hazel, Alder, Spruce"),
    ),
    updated(
        "flight time",
        (
            "Our flight to {town} leaves at {v}, so we ought to sit in the airport shuttle well"
            " ahead of that.",
            "The airline wrote that they had to reschedule: our flight to {town} leaves at {v}"
            " instead, and the rest of the booking stays as it is.",
        ),
        "At what time does our flight to {town} leave?",
        clock(6, 17),
        town=among("Lisbon, Athens, Dublin, Naples, Seville, Riga, Tromso"),
    ),
    updated(
        "bathroom tiles",
        (
            "We chose {v} for the bathroom tiles, a matt finish, which shows the limescale least"
            " according to the tiler.",
            "We changed our minds in the showroom and chose {v} for the bathroom tiles after all;"
            " the others looked cheap in daylight.",
        ),
        "Which colour did we choose for the bathroom tiles?",
        among("teal, ochre, ivory, terracotta, turquoise, charcoal, sage, burgundy, mint, indigo"),
    ),
    updated(
        "burglar alarm",
        (
            "The PIN of the burglar alarm at my parents' house is {v}; I water their plants while"
            " they are away.",
            "Mum mistyped it until it locked, so the burglar alarm at my parents' house has"
            " another PIN, {v}.",
            "An electrician has reset the burglar alarm at my parents' house, which means that its"
            " PIN is {v} from today on.",
        ),
        "What is the PIN of the burglar alarm at my parents' house?",
        number(1021, 9879),
    ),
    updated(
        "ballet class",
        (
            "Nele has her ballet class on {v} afternoons, straight after kindergarten, and she"
            " practises pirouettes everywhere.",
            "The academy has a different timetable from next week on: Nele's ballet class moves to"
            " {v} afternoons.",
        ),
        "On which afternoon is Nele's ballet class?",
        WEEKDAY,
    ),
    updated(
        "housewarming guests",
        (
            "For the housewarming we expect {v} guests so far, so a single barrel of cider ought"
            " to be enough.",
            "Several people have changed their answers, so by now it is {v} guests that we expect"
            " at the housewarming.",
            "Latest tally for the housewarming, now that everybody has answered: we expect {v}"
            " guests, and that is the figure for the caterer.",
        ),
        "How many guests do we expect at the housewarming?",
        number(21, 58),
    ),
    updated(
        "eye test",
        (
            "The optician will do my eye test on {v}, and I am not supposed to put in my contact"
            " lenses on that day.",
            "I had to postpone because of a cold; the optician will do my eye test on {v} instead,"
            " they were very kind about it.",
        ),
        "On which date will the optician do my eye test?",
        DATE,
    ),
    updated(
        "camper van",
        (
            "The dealer asks {v} euros for the used camper van, a fresh inspection and winter"
            " tyres included.",
            "I rang him about the extras: the dealer now asks {v} euros for the used camper van,"
            " with the awning thrown in.",
        ),
        "How many euros does the dealer ask for the used camper van?",
        number(11150, 18950, 100),
    ),
    updated(
        "handball captain",
        (
            "Last night {v} was elected captain of our handball team, and she bought a round for"
            " everyone.",
            "Torn ligament, season over, so there was another vote: {v} is the captain of our"
            " handball team from now on.",
        ),
        "Who is the captain of our handball team?",
        among("Wiebke, Franka, Stine, Dilara, Aylin, Mareike, Paulina, Saskia, Gesa, Leonie"),
    ),
    updated(
        "commuter survey",
        (
            "The commuter survey needs {v} completed questionnaires, says our statistician,"
            " otherwise the confidence intervals are too wide.",
            "Our statistician found a slip in her formula: the commuter survey needs {v} completed"
            " questionnaires, which is a different story.",
            "The funding agency insists on subgroups, so the target has moved again, and the"
            " commuter survey needs {v} completed questionnaires.",
        ),
        "How many completed questionnaires does the commuter survey need?",
        number(412, 988),
    ),
    updated(
        "flower shop",
        (
            "On Saturdays our flower shop opens at {v} from this month on, and both apprentices"
            " know about it.",
            "A correction about Saturdays, because of the market hours: our flower shop opens at"
            " {v}, and I have repainted the sign.",
        ),
        "At what time does our flower shop open on Saturdays?",
        clock(7, 10),
    ),
    updated(
        "planetarium guide",
        (
            "The planetarium guide app goes live on {v}, and marketing has already ordered the"
            " posters for the tram stops.",
            "The security review has another slot, so the planetarium guide app now goes live on"
            " {v}.",
            "Final word from the steering group, signed this time: the planetarium guide app goes"
            " live on {v}, and the earlier plans are void.",
        ),
        "On which date does the planetarium guide app go live?",
        DATE,
    ),
)
