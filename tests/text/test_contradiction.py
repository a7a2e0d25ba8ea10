import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.text.contradiction import is_outdated_by, supersedes


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("From now on answer in German.", "Always answer in French."),
        ("Antworte ab jetzt auf Englisch.", "Antworte immer auf Deutsch."),
        ("Always use spaces.", "Always use tabs for indentation."),
        ("Never use semicolons.", "Always use semicolons."),
        ("The port is 9642.", "The port is 9641."),
        ("We moved the deploy window to Wednesday.", "The deploy window is on Tuesday."),
        ("Let's go with MySQL for the database.", "We decided to use Postgres for the database."),
        ("We agreed on a budget of 800 euros.", "The budget is 500 euros."),
        ("I prefer tea.", "I prefer coffee."),
        ("Please always answer in French!", "always answer in french"),
    ],
)
def test_a_later_statement_of_the_same_takes_the_place_of_the_earlier(newer, older):
    assert supersedes(newer, older)
    assert supersedes(older, newer)


@pytest.mark.parametrize(
    ("instruction", "negated"),
    [
        ("Use tabs", "Don't use tabs"),
        ("Use tabs.", "Never use tabs."),
        ("Use spaces", "Avoid using spaces"),
        ("Indent with tabs.", "Please don't indent with tabs."),
        ("Tests run in CI", "Tests do not run in CI"),
        ("Run the tests in CI.", "Do not run the tests in CI."),
        ("Deploy on Fridays.", "Avoid deploying on Fridays."),
        ("Use emojis in replies.", "Stop using emojis in replies."),
        ("Use emojis.", "No emojis."),
        (
            "Use the staging database for tests.",
            "Refrain from using the staging database for tests.",
        ),
        ("Push to main.", "You must not push to main."),
        ("Use comments in English.", "Skip comments in English."),
        ("Use Redis.", "Don't use Redis."),
        ("Format the code with Black.", "Don't format the code with Black."),
        ("Verwende Tabs.", "Verwende keine Tabs."),
        ("Utilise des tabulations.", "N'utilise pas de tabulations."),
    ],
)
def test_an_instruction_and_its_negation_do_not_both_stand(instruction, negated):
    assert supersedes(negated, instruction)
    assert supersedes(instruction, negated)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Don't use spaces.", "Use tabs."),
        ("Don't use Redis.", "Use Postgres."),
        ("Avoid global variables.", "Use type hints."),
        ("Don't push to main.", "Run the tests in CI."),
        ("Never use semicolons.", "Always use tabs."),
        ("Avoid long functions.", "Avoid long lines."),
        ("Answer briefly.", "Answer in French."),
        ("Write commit messages in English.", "Answer in German."),
        ("We decided to hire Anna for design.", "We decided to hire Bob for the backend."),
        ("The relay listens on 9641.", "The budget is 500 euros."),
        ("Hamid is allergic to hazelnuts.", "Birgit turns 40 on Friday."),
        ("Let's go with Postgres.", "Let's go with Docker."),
        ("Always use type hints.", "Always use pnpm."),
    ],
)
def test_statements_of_different_things_both_stand(newer, older):
    assert not supersedes(newer, older)


@given(st.text(max_size=80))
def test_a_statement_restates_itself(text):
    assert supersedes(text, text)


@pytest.mark.parametrize(
    ("old", "new", "is_other"),
    [
        ("I live in Lisbon.", "I live in Porto now.", True),
        ("The deploy window is on Tuesday.", "The deploy window is on Thursday.", True),
        ("The budget is 4,000 euros.", "The budget is now 6,500 euros.", True),
        ("We use Redis for the queue.", "We no longer use Redis for the queue.", True),
        ("The gateway's port is 8443.", "The gateway's port is 8443.", False),
        ("I ran five miles on Sunday.", "I ran nine miles on Monday.", False),
        ("The office is in Berlin.", "The printer is in Berlin.", False),
        ("Our cat is called Momo.", "The release is planned for May.", False),
        ("The deploy window is Tuesday 02:00.", "The deploy window is Wednesday 14:00.", True),
        ("My sister Ana works at Siemens.", "My sister Ana works at Bosch now.", True),
        ("The meeting with Ana is on Monday.", "The meeting with Bea is on Tuesday.", False),
        ("I have a cat named Max.", "I have a dog named Rex.", False),
        ("Step 1 is to install Node.", "Step 2 is to install Python.", False),
        ("Der Port ist 8443.", "Der Port ist jetzt 9641.", True),
        ("Wir nutzen Redis für Jobs.", "Wir nutzen Redis für Jobs nicht mehr.", True),
        ("Ich habe zwei Hunde.", "Ich habe einen Termin am Montag.", False),
        ("Le budget est de 4000 euros.", "Le budget est maintenant de 6500 euros.", True),
        ("Vivo en Madrid.", "Ahora vivo en Sevilla.", True),
    ],
)
def test_a_state_is_contradicted_by_another_value_or_by_a_negation(old, new, is_other):
    assert is_outdated_by(old, new) is is_other
