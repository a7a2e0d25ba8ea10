"""Talk about code review and tests."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

REVIEW = Topic(
    name="review",
    cases="""
it: parser
smell: a function that does five things | a flag argument that flips everything
bug: it swallows the last line of a file | it chokes on empty input
check: an empty file and one without a newline
code: assert parse("") == ()
name: `handle_data`

it: date helper
smell: the same arithmetic in three places | a clock that is read deep inside
bug: it is a day off around midnight | it forgets leap years
check: both sides of midnight and the last day of February
code: assert days_between(today, today) == 0
name: `calc2`

it: form validation
smell: a wall of nested conditions | messages glued together from pieces
bug: it lets a blank name through | it complains about apostrophes
check: blanks, very long names, and letters with accents
code: assert not is_valid(" ")
name: `check_it`

it: image cache
smell: a global dictionary | an except clause that hides everything
bug: it never lets go of anything | two threads fetch the same picture twice
check: two threads that ask for the same thing at once
code: assert cache.size <= cache.limit
name: `mgr`

it: import script
smell: a loop with seven exits | numbers with no explanation
bug: it reads semicolons as text | it starts over after every failure
check: a broken row in the middle of a good file
code: assert import_rows(broken).skipped == 1
name: `do_stuff`

it: search box
smell: a class that knows the whole world | comments that contradict the code
bug: it finds nothing when there's a space at the end | results flicker while one types
check: spaces, capitals, and a word in quotes
code: assert search(" tea ") == search("tea")
name: `tmp_list`
""",
    words="""
tip: write the failing test before the fix. | review in small portions, with a break in between. |
  ask a question instead of giving an order. | run it before you discuss it. | name things after
  what they are for. | separate the moving from the changing. | test behaviour, not the way it is
  done. | delete code whenever you can. | say what you like as well. | keep a commit to one idea. |
  read the tests first, they tell you the intention. | let the machine argue about commas. | make
  the wrong use impossible rather than documented. | try the empty case, the single one and the huge
  one.
lore: Code is read far more often than it is written. | A flaky test is worse than none, since
  nobody believes it. | Large changes get fewer comments than small ones. | Most bugs live where two
  parts disagree about a detail. | A test that can't fail is only decoration. | Cleverness is paid
  back with interest. | Duplication is cheaper than the wrong abstraction. | What is hard to test is
  usually hard to use.
note: I didn't write the original, I should say. | The team is small, so everyone reviews everyone.
  | There are hardly any tests in that corner. | It's old code that nobody dares to touch. | I'm
  fairly new to the language. | My reviewer is kind but thorough. | It works, that's the frustrating
  part. | We've all been staring at it for too long. | I'd like to understand it rather than patch
  it.
look: does the name still tell the truth | what happens on empty input | is there a test that would
  have caught it | could any of it be deleted | who else calls this | is the error told to somebody
  who can act on it | does it read from top to bottom
""",
    openings="""
> {aside?} I'm [reviewing|supposed to review] a change to the {it}, and [I don't know where to
  start|it's bigger than I'd like]. [What strikes me at once is {smell}.|The first thing I saw is
  {smell}.] [Do I mention that, or is it nitpicking?|How would you go about it?]
< [Mention it, but not first.|It's fair to raise it, gently.] [Read the tests before the code, then
  decide whether the change does what it says.|Start with what it is meant to do, then see whether
  you could break it.] {tail?} [How large is it, roughly?|Is somebody waiting for it?]

> There's a bug in our {it}: {bug}. {aside?} [I can reproduce it about half the time.|It only shows
  up on other people's machines.] [How would you hunt that down?|Where would you look first?]
< [Make it reproducible before anything else.|First a test that fails, however ugly.] I'd try
  {check}. [Even one line is a start:|Something as small as this is enough:] `{code}` {tail?}

> [What do you look at in a review?|Do you have a checklist for reviews?] {aside?} [I always get
  lost in the details.|Mine are either too harsh or useless.] [At the moment it's the {it}, which
  has grown over the years.|This time it's the {it}.]
< [A short list is better than a long one.|I'd go from the outside in.] My questions would be: {list
  look} [Leave formatting to the tools.|Three good comments beat twenty small ones.]
""",
    asked="""
> {aside?} How do I write a test for that at all? [It needs half the system to be running.|There's
  no seam anywhere, everything calls everything.]
< [Look for the smallest piece that you could call by itself.|Pull out the part that only computes,
  and leave the rest where it is.] [If even that's hard, the test has just told you something about
  the design.|Pass in what it now fetches for itself, and the problem is gone.] {tail?}

> Is {smell} [really that bad|worth changing]? [It has worked like that for years.|A colleague says
  one should never touch what works.] {aside?}
< [Not in itself; the question is how often somebody has to change it.|It's fine until the next
  change, and then it isn't.] [If you're in there anyway, tidy a little and stop.|Do it as a step of
  its own, so that it's easy to check.] {tail?}

> What's a better name for {name}? {aside?} [I've been staring at it for ten minutes.|Everything I
  come up with is longer than the function.]
< [Say aloud what it gives back, and use that.|If the name needs an "and", it may be two things.]
  [Long is all right if it's true.|Call it something silly for now, and look again when the rest is
  done.] {tail?}

> [How much of it should be tested?|My team argues about coverage.] [One of us wants every line,
  another one none.|The report is red and everyone ignores it.] {aside?}
< [The parts where a mistake would hurt or go unnoticed.|As much as lets you change it without
  fear.] [For the {it} I'd begin with {check}.|A number is a poor goal, though a falling one is a
  hint.] {tail?}

> How do I say "please do it again" [without hurting anybody|politely]? [It's somebody's first
  change.|He is proud of it, one can tell.] {aside?}
< [Talk instead of typing, if you can.|Start with what the change gets right.] [Explain what you
  stumbled over as a reader, rather than what's wrong.|Offer to sit down together for half an hour.]
  {tail?}
> [And if he disagrees?|What if we don't see eye to eye?] [He likes to argue.|I don't want it to
  drag on.]
< [Then ask for an example where your way would be worse.|Try both on a small piece.] [If it's
  taste, let it go.|If it's a bug, a failing test ends the argument faster than words.] {tail?}

> {aside?} Do I fix it properly or just patch it? [The proper way touches ten files.|There's little
  time, as always.] {Bug}, [and that's all that anyone notices|so people are waiting].
< [Patch it now, with a test, and write down the proper way.|A small fix with a test is proper
  enough.] [Ten files for one bug is a sign, but not an order.|Come back to it when the next change
  leads you there anyway.] {tail?}
""",
    told="""
> I wrote the test, [and it fails, finally|and it fails just as you said]. [Never been so happy
  about red.|It took me all morning.] `{code}` [was all it needed|is what did it]. {aside?}
< {nice!} [Now you can change anything you like.|The hard part is behind you.] [Fix it in the
  dullest way first, then make it nice.|Add one more for the neighbouring case while you're there.]
  {tail?}

> Found it! [It wasn't where I was looking at all.|It was one character.] {Bug}, [because somebody
  trimmed the input too early|since two functions disagreed about an index]. {aside?}
< {nice!} [It's nearly always at a border like that.|One character is the classic.] [Leave the test
  in, so it stays found.|Look whether the same thing was written elsewhere.] {tail?}

> My change got [thirty comments|a very long review]. {aside?} [Most are about style.|Some are fair,
  some are not.] [I'm tempted to just accept everything.|I feel like starting over.] [How do I deal
  with that?|]
< {pity!} [Sort them: bugs, questions, taste.|Thirty comments mean that somebody read it with care.]
  [Fix the bugs, answer the questions in the code, and be generous about the rest.|Where you
  disagree, say so once, and why.] {tail?}

> It's [green here and red on the server|failing one time in ten]. [I've run it a hundred
  times.|Nobody can explain it.] [The suspicious bit is {smell}.|] [What would you try?|How do I pin
  that down?] {aside?}
< [Something depends on order, time or the machine; there are few other reasons.|Then it's honest,
  and only the conditions differ.] [Run it alone, then after its neighbours, then in reverse.|Print
  what you take for granted: the folder, the clock, the language.] {tail?}

> I [cleaned up|tidied] the {it} {recent}. [It's half as long now.|{Smell} is gone.] [And nobody
  noticed, which is the point, I suppose.|The tests never went red, which makes me suspicious.]
< {nice!} [Break something on purpose, and see whether they notice.|Half as long is a fine result.]
  [Tell the others in two sentences what moved where.|Stop there for now and let it settle.] {tail?}

> {hm!} I [thought about it again|slept on it], and I'd rather [split it into two changes|leave that
  part as it is]. {aside?} [The first only moves things, the second fixes the bug.|It's ugly, but
  it's well tested.] [Does that make sense?|]
< [Very much so, your reviewer will thank you.|It does.] [Check the first with `git diff --stat` and
  make sure that it's only moves.|Say so in the description, so that nobody wonders.] {tail?}
""",
)
