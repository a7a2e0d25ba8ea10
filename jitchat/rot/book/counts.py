"""Facts that are said in four turns, and counted: `[one jar|two jars]` is one of it, or two."""

from __future__ import annotations

from jitchat.rot.book.draws import among
from jitchat.rot.book.making import counting

_NEIGHBOUR = among("Jutta, Herbert, Renate, Alfons, Gerda")
_CLUB = among("Wolverton, Ashby, Kelso, Tiverton, Malvern, Buxton")
_COUSIN = among("Noelia, Bastian, Carmela, Ruben, Estrella")

COUNTING = (
    counting(
        "quince jam",
        (
            "I gave [one jar|two jars] of our quince jam to {neighbour} next door, for feeding the"
            " tortoise while we were away.",
            "The postwoman got [one jar|two jars] of quince jam from me, because she always"
            " carries everything upstairs.",
            "Our piano teacher liked the ribbon so much that I handed over [one jar|two jars] of"
            " the quince jam there and then.",
            "At the tram stop I met my old boss and parted with [one more jar|two more jars] of"
            " quince jam, straight out of my rucksack.",
        ),
        "How many jars of quince jam did people get from me in all?",
        neighbour=_NEIGHBOUR,
    ),
    counting(
        "museum visits",
        (
            "It poured all day in {town}, so we visited [one museum|two museums] there and stayed"
            " until they switched off the lights.",
            "We visited [one museum|two museums] near the canal this morning, mostly for the"
            " cafeteria, to be honest.",
            "After the cathedral we still visited [one museum|two museums] in the old quarter, the"
            " children were past caring.",
            "On the way back we visited [one more museum|two more museums], because the tickets"
            " were included in the travel pass.",
        ),
        "How many museums have we visited in all?",
        town=among("Antwerp, Krakow, Valencia, Gothenburg, Toulouse, Ljubljana"),
    ),
    counting(
        "scanner crashes",
        (
            "[One crash report|Two crash reports] for the barcode scanner came in overnight from"
            " the {place} warehouse, I forwarded the stack trace.",
            "While I was in the meeting, [one crash report|two crash reports] for the barcode"
            " scanner landed in my inbox from the field crew.",
            "Support passed on [one crash report|two crash reports] for the barcode scanner from a"
            " customer who was not amused.",
            "And [one more crash report|two more crash reports] for the barcode scanner just"
            " popped up, on older devices this time.",
        ),
        "How many crash reports for the barcode scanner have there been so far?",
        place=among("Duisburg, Trieste, Rotterdam, Marseille, Katowice"),
    ),
    counting(
        "hedgehogs",
        (
            "You will not believe it, but I saw [one hedgehog|two hedgehogs] beneath the raspberry"
            " bushes when I locked up.",
            "[There was one hedgehog|There were two hedgehogs] drinking from the bird bath at"
            " dusk, not shy in the least.",
            "Taking out the bins I nearly trod on [one hedgehog|two hedgehogs] behind"
            " {neighbour}'s gate.",
            "The wildlife camera caught [one more hedgehog|two more hedgehogs] on the patio, in"
            " the small hours.",
        ),
        "How many hedgehogs have there been in all?",
        neighbour=among("Waltraud, Egon, Hedwig, Siegbert, Irmgard"),
    ),
    counting(
        "league goals",
        (
            "Our {name} scored [one goal|two goals] in the league match against {club}, and I"
            " shouted myself hoarse.",
            "In the mud of the cup replay {name} scored [one goal|two goals] and lost a shin pad.",
            "Away from home, under floodlights, {name} scored [one goal|two goals] with the weaker"
            " foot.",
            "The season closed nicely, as {name} scored [one more goal|two more goals] after"
            " coming on as a substitute.",
        ),
        "How many goals has {name} scored in all?",
        name=among("Nike, Merle, Jorid, Ronja, Alva"),
        club=_CLUB,
    ),
    counting(
        "sleep study",
        (
            "For the sleep study I did [one interview|two interviews] with shift workers at the"
            " hospital, which went smoothly.",
            "I managed [one interview|two interviews] for the sleep study over video today,"
            " despite the patchy connection.",
            "A lorry driver volunteered, so I did [one interview|two interviews] for the sleep"
            " study at the depot in {place}.",
            "I have just transcribed [one more interview|two more interviews] for the sleep study,"
            " with air traffic controllers.",
        ),
        "How many interviews for the sleep study do I have so far?",
        place=among("Hanau, Basildon, Zaragoza, Tampere, Piacenza"),
    ),
    counting(
        "lost umbrellas",
        (
            "I lost [one umbrella|two umbrellas] on the underground, and nobody at the counter had"
            " seen anything.",
            "Such a gust on the bridge at {place} that I lost [one umbrella|two umbrellas] to the"
            " river.",
            "I seem to have lost [one umbrella|two umbrellas] at the theatre, the cloakroom denies"
            " everything.",
            "From the stand outside the pharmacy I lost [one more umbrella|two more umbrellas] to"
            " some thief.",
        ),
        "How many umbrellas have I lost in all?",
        place=among("Rheinau, Limehouse, Bosham, Maldon"),
    ),
    counting(
        "christening cakes",
        (
            "The couple from {place} ordered [one christening cake|two christening cakes] with"
            " sugar peacocks, to be picked up by the godfather.",
            "By telephone we took an order for [one christening cake|two christening cakes] with"
            " lemon filling and no nuts.",
            "A hotel manager dropped in and ordered [one christening cake|two christening cakes],"
            " tiered and gluten-free.",
            "The vicar recommended us, and so [one more christening cake was|two more christening"
            " cakes were] ordered today.",
        ),
        "How many christening cakes have been ordered in all?",
        place=among("Oundle, Ledbury, Whitby, Totnes, Keswick"),
    ),
    counting(
        "cargo bike punctures",
        (
            "The cargo bike had [one puncture|two punctures] on the gravel path, and the groceries"
            " had to be pushed.",
            "I patched [one puncture|two punctures] on the cargo bike in {neighbour}'s yard, glass"
            " splinters everywhere.",
            "On the school run the cargo bike got [one puncture|two punctures], so the twins were"
            " late.",
            "Would you believe it, the cargo bike suffered [one more puncture|two more punctures]"
            " right outside the workshop.",
        ),
        "How many punctures has the cargo bike had in all?",
        neighbour=among("Volker, Annegret, Burkhard, Roswitha"),
    ),
    counting(
        "driving lessons",
        (
            "I had [one driving lesson|two driving lessons] on the ring road, and {teacher} only"
            " grabbed the wheel on a single occasion.",
            "[One driving lesson|Two driving lessons] in fog this week, I was shaking when I got"
            " out.",
            "{teacher} squeezed in [one driving lesson|two driving lessons] for parallel parking,"
            " before sunrise.",
            "I paid for [one more driving lesson|two more driving lessons], on hills and with the"
            " clutch smelling.",
        ),
        "How many driving lessons have I had so far?",
        teacher=among("Kowalski, Brightman, Serrano, Vestergaard"),
    ),
    counting(
        "postcards",
        (
            "[One postcard|Two postcards] from {cousin} arrived, with a donkey on the stamp and"
            " hardly legible.",
            "The letterbox held [one postcard|two postcards] from {cousin} again, written on a"
            " sleeper train by the look of it.",
            "[One postcard|Two postcards] from {cousin} reached me at the office of all places,"
            " showing a volcano.",
            "Today [one more postcard|two more postcards] from {cousin} fell out of the junk mail.",
        ),
        "How many postcards have there been from {cousin} so far?",
        cousin=_COUSIN,
    ),
    counting(
        "migraine attacks",
        (
            "I had [one migraine attack|two migraine attacks] after the thunderstorm and spent the"
            " day behind drawn curtains.",
            "The fluorescent lamps gave me [one migraine attack|two migraine attacks], I had to"
            " cancel the {event}.",
            "Bad days, [one migraine attack|two migraine attacks] with flickering vision, though"
            " the spray helped.",
            "For the headache diary: [one more migraine attack|two more migraine attacks] after"
            " skipping breakfast.",
        ),
        "How many migraine attacks have I had in all?",
        event=among("pottery evening, tango evening, quiz night, book circle"),
    ),
)
