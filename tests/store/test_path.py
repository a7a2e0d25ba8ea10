"""The path through a conversation's tree: forks of forks, switching, and what is off the path."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreUnreadable
from jitchat.store.path import Path, Tree, parent_of
from jitchat.values import Role, Turn
from tests.support import TALK, talk

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitchat.store.store import ColdStore


@pytest.fixture
def talked(store: ColdStore) -> str:
    made = store.create("Talk")
    store.append(made.id, talk(*TALK))
    return made.id


def user(content: str) -> Turn:
    return Turn(0, Role.USER, content)


def reply(content: str) -> Turn:
    return Turn(0, Role.ASSISTANT, content)


def places(store: ColdStore, conversation: str) -> list[int]:
    return [turn.position for turn in store.turns(conversation)]


def test_a_path_without_forks_is_one_stretch_of_any_length(store, talked):
    assert store.path(talked) == Path(((1, 4),))
    assert [turn.parent for turn in store.turns(talked)] == [None] * 4
    assert store.branches(talked) == {}


def test_a_turn_after_going_back_follows_the_turn_gone_back_to(store, talked):
    stored = store.append(talked, [user("And the logo?"), reply("Blue.")], under=2)
    assert [(turn.position, turn.parent) for turn in stored] == [(5, 2), (6, None)]
    assert places(store, talked) == [1, 2, 5, 6]
    assert store.turns(talked)[2:] == stored
    assert store.conversation(talked).turns == 4


def test_an_edit_of_the_first_turn_is_another_first_turn(store, talked):
    store.append(talked, [user("Which gateway?")], under=0)
    assert places(store, talked) == [5]
    assert store.branches(talked) == {5: (1, 5)}
    store.switch_to(talked, 1)
    assert places(store, talked) == [1, 2, 3, 4]
    assert store.branches(talked) == {1: (1, 5)}


def test_forks_of_forks_are_all_reached_and_none_hides_another(store, talked):
    store.append(talked, [reply("Red.")], under=3)
    store.append(talked, [user("Why red?"), reply("A whim.")])
    store.append(talked, [reply("For the brand.")], under=6)
    assert places(store, talked) == [1, 2, 3, 5, 6, 8]
    assert store.branches(talked) == {5: (4, 5), 8: (7, 8)}
    store.switch_to(talked, 7)
    assert places(store, talked) == [1, 2, 3, 5, 6, 7]
    store.switch_to(talked, 4)
    assert places(store, talked) == [1, 2, 3, 4]
    store.switch_to(talked, 5)
    assert places(store, talked) == [1, 2, 3, 5, 6, 8]
    store.switch_to(talked, 3)
    assert places(store, talked) == [1, 2, 3, 5, 6, 8]


def test_versions_are_of_one_parent_and_one_role(store, talked):
    store.append(talked, [user("Never mind the port.")], under=1)
    store.append(talked, [reply("Port 80.")], under=1)
    assert store.branches(talked) == {6: (2, 6)}
    store.switch_to(talked, 5)
    assert store.branches(talked) == {}
    store.switch_to(talked, 2)
    assert store.branches(talked) == {2: (2, 6)}


def test_appending_nothing_leaves_the_head_where_it_is(store, talked):
    store.append(talked, [reply("Red.")], under=3)
    store.switch_to(talked, 4)
    store.append(talked, [])
    assert places(store, talked) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "damage",
    ["UPDATE turns SET parent = 9 WHERE position = 3", "UPDATE conversations SET head = 9"],
)
def test_an_impossible_tree_is_reported_as_damage(store, talked, damage):
    with store.database.write() as connection:
        connection.execute(damage)
    for look in (store.turns, store.branches, lambda each: store.switch_to(each, 1)):
        with pytest.raises(StoreUnreadable):
            look(talked)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ((), (), 0),
        ((), ((1, 4),), 0),
        (((1, 4),), ((1, 6),), 4),
        (((1, 4), (6, 7)), ((1, 4), (6, 9)), 7),
        (((1, 4), (6, 7)), ((1, 4), (8, 9)), 4),
        (((1, 4),), ((1, 2), (5, 6)), 2),
        (((1, 4),), ((5, 6),), 0),
    ],
)
def test_two_paths_are_the_same_up_to_the_fork(old, new, same):
    assert Path(old).shared(Path(new)) == Path(new).shared(Path(old)) == same


def test_the_last_turns_of_a_path_are_found_over_its_gaps():
    path = Path(((1, 4), (8, 9), (20, 22)))
    for count in range(12):
        held = [place for first, last in path.stretches for place in range(first, last + 1)]
        after = path.before_last(count)
        assert [place for place in held if place > after] == held[max(0, len(held) - count) :]


def test_after_any_forks_every_turn_is_unchanged_and_reachable(
    store, rounds: Callable[[int, int], int]
):
    chance = random.Random(4)
    for _ in range(rounds(3, 200)):
        made = store.create("Talk").id
        said: dict[int, Turn] = {}
        for step in range(40):
            target = chance.randrange(len(said) + 1)
            match chance.choice(["append", "append", "switch", "under"]):
                case "append":
                    said |= stored(store.append(made, pair(step)[: chance.randint(1, 2)]))
                case "under":
                    said |= stored(store.append(made, pair(step)[1:], target))
                case "switch" if target:
                    store.switch_to(made, target)
                    assert target in store.path(made)
            require_whole(store, made, said)


def pair(step: int) -> list[Turn]:
    return [user(f"said {step}"), reply(f"answered {step}")]


def stored(turns: list[Turn]) -> dict[int, Turn]:
    return {turn.position: turn for turn in turns}


def require_whole(store: ColdStore, conversation: str, said: dict[int, Turn]) -> None:
    """The path ascends from parent to child, and every other turn can be switched to."""
    path = store.turns(conversation)
    assert path == [said[turn.position] for turn in path]
    assert [0, *(turn.position for turn in path)][:-1] == [parent_of(turn) for turn in path]
    assert store.conversation(conversation).turns == len(path)
    with store.database.read() as connection:
        rows = connection.execute(
            "SELECT position, parent FROM turns WHERE conversation = ?", (conversation,)
        ).fetchall()
    assert dict(rows) == {position: turn.parent for position, turn in said.items()}
    tree = Tree(
        len(said), 0, {place: parent for place, parent in sorted(rows) if parent is not None}
    )
    for place, turn in said.items():
        reached = Tree(tree.last, tree.leaf_below(place), tree.forks).path()
        assert place in reached
        assert place in tree.children({parent_of(turn)})[parent_of(turn)]
        assert store.turns_of(conversation, reached, place - 1)[0] == turn
