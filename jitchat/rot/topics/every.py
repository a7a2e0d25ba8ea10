"""Every subject there is."""

from __future__ import annotations

from jitchat.rot.topics.baking import BAKING
from jitchat.rot.topics.bike import BIKE
from jitchat.rot.topics.books import BOOKS
from jitchat.rot.topics.budget import BUDGET
from jitchat.rot.topics.cooking import COOKING
from jitchat.rot.topics.films import FILMS
from jitchat.rot.topics.friends import FRIENDS
from jitchat.rot.topics.games import GAMES
from jitchat.rot.topics.garden import GARDEN
from jitchat.rot.topics.knitting import KNITTING
from jitchat.rot.topics.language import LANGUAGE
from jitchat.rot.topics.music import MUSIC
from jitchat.rot.topics.neighbours import NEIGHBOURS
from jitchat.rot.topics.pet import PET
from jitchat.rot.topics.photography import PHOTOGRAPHY
from jitchat.rot.topics.presentation import PRESENTATION
from jitchat.rot.topics.repair import REPAIR
from jitchat.rot.topics.review import REVIEW
from jitchat.rot.topics.running import RUNNING
from jitchat.rot.topics.sleep import SLEEP
from jitchat.rot.topics.spreadsheet import SPREADSHEET
from jitchat.rot.topics.travel import TRAVEL
from jitchat.rot.topics.walking import WALKING

TOPICS = (
    BAKING,
    BIKE,
    BOOKS,
    BUDGET,
    COOKING,
    FILMS,
    FRIENDS,
    GAMES,
    GARDEN,
    KNITTING,
    LANGUAGE,
    MUSIC,
    NEIGHBOURS,
    PET,
    PHOTOGRAPHY,
    PRESENTATION,
    REPAIR,
    REVIEW,
    RUNNING,
    SLEEP,
    SPREADSHEET,
    TRAVEL,
    WALKING,
)
