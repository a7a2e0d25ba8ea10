"""Talk about household money."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

BUDGET = Topic(
    name="budget",
    cases="""
it: household budget
leak: small things at the supermarket | takeaways on tired evenings
wish: a cushion for bad months | a new sofa
method: three jars | a plain table with one line a week

it: student budget
leak: coffee on the way | rounds I pay for and forget
wish: a summer away | a decent chair
method: cash in envelopes | a note on the phone

it: family budget
leak: clubs and birthday presents | shoes, for feet that won't stop growing
wish: a holiday by the sea | swimming lessons for both
method: a joint account for the shared things | a talk on the first Sunday

it: freelance budget
leak: software I no longer use | taxes that come as a surprise
wish: a calm winter | a proper desk
method: paying myself a fixed wage | setting a part of every invoice aside

it: wedding budget
leak: extras that are only a little more | guests of guests
wish: a good band | food that is still warm
method: a list in order of what matters | one person who signs for everything
""",
    words="""
tip: write it down for a month before you change anything. | give every part of it a name and a
  limit. | put the savings away first and live on the rest. | cancel what you haven't used since the
  spring. | wait a night before you buy anything you didn't need yesterday. | keep one small sum
  that nobody has to explain. | look at the yearly bills as if they came monthly. | compare the big
  ones once a year, and forget about the small ones. | shop with a list and a full stomach. | round
  up when you estimate. | talk about it at breakfast rather than at night. | automate whatever you'd
  otherwise forget. | treat windfalls as if they hadn't happened.
lore: Most budgets fail by being too strict. | It's the regular things that add up, not the
  occasional feast. | A plan that survives a bad month is worth more than a perfect one. | People
  guess their food bill wrong by about a third. | Irregular costs are regular if you look at a whole
  year. | Knowing where it goes is most of the cure. | Small limits feel smaller when you've set
  them yourself.
note: There's enough coming in, it just doesn't stay. | I've tried apps and gave up after a week
  each. | My partner and I see it differently. | I don't want to count every roll. | Some months are
  fat and some are lean. | I hate forms, I admit. | We're not in trouble, only careless. | My
  parents never talked about it.
look: subscriptions that renew by themselves | bank charges | insurance you pay for twice | the
  freezer, before you go shopping | whatever is delivered | old contracts | things you could borrow
""",
    openings="""
> {aside?} I'd like to get a grip on our {it}. [At the end of the month it's simply gone|I never
  know where it all went], and I suspect {leak}. [How do I start without turning it into a second
  job?|Where would you begin?]
< [By looking before you change anything.|With four weeks of honest notes.] [After that you'll know
  whether it really is {leak}, or something duller.|Most people are surprised by where it goes.]
  {tail?} [How do you pay for most things, by card?|Is it only you, or do others spend from it?]

> [Could you suggest a simple system for {a it}?|What's the simplest way to run {a it}?] {aside?}
  [We'd love to save up for {wish}.|The aim is {wish}, eventually.] [It shouldn't take more than a
  few minutes a week.|I give up as soon as there are more than five categories.]
< [Then I'd take {method}.|{Method}, I think, because you see it at a glance.] [Keep three groups:
  what has to be paid, what you live on, and what is for later.|Don't try to be exact, only honest.]
  {tail?}

> {Recent} I [went through the statements|sat down with a glass of wine and the bank statements],
  and [I'm a little shocked|I had no idea]. [So much of it is {leak}.|The culprit is {leak}.]
  {aside?} [What else should I look at while I'm at it?|Where do people usually find something?]
< [Shocked is a good beginning.|It's never pleasant, but now you know.] These are the usual places:
  {list look} [Tackle one a week and don't look back.|Leave the nice things for last.] {tail?}
""",
    asked="""
> Is {method} [any good|not a bit old-fashioned]? {aside?} [My sister does it and swears by it.|I
  read about it and couldn't tell whether it was meant seriously.]
< [It's good because you can see it.|Old-fashioned, and it works.] [The method matters less than
  looking at it once a week.|Try it for two months and judge it then.] {tail?}

> {aside?} How much should one put aside? [Everyone names a different share.|I tried a lot at once
  and took it back out before the month was over.]
< [As much as you won't have to take back.|Start so low that you don't notice.] [Raise it a little
  whenever something falls away.|First a cushion for repairs, then {wish}.] {tail?}

> How do I talk about it with [my partner|the rest of the family]? [It turns into an argument every
  time.|One of us is the ant and the other one the grasshopper.] {aside?}
< [Begin with what each of you would like to have it for, not with what was spent.|At a good hour,
  with something to eat on the table.] [Give each of you an amount that isn't discussed.|Put it on
  paper, so that you both look at the paper.] {tail?}
> [And if we don't agree?|What if one of us earns more?] [That's the sore point.|We've been going
  round in circles about that.]
< [Then agree on the shared part only, and leave the rest alone.|Shares in proportion feel fair to
  most people.] [Revisit it in three months, whatever you choose.|Write down what both can live
  with, even if neither loves it.] {tail?}

> I can't [do without|give up] {leak}, [I know myself|not altogether]. [It's what gets me through
  the week.|Life would be grey.] {aside?} [Is there a way to keep it?|What else could go instead?]
< [Then keep it and make room for it.|Of course, just give it a number.] [Cut what you wouldn't
  miss, and spend that on what you would.|Half as often tastes twice as good, they say.] {tail?}

> What about the things that come once a year? [They always catch me out.|Each time I act surprised,
  as if winter were new.] {aside?}
< [Add them up, divide by twelve, and treat that as a bill of its own.|Make a calendar of them, it's
  shorter than you think.] [Put them in a separate pot you don't look at.|After one year the
  surprises stop.] {tail?}

> {aside?} Do you think {wish} is realistic? [It seems a long way off.|My friends say I should just
  borrow for it.] [I'd like to know before I get my hopes up.|]
< [I think so, with a date that isn't too close.|If it's what you want most, yes.] [Give it a pot of
  its own, since you don't steal from a thing with a name.|Borrow for what lasts, save for what
  doesn't.] {tail?}
""",
    told="""
> One month of writing things down is over. [It was {leak}, of course.|Surprise: it isn't {leak} at
  all, it's the little repairs.] {aside?} [I feel lighter, oddly.|And I spent less, just because I
  was watching.]
< {nice!} [Watching is half the trick.|Now you have something to go by.] [Change one thing next
  month, only one.|Which part did you find hardest to look at?] {tail?}

> We set up {method} {recent}. [It took ten minutes.|The children painted labels for it.] [So far
  everybody keeps to it.|I'm not allowed to touch the middle one.]
< {nice!} [The first weeks are easy, so don't loosen it too soon.|Leave it as it is for a while,
  even where it pinches.] [How does it feel when something runs out?|Agree on what happens when one
  is empty.] {tail?}

> The month was a [disaster|mess]. [The washing machine died, and there was a birthday on top.|I was
  tired and stopped caring around the middle.] [So much for the plan.|Back to square one?] {aside?}
< {pity!} [Not square one, only a month with weather.|That is what the cushion is for, even a thin
  one.] [Note what happened and start again on the first.|Take out what was a one-off, and look at
  the rest.] {tail?}

> I [cancelled two subscriptions|called the insurance] {recent}, and [it was easier than I
  feared|they offered me a discount on the spot]. [Why did I put that off for so long?|One of them I
  had forgotten completely.]
< {nice!} [It's dull and nobody thanks you, so one waits.|Everybody has one of those.] [Put what you
  save straight into {wish}.|While you're in the mood, do the next.] {tail?}

> {hm!} I [spent too much {recent}|gave in {recent}], on {leak}, [naturally|of all things]. [I knew
  while I was doing it.|I had a bad day.] [How do I avoid that without becoming a monk?|]
< {pity!} [Once is nothing.|Monks have it easier, they have no shops.] [Leave the card at home on
  such days.|Plan a treat, so it needn't ambush you.] {tail?}

> We're [getting closer to {wish}|nearly there with {wish}]! {aside?} [It's strange to see it
  grow.|I look at it too often.] [Should we go on like that, or ease off a bit?|What comes after
  that?]
< {nice!} [Go on until it's done, and then take a month off.|Ease off a little if it has become
  grim.] [Afterwards, keep the habit and choose the next pot.|You know how it works now, that's
  worth more than the pot.] {tail?}
""",
)
