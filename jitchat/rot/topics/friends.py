"""Talk about friends, in the plainest of words: it is left where other words are avoided."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

FRIENDS = Topic(
    name="friends",
    cases="""
it: old friend
what: we hardly ever talk any more | we only see each other once a year
wish: have it as it was before | hear from my friend again
step: write a few lines | call on a free evening

it: new friend
what: I never know what to say | I talk and talk, and then I feel bad about it
wish: find out whether we really get on | be a good friend
step: meet at my place for an hour or two | ask for help with some small thing

it: brother at home
what: he never finishes what he starts | he calls late at night and wants to talk for hours
wish: help, and not be told how little I know | see him at home with us more often
step: ask him first what he wants himself | go for a long walk with him

it: best friend from home
what: she moved away | she has another best friend now
wish: not lose her | tell her how I feel
step: send her something small | tell her a story from when we were young
""",
    words="""
tip: ask, and then listen to the whole answer. | say it in your own words. | give it time. | start
  with something small. | leave a door open. | tell the story from the beginning. | don't wait for
  the right moment. | keep it short. | say what you want, and not what the other one did. | try
  again next week. | stop when it's still nice. | let the other one begin. | think of one good thing
  that you did together.
lore: Most people wait for the other one to call. | Nobody knows what you think if you don't say it.
  | A short talk is better than no talk at all. | People change, and the good ones let you change,
  too. | It's never as late as it seems. | Everybody feels like that at some time. | Old friends
  forget the bad days and remember the good ones. | To listen is the better part of helping.
note: I'm not good at things like that. | I've known it for a long time. | My family says I think
  too much. | It has been on my mind for weeks. | I don't want to make it worse. | We're both too
  old for that. | I tried to talk about it once. | It's a small matter, I know. | I have a whole
  free day now.
""",
    openings="""
> {aside?} I have {a it}, and {what}. [I want to {wish}.|All I want is to {wish}.] [What would you
  do?|How do I start?|Do you think that's possible?]
< [I think it's possible, if you begin soon.|It's a good thing to want.|Begin with the easy part.]
  [You could {step}.|Why not {step}?] {tail?} [What do you want to say most?|How long has it been
  like that?]

> Can you help me [find the right words|write something] for my {it}? {aside?} [The thing is that
  {what}.|You know, {what}.] I'd like to {wish}, [and I don't know how to say it|and I don't want to
  make too much of it].
< {Sure!} [Say it like that, just as you said it to me.|Then say exactly that, and no more.] {Tip!}
  {more!} [Two or three lines will do.|Read it again tomorrow, before you send it.]

> I [was thinking of|talked with] my {it} {recent}. [It made me wonder.|I had a long night.] {What},
  [and I think it's my own doing|and I don't know why]. [Is there something I can do about it?|What
  do you make of that?] {aside?}
< [Maybe there's no reason at all.|It takes two, for good and for bad.] [You could {step} and see
  what happens.|First think about what you want.] {tail?}
""",
    asked="""
> {aside?} What if there's no answer? [I'd feel worse than now.|I'd wait by the door for days.]
< [Then you know that you tried, and that's not nothing.|Then wait a week or two.] [No answer isn't
  the same as a no.|People often mean to write back and then forget.] {tail?}

> Should I say what's wrong, or [start with something else|just let it be]? [I don't want to begin
  with the bad part.|I can't go on as if nothing had happened.] {aside?}
< [Start with something else, and see how it goes.|Say it, but not first.] [If it's said in a kind
  way, people can take a lot.|One thing at a time, and the hard one in between.] {tail?}

> How do I find the right time? [It's always too early or too late.|There's always something.]
  {aside?}
< [There's no right time, only a better one.|Take the next best one.] [An evening at home is better
  than a quick word between two other things.|Ask when it would be good.] {tail?}
> [And if it's never good?|What if I hear "not now" again?] [That would be just like it.|I know how
  that goes.]
< [Then ask for one hour, this month or next.|Say that it matters to you, once.] [After that it's
  not in your hands any more.|Don't ask again after that, but leave the door open.] {tail?}

> {aside?} Do you think people can change? [I always hope so.|My family says no.]
< [A little, if they want to.|I believe so, in their own time.] [You can change how you see it,
  that's the easy part.|It's hard to notice from close by.] {tail?}

> Would it be better to [do nothing|wait a bit] for now? {aside?} [Somebody said so.|I might need
  more time.]
< [You can wait, as long as you don't wait for ever.|For a week maybe, and no more.] [Write down
  what you would say, that helps in any case.|To {step} would be a small thing.] {tail?}
""",
    told="""
> I did it: I [wrote|called] {recent}. [We talked for an hour.|It was easy, once I'd started.] [I
  should have called years ago.|I was told a long story, and a good one.] {aside?}
< {nice!} [An hour is a long time for a beginning.|The first minute is the hard part.] [Let it stand
  like that for a few days.|What was the best thing about it?] {tail?}

> No answer [so far|yet]. [I look all the time.|It has been a whole week now.] {aside?} [Should I
  write again?|Did I say something wrong?]
< {pity!} [I don't think that you said anything wrong.|A week is nothing, for some people.] [Leave
  it for now and do something nice.|Give it the same time once more.] {tail?}

> We [met|saw each other] {recent}, [at home with us|for a walk], and [it was as if no time had gone
  by|it was a bit slow at first]. [In the end we forgot the time.|We're going to do it again.]
  {aside?}
< {nice!} [That's how you know.|Slow at first is fine.] [Say when, before you both forget.|Don't
  expect that each time.] {tail?}

> I [said something bad|said it all wrong] {recent}. [I didn't mean it like that.|It was late, and I
  said more than I wanted to.] [How do I make it right?|What do I say now?] {aside?}
< {pity!} [Say that you didn't mean it, and don't give reasons.|Soon, and in a few words.] [Nobody
  expects you to be right all the time.|Then listen for a while.] {tail?}

> {hm!} I [think about it in another way now|see it a bit differently today]. [Maybe it isn't about
  me at all.|Perhaps I wanted too much at once.] [Do you see what I mean?|]
< [I do, and it's a kind thought.|Very much so.] [It might be both, a bit of you and a bit of the
  rest.|You can want a lot, if you give it time.] {tail?}

> I tried to {step}, [as you said|in the end], and [it helped|it was a good idea]. [Not all is well,
  but it's better.|I feel better, anyway.] {aside?}
< {nice!} [Better is a lot.|Then do it again, some other week.] [What would you like to happen
  next?|Don't look for more than that right now.] {tail?}
""",
)
