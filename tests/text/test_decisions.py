"""The decision flag: decisions, and sentences that only sound like one."""

from __future__ import annotations

from jitchat.text.stance import commits, is_decision

COMMITS = """
Let's lock the schema at version 3.
Let’s lock that in.
OK, let's lock it in for Thursday.
We decided to go with Postgres.
We've decided: no meetings on Fridays.
I decided to quit my job and open a studio.
She's decided to study law.
We finally settled on eight people.
We both agreed that tests come first.
Everyone agreed to meet at nine.
We agreed not to call customers on weekends.
They agreed on the blue logo.
Agreed.
Agreed, let's do that.
Okay, deal!
Done deal.
So it's settled: we deploy on Tuesday.
Then it is decided.
That's final.
That settles it.
Decision: use SQLite.
Final decision — no Kubernetes.
**Decision:** the port is 8443.
Approved: the new logo.
The budget was finally approved by both boards.
The contract is signed off.
Let's go with option B.
Let's stick to weekly releases.
Let us settle for the smaller room.
Let's call it Project Heron.
Let's make it 20 minutes.
Let's use tabs everywhere.
Let's drop the French translation.
Let's move the launch to May.
We'll go with the blue theme.
We're going with Hetzner instead of AWS.
I'll go with the window seat.
We're sticking with Python 3.11.
We'll use Redis for the queue.
We will keep the old logo.
We have chosen the second design.
I've picked the oak table.
We went with the cheaper vendor in the end.
In the end, we went with the train.
So we opted for the train.
We ruled out MongoDB.
The team resolved to freeze features on 1 May.
We've committed to the July date.
She made up her mind and will study law.
I made my choice.
The plan is to ship on the 12th.
My choice is the oak table.
We have a deal: he pays half.
The deploy window is set for Friday 15:00.
The price is locked in.
From now on, we review every change in pairs.
Change of plan: the launch moves to May.
We changed our mind about dark mode.
The deadline was moved to Monday.
The meeting has been cancelled.
The release got pushed back to June.
We postponed the launch.
We moved the retrospective to Thursday.
Actually, scrap that, we listen on 9000.
No, make that 16:00.
Instead of Friday, we now deploy on Thursday.
I think we agreed on Friday.
In May we decided to move the office.
""".strip().splitlines()

DOES_NOT = """
That must be fun!
You must see this film.
Don't forget the final exam.
Should we decide today?
Did we agree on the price?
What did we decide about the port?
How was it decided?
Have you decided where to go?
Are we going with AWS?
We haven't decided yet.
We have not agreed on a date.
They never agreed to this.
I'm not sure we agreed on that.
I can't decide between the two.
You don't have to decide now.
We need to make a decision soon.
We need to lock that in.
Nothing is settled.
It could be settled next week.
The date is still to be decided.
Once it is decided, tell me.
If we go with plan B, we save a week.
If we agreed on the price, I'd sign today.
Before we agreed on anything, he left.
Unless we've settled on a date, nothing moves.
When we've decided, I'll write to you.
Maybe we'll go with blue.
Perhaps we'll use Redis.
They might go with the other vendor.
We should stick to the plan.
I would have chosen differently.
I wish we had settled on something.
I hope it's approved.
I agree with you.
I totally agree, nature is wonderful!
Tell me what we decided.
Remind me which one we agreed on.
Let me know what you decide.
Let's see how it goes.
Let's talk tomorrow.
Let's hope for the best.
Let's make it happen!
Let's go for a walk.
Let's go with my sister to the beach.
Let's call it a day.
Let's pick it up tomorrow.
Let's switch gears for a moment.
I went with my friends to the museum.
I'm going with my family to Spain.
She picked up the kids.
He picked me for the team.
The door was locked when I came home.
We got locked in the bathroom.
She is settled in her new home.
The dust has settled down.
We settled in Lisbon last year.
We agreed to disagree.
What a great deal!
That's a great deal of work.
The final chapter was moving.
The decision was hard for me.
The choice is yours.
He is committed to his work.
I resolved the conflict in the parser.
The value is replaced by its default.
I was moved by his speech.
We plan to visit Rome one day.
We're planning a trip.
I'd like to stick with this hobby.
I used to commit to too many projects.
""".strip().splitlines()


def test_a_commitment_is_flagged():
    assert [sentence for sentence in COMMITS if not commits(sentence)] == []


def test_a_wish_a_question_or_a_denial_is_not():
    assert [sentence for sentence in DOES_NOT if commits(sentence)] == []


def test_the_tables_are_long_enough_to_mean_something():
    assert min(len(set(COMMITS)), len(set(DOES_NOT))) >= 40


def test_one_committing_sentence_among_many_is_enough():
    assert is_decision("It rained all day. We had tea. Let's lock the port at 8443. Bye!")
    assert not is_decision("It rained all day. We had tea. Should we lock the port?")


def test_code_never_decides():
    assert not is_decision("Look:\n```\n# Decision: let's use tabs\nwe_agreed_on = 1\n```\nNice.")


def test_a_line_break_within_a_sentence_changes_nothing():
    for sentence in COMMITS:
        assert is_decision(sentence) == is_decision(sentence.replace(" ", "\n")), sentence
