"""Messages that say the reply is wrong, and many that use the same words otherwise."""

from __future__ import annotations

from jitchat.text.stance import objects

WRONG = """
that's wrong
That is wrong.
No, that is not right.
no that's wrong
That’s not right.
That isn't right
That is incorrect.
this is wrong
It's wrong.
that was wrong
That's just wrong!
That's still wrong.
That's completely wrong, it was Tuesday.
that is simply not true
That's not true.
That's not correct.
Your answer is wrong.
your reply was incorrect
The answer is wrong.
Wrong.
wrong!
Wrong, we moved it to Friday.
Incorrect.
Not true.
Not quite.
not right, sorry
Nope, that's wrong.
Hmm, that's not right.
Hm. That's not right.
Wait, that's wrong.
Actually, that's wrong.
Actually that is not what we decided.
That's not what I said.
That is not what we agreed on.
that's not what I asked
That's not when we met.
That's not the port we agreed on.
It wasn't what you told me.
You're wrong.
You are mistaken.
you're wrong about that, sorry
You got that wrong.
You have it wrong.
you've got this all wrong
You made that up.
You misremember.
You forgot what we decided.
You missed the decision of last week.
You mixed them up.
I think that's wrong.
I don't think that's right.
I do not think that is correct
I'm afraid that's not right.
That can't be right.
That doesn't sound right.
That cannot be true.
No, we decided on Tuesday.
No, we never agreed to that.
no, I said 8443
No. You said Tuesday.
Thanks. But that's wrong.
That's wrong because we changed it.
that's nonsense
That's the wrong one.
""".strip().splitlines()
FINE = """
what is wrong with the port?
What's wrong?
what went wrong yesterday
is that wrong?
Is that right?
Is it true that we agreed on Tuesday?
Isn't that wrong?
Why is that wrong?
Tell me if that's wrong.
If that is wrong, tell me.
When that's wrong, the build fails.
The port is wrong.
the test in main.py is wrong
Something is wrong with the build.
I was wrong about the port.
I'm wrong.
we were wrong
That's right.
That is correct, thanks.
You're right.
that's not wrong
That's not a problem.
That's not bad!
It is wrong to lie.
This is wrong in main.py: fix it.
No.
No, thanks.
no, I haven't tried that
No, go on.
No problem.
Not yet.
Not now.
not sure
Is your answer right?
Which answer is wrong?
what did we settle on for the deploy window?
Right or wrong, what did we decide?
How can that be true?
Correct my grammar: that are wrong.
Write a story about a wrong turn.
Don't get me wrong, I like it.
What did you miss?
Did you forget the port?
You said Tuesday, when is that?
Who got that wrong?
what's the wrong way to do it
false alarms: how many?
the wrong port is 8080
That was fun.
It isn't urgent.
That's not what worries me.
Show me what is not right in this text.
Am I wrong?
Explain why the second answer is not correct.
""".strip().splitlines()


def test_objections_are_distinguished_from_other_messages() -> None:
    assert len(WRONG) + len(FINE) > 100
    assert [text for text in WRONG if not objects(text)] == []
    assert [text for text in FINE if objects(text)] == []


def test_much_text_takes_little_time() -> None:
    assert not objects("no, " * 200_000)
    assert not objects("that is " + "so " * 200_000)
