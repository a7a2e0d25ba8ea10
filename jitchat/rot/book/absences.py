"""Questions about what was never said, when the same was said of somebody or something else."""

from __future__ import annotations

from jitchat.rot.book.draws import DATE, MONTH, WEEKDAY, among, clock, number
from jitchat.rot.book.making import absent

ABSENT = (
    absent(
        "desk extension",
        "In case the switchboard is closed, {who} can be reached on the desk extension {v}, also"
        " during the night shift.",
        "On which desk extension can {who} be reached?",
        number(2010, 8990),
        among("Ines, Tariq, Judith, Kwame, Valerie, Stefan"),
    ),
    absent(
        "watercraft hire",
        "Down at the reservoir, hiring a {who} costs {v} euros for an hour, life jackets included,"
        " to be paid in cash.",
        "How many euros does hiring a {who} cost at the reservoir?",
        number(12, 48),
        among("kayak, pedalo, surfboard, dinghy, catamaran, paddleboard"),
    ),
    absent(
        "vaccination",
        "The vet has vaccinated our {who} on {v}, and there was a lot of hissing and a scratched"
        " thumb.",
        "On which date did the vet vaccinate our {who}?",
        DATE,
        among("rabbit, tomcat, ferret, pony, hamster, goose"),
    ),
    absent(
        "appliance warranty",
        "I sorted the receipts, and the warranty on the {who} runs out in {v}, so it should be"
        " checked before then.",
        "In which month does the warranty on the {who} run out?",
        MONTH,
        among("tumble dryer, toaster, oven, vacuum cleaner, refrigerator, kettle"),
    ),
    absent(
        "oratorio solo",
        "For the oratorio at Christmas the {who} solo is sung by {v}, whom the cantor heard in an"
        " opera abroad.",
        "By whom is the {who} solo in the oratorio sung?",
        among("Vandermeer, Oyelaran, Pellegrini, Sokolova, Thibault, Ramirez, Kaltenbach"),
        among("alto, tenor, soprano, bass, baritone"),
    ),
    absent(
        "hostel arrival",
        "The hostel in {who} lets backpackers check in from {v} onwards, and the kitchen there is"
        " shared.",
        "From what time does the hostel in {who} let backpackers check in?",
        clock(13, 19),
        among("Cusco, Medellin, Bariloche, Arequipa, Valparaiso, Sucre"),
    ),
    absent(
        "favourite dinosaur",
        "Small talk with the nephews: {who}'s favourite dinosaur is the {v}, and the cuddly toy"
        " has to come along everywhere.",
        "What is {who}'s favourite dinosaur?",
        among(
            "stegosaurus, ankylosaurus, diplodocus, triceratops, velociraptor, iguanodon,"
            " spinosaurus"
        ),
        among("Jannis, Mattis, Fiete, Henri, Piet, Silas"),
    ),
    absent(
        "job timeout",
        "To stop the pager at night, I raised the timeout of the {who} job to {v} seconds in the"
        " scheduler.",
        "To how many seconds did I raise the timeout of the {who} job?",
        number(95, 895, 5),
        among("thumbnail, newsletter, cleanup, invoice-export, geocoding, transcoding"),
    ),
    absent(
        "wholesale discount",
        "The wholesaler grants us a discount of {v} percent on {who} if we order by the crate.",
        "What discount does the wholesaler grant us on {who}?",
        number(11, 39),
        among("tulips, lilies, peonies, dahlias, orchids, carnations"),
    ),
    absent(
        "grant proposal",
        "I divided up the work on the grant proposal, and {v} drafts the section about {who} by"
        " herself.",
        "Who drafts the section about {who} in the grant proposal?",
        among("Ingeborg, Shirin, Marisol, Agnieszka, Thandiwe, Brunhild, Kirsten"),
        among("ethics, outreach, staffing, data protection, dissemination, sustainability"),
    ),
    absent(
        "dental brace",
        "The orthodontist has looked at the X-rays, and {who} must keep the dental brace in until"
        " {v}, at night as well.",
        "Until when must {who} keep the dental brace in?",
        MONTH,
        among("Quirin, Amelie, Valentin, Ronny, Clarissa, Tjark"),
    ),
    absent(
        "badminton court",
        "{who} has reserved the badminton court for {v} evenings until the end of the term, with"
        " the university rate.",
        "For which evenings has {who} reserved the badminton court?",
        WEEKDAY,
        among("Svetlana, Matteo, Giulia, Anders, Pilar, Nikhil"),
    ),
)
