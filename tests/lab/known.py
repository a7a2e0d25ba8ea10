"""The facts of the hand-written answers, by name."""

from __future__ import annotations

from jitchat.lab.facts import Fact, Kind, Saying, Where


def _told(kind: Kind, name: str, text: str, question: str, *accepted: str) -> Fact:
    return Fact(kind, name, (Saying(text, "Noted."),), question, accepted[0], accepted)


def _updated(name: str, texts: list[str], question: str, new: str, *old: str) -> Fact:
    *before, last = texts
    sayings = [Saying(text, "Noted.", Where.BEFORE, is_needed=False) for text in before]
    return Fact(Kind.UPDATED, name, (*sayings, Saying(last, "Noted.")), question, new, (new,), old)


def _distracted(name: str, texts: list[str], question: str, right: str, *wrong: str) -> Fact:
    meant, *others = texts
    apart = [Saying(text, "Noted.", Where.APART, is_needed=False) for text in others]
    sayings = (Saying(meant, "Noted."), *apart)
    return Fact(Kind.DISTRACTED, name, sayings, question, right, (right,), wrong)


def _counting(name: str, texts: list[str], question: str, *accepted: str) -> Fact:
    sayings = tuple(Saying(text, "Noted.", Where.AROUND) for text in texts)
    return Fact(Kind.COUNTING, name, sayings, question, accepted[0], accepted)


def _absent(name: str, text: str, question: str, wrong: str) -> Fact:
    saying = Saying(text, "Noted.", is_needed=False)
    return Fact(Kind.ABSENT, name, (saying,), question, "never said", (), (wrong,))


_FACTS = (
    _told(
        Kind.DIRECT,
        "padlock",
        "The combination of my climbing padlock is 7443, in case I stand there with no idea.",
        "What is the combination of my climbing padlock?",
        "7443",
    ),
    _told(
        Kind.DIRECT,
        "technician",
        "The technician who repairs the dishwasher comes at 16:40 and wants a cleared floor.",
        "At what time does the technician come for the dishwasher?",
        "16:40",
    ),
    _told(
        Kind.DIRECT,
        "freeze",
        "For the Heron release we agreed that the code freeze begins on 7 March.",
        "On which date does the code freeze for the Heron release begin?",
        "7 March",
    ),
    _told(
        Kind.DIRECT,
        "conductor",
        "From the autumn on Ekström takes over as conductor of the choir.",
        "Who takes over as conductor of the choir in the autumn?",
        "Ekström",
    ),
    _told(
        Kind.DIRECT,
        "bay",
        "Since the company moved, my parking bay in the basement garage is 17.",
        "Which parking bay in the basement garage is mine?",
        "17",
    ),
    _told(
        Kind.DIRECT,
        "physio",
        "My physiotherapy for the stiff shoulder is always on a Thursday, after work.",
        "On which weekday is the physiotherapy for my stiff shoulder?",
        "Thursday",
    ),
    _told(
        Kind.PARAPHRASED,
        "newborn",
        "My sister gave birth last night! It is a girl, and they have decided on Ann.",
        "What name did the baby in the family get?",
        "Ann",
    ),
    _told(
        Kind.PARAPHRASED,
        "storeys",
        "The flat that we signed for is on the fourth floor of a building without a lift.",
        "How many storeys above the ground is our new home?",
        "fourth",
    ),
    _told(
        Kind.PARAPHRASED,
        "allergy",
        "My throat swells shut as soon as I eat walnuts, even a crumb of it.",
        "To which food do I have an allergy?",
        "walnuts",
    ),
    _told(
        Kind.PARAPHRASED,
        "salary",
        "The boss gave in at last: I am paid 3400 euros a month before tax.",
        "How high is my gross salary going to be?",
        "3400",
    ),
    _told(
        Kind.PARAPHRASED,
        "present",
        "The telescope that Theo unwraps on Sunday is in the garden shed until then.",
        "Where did I hide the present for our boy?",
        "garden shed",
    ),
    _updated(
        "pin",
        [
            "The PIN of the burglar alarm at my parents' house is 7440; I water the plants.",
            "The burglar alarm at my parents' house was reset, its PIN is 7443 from today on.",
        ],
        "What is the PIN of the burglar alarm at my parents' house?",
        "7443",
        "7440",
    ),
    _updated(
        "survey",
        [
            "The commuter survey needs 412 completed questionnaires, says our statistician.",
            "She found a slip: the commuter survey needs 580 completed questionnaires.",
            "The target has moved again, the commuter survey needs 640 completed questionnaires.",
        ],
        "How many completed questionnaires does the commuter survey need?",
        "640",
        "412",
        "580",
    ),
    _updated(
        "stand-up",
        [
            "Our weekly stand-up takes place in room Juniper, the one with the whiteboard wall.",
            "Facilities have thrown us out: the weekly stand-up is in room Birch now.",
        ],
        "In which room is the weekly stand-up?",
        "Birch",
        "Juniper",
    ),
    _updated(
        "flight",
        [
            "Our flight to Riga leaves at 16:40, so we ought to sit in the shuttle by two.",
            "The airline wrote: our flight to Riga leaves at 18:05 instead.",
        ],
        "At what time does our flight to Riga leave?",
        "18:05",
        "16:40",
    ),
    _distracted(
        "port",
        [
            "In our cluster the lantern service listens on port 4120, with its health check.",
            "The anvil service in our cluster listens on port 7301, only from inside the gateway.",
            "Port 8845 is what the beacon service listens on in our cluster, with encryption.",
            "In our cluster the thimble service listens on port 5512, with its health check.",
        ],
        "On which port does the lantern service listen in our cluster?",
        "4120",
        "7301",
        "8845",
        "5512",
    ),
    _distracted(
        "shoes",
        [
            "Fenja wears shoe size 36 these days and would love a pair of football boots.",
            "Levin has grown again and wears shoe size 31, also for football boots.",
            "For Bruno it is shoe size 41, at least that is what the football boots say.",
            "Thea wears shoe size 29 these days and would love a pair of football boots.",
        ],
        "Which shoe size does Fenja wear?",
        "36",
        "31",
        "41",
        "29",
    ),
    _distracted(
        "passport",
        [
            "Looking at the documents for the visa, the passport of Cosima expires in March.",
            "The passport of Arvid expires in October, and the visa office is picky about it.",
            "In June the passport of Helene expires, I checked it for the visa.",
            "Looking at the documents for the visa, the passport of Lorenz expires in August.",
        ],
        "In which month does the passport of Cosima expire?",
        "March",
        "October",
        "June",
        "August",
    ),
    _told(
        Kind.EXACT,
        "backup",
        "The command for the backup of the photo archive is `rsync -a --delete /mnt/scans/"
        " pecan:/vault`, and it runs as the user that owns the disk.",
        "What exactly is the command for the backup of the photo archive?",
        "rsync -a --delete /mnt/scans/ pecan:/vault",
    ),
    _told(
        Kind.EXACT,
        "iban",
        "The deposit for the holiday cottage goes to the IBAN DE89 3704 0044 0532 0130 07.",
        "To which IBAN does the deposit for the holiday cottage go?",
        "DE89 3704 0044 0532 0130 07",
        "DE89370400440532013007",
    ),
    _told(
        Kind.EXACT,
        "wifi",
        "The visitor wifi of the yoga studio has the password Crow-kAlm482, and capitals matter.",
        "What is the password of the visitor wifi in the yoga studio?",
        "Crow-kAlm482",
    ),
    _told(
        Kind.EXACT,
        "cron",
        "In the crontab, the schedule for the greenhouse sensors is `*/15 6-20 * * 1-5`.",
        "What is the crontab schedule for reading the greenhouse sensors?",
        "*/15 6-20 * * 1-5",
    ),
    _told(
        Kind.EXACT,
        "log",
        "When the label printer chokes, it writes its log file to"
        " `/var/opt/tagomat/spool-17/stuck_a4f0.log`.",
        "To which path does the label printer write its log file?",
        "/var/opt/tagomat/spool-17/stuck_a4f0.log",
    ),
    _told(
        Kind.EXACT,
        "library",
        "On the build machine we peg the plotting package to `gridplot==4.12.3rc1`.",
        "To which requirement do we peg the plotting package on the build machine?",
        "gridplot==4.12.3rc1",
    ),
    _counting(
        "jam",
        [
            "I gave a jar of our quince jam to Gerda next door, for feeding the tortoise.",
            "The postwoman got a jar of quince jam from me, for the heavy parcels.",
            "Our piano teacher liked the label, so I handed over a jar of the quince jam.",
            "I met my old boss and parted with another jar of quince jam.",
        ],
        "How many jars of quince jam have I given away in all?",
        "four",
        "4",
    ),
    _counting(
        "cakes",
        [
            "The couple from Whitby ordered a christening cake with sugar peacocks.",
            "By telephone we took an order for two christening cakes with lemon filling.",
            "A hotel manager dropped in and ordered a christening cake, gluten-free.",
            "The vicar recommended us, and so another christening cake was ordered today.",
        ],
        "How many christening cakes have been ordered from us in total?",
        "five",
        "5",
    ),
    _absent(
        "extension",
        "In case the switchboard is closed, Tariq can be reached on the desk extension 6468.",
        "On which desk extension can Ines be reached?",
        "6468",
    ),
    _absent(
        "dinosaur",
        "Small talk with the nephews: Fiete's favourite dinosaur is the triceratops.",
        "What is Henri's favourite dinosaur?",
        "triceratops",
    ),
    _absent(
        "warranty",
        "I sorted the receipts, and the warranty on the kettle runs out in November.",
        "In which month does the warranty on the tumble dryer run out?",
        "November",
    ),
    _absent(
        "court",
        "Giulia has reserved the badminton court for Friday evenings until the end of the term.",
        "For which evenings has Anders reserved the badminton court?",
        "Friday",
    ),
)
FACTS = {fact.name: fact for fact in _FACTS}
