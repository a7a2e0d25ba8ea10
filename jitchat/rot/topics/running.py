"""Talk about running."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

RUNNING = Topic(
    name="running",
    cases="""
it: first five-kilometre run
aim: run without stopping | get to the bridge and back
niggle: a stitch in the side | heavy calves
easy: running so slowly that it feels silly
hard: short, brisk stretches with long walks between

it: ten kilometre run
aim: finish with a smile | keep an even pace
niggle: tight hips | a tender shin
easy: a gentle half hour after work
hard: a few minutes at the pace of the race

it: half marathon
aim: get round in one piece | not walk the last part
niggle: a grumpy knee | sore soles
easy: long and slow, with somebody to talk to
hard: hills, at an effort I can hold

it: park run
aim: beat my brother | feel good afterwards
niggle: burning lungs | stiff ankles
easy: two laps of chatting
hard: the last lap a bit faster than the rest

it: trail race
aim: stay upright | enjoy the downhills
niggle: a twisted ankle that never quite healed | tired thighs
easy: walking the climbs and jogging the rest
hard: uphill repeats on soft ground

it: charity run
aim: keep up with my colleagues | not be the last one home
niggle: a pulled muscle | a tendon that talks to me in the morning
easy: walking with a minute of running thrown in
hard: a few strides at the end of an easy run
""",
    words="""
tip: run slower than you think you should. | leave at least a day between two hard ones. | eat
  something small well before, not just before. | change your shoes when they feel dead, not when
  they look it. | warm up by walking briskly. | count your breaths instead of looking at the watch.
  | finish each run wanting a little more. | keep your shoulders low and your hands loose. | write
  down how it felt rather than how fast it was. | lace the shoes looser over the instep. | sleep
  more in the weeks when you run more. | turn round at half the time, not half the way. | do a
  little for strength, twice a week. | rest when it is sharp, run when it is only stiff.
lore: The heart adapts in weeks, tendons take months. | Most people train too hard on easy days and
  too gently on hard ones. | The first ten minutes lie to everybody. | A bad run says more about
  your night than about your form. | Heat costs far more pace than hills do. | Two short runs beat
  one heroic one. | Stretching feels good, and that is reason enough. | Fitness comes during the
  rest, not during the run.
note: I'm not built for it, I should add. | I used to run at school, under protest. | I can go out
  early, before everyone is up. | I sit all day, so my hips are like rust. | I don't care about
  times, or so I say. | The dog sets the pace. | I've tried three different apps. | It rains
  sideways here from October on. | I breathe like a steam engine.
week: one easy run | one day of nothing at all | a longer one at the weekend, slowly | a short one
  with a few quick steps at the end | some squats and calf raises while the kettle boils | a walk
  instead of a run when you're tired
""",
    openings="""
> {aside?} I [signed up for|have set my heart on|was talked into] {a it}, and [now I need some sort
  of plan|I have no idea how to train for it]. [All I want is to {aim}.|My goal is modest: I want to
  {aim}.] [Where do I begin?|How would you go about it?]
< [A sensible goal, and that's half of it.|With a few months of patience, that's well within reach.]
  Most of what you do should be {easy}, [and only now and then {hard}|with perhaps one day a week of
  {hard}]. {tail?} [How often do you get out at the moment?|What do your shoes look like?]

> Can you sketch me a week of training for {a it}? {aside?} [I can run three times, four if I have
  to.|Nothing fancy, I have a job and a family.|I get bored by anything complicated.]
< {Sure!} [Something like this, in any order that suits you:|Keep it loose:] {list week} [If a day
  falls out, let it go and don't make up for it.|After three such weeks, do one with half of it.]
  {tail?}

> {Recent} I [went for a run|was out running] for the first time in [ages|months], and now I have
  {niggle}. {aside?} [I'd like to do {a it}, but at this rate I won't get there.|My dream of {a it}
  is fading.] [Too much, too soon?|Am I doing it wrong?]
< [Probably just too much of a good thing.|That's your body asking what this is all about.] [Wait
  until it feels normal when you walk downstairs, then start with half.|Two easy days, and then
  {easy}.] {tail?}
""",
    asked="""
> {aside?} How slow is slow? [When I run any slower, I'm walking.|Old ladies with sticks overtake
  me.]
< [You should be able to tell somebody about your day in whole sentences.|Slow enough to be a bit
  embarrassed.] [If that means walking the hills, walk the hills.|Walking in between isn't cheating,
  it is training.] {tail?}

> What do I eat before? [If I eat, I get a stitch, and if I don't, I get dizzy.|A colleague has gels
  for everything.] {aside?}
< [For anything under an hour, hardly anything.|A piece of toast an hour or two ahead is plenty.]
  [Try it out in training and never change it on the day.|Drink during the day rather than right
  before you leave.] {tail?}

> {aside?} Which shoes? [The man in the shop filmed my feet and looked worried.|There's a wall of
  them and they're all neon.] I just want to {aim}.
< [The ones you forget about while you run.|Comfort in the first minute is the best guide there is.]
  [A thumb's width in front of the toes, and no pinching at the heel.|Ignore the colours and the
  promises.] {tail?}

> I have {niggle}, [mostly on the way home|mainly in the morning]. [Is that something to worry
  about?|Do I run through it or rest?] {aside?}
< [If it goes away as you warm up, go gently; if it gets worse, stop.|Dull and on both sides is
  usually harmless, sharp and on one side isn't.] [Do less for a week instead of nothing for
  three.|Swap a run or two for the bike.] [If it's still there after a fortnight, have somebody look
  at it.|] {tail?}

> How do I [stay motivated|get out of the door] when it's [dark and wet|cold outside and warm on the
  sofa]? {aside?}
< [Put on the shoes and promise yourself ten minutes.|Lay everything out the evening before, so
  there's nothing to think about.] [You may turn back after that; you seldom will.|Arrange it with
  somebody you'd be embarrassed to let down.] {tail?}

> Is {hard} [really necessary|worth it at my level]? [It sounds like suffering.|I'd much rather just
  trot along.] {aside?}
< [Necessary, no. It makes the easy part feel easier, that's all.|Not for a while.] [When you can
  run half an hour in comfort, try a little of it.|If it spoils the fun, leave it out and run a bit
  longer instead.] {tail?}
""",
    told="""
> [Done!|I did it!] {Easy}, [just as you said|as prescribed], and [I could have gone on|it was
  almost pleasant]. {aside?}
< {nice!} [Remember that feeling, it's the right effort.|Stop there, even so, and take it into the
  next one.] [How did your legs feel the day after?|Did you notice the point where it got easier?]
  {tail?}

> I [overdid it {recent}|got carried away {recent}]. [There was somebody in front of me and I
  couldn't help it.|The sun was out.] Now I've got {niggle}. [How long do I pause?|Serves me right.]
< {pity!} [As long as stairs hurt, no running.|Two or three days will probably do.] [Walk, swim, do
  whatever doesn't hurt.|Then start again with half of what you did, not with where you stopped.]
  {tail?}

> Three weeks in, and [I'm not getting faster|nothing has changed]. [If anything, I'm slower.|The
  watch says I'm "unproductive", thank you very much.] {aside?} [Should I train harder?|Am I missing
  something?]
< [Three weeks is about when it feels worst.|Leave the watch at home for a bit.] [You're fitter than
  you were, only tired on top of it; take an easy week.|Compare how you breathe on the same hill
  instead.] {tail?}
> [You were right, I took it easy|I left the watch in the drawer], and [the hill was suddenly
  shorter|it's fun again]. [Strange how that works.|]
< {nice!} [Not so strange, that's when the body catches up.|Make that a habit, every fourth week or
  so.] {tail?}

> The {it} [was this weekend|is behind me]! [I was nervous like a child|It rained the whole time],
  but I managed to {aim}. [My mother cried at the finish.|I'm walking down the stairs backwards.]
  {aside?}
< {nice!} [Enjoy the stiff legs, they're well earned.|What a thing to have done.] [A week of only
  walking now, even if you feel like more.|What was going through your head near the end?] {tail?}

> I've been running with [a group|a neighbour] {recent}, and [they're all so fast|they never stop
  talking]. [I was dead last.|I ran further than ever without noticing.] {aside?} [Do I go again?|Is
  that good for me?]
< [Once a week, why not.|As long as you're not racing to keep up.] [The talking is a feature:
  whoever talks isn't running too fast.|Somebody has to be last, and they remember being that
  person.] {tail?}

> I'm [thinking of skipping|going to skip] the {it}. [My head isn't in it.|Work ate all my time.] [I
  only wanted to {aim}, after all.|I can run without a number on my chest.] {aside?}
< [That's allowed.|Then skip it, you don't owe it to anybody.] [Run the distance by yourself some
  quiet morning, if you feel like it.|There's always another one.] {tail?}
""",
)
