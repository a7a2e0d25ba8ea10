"""Talk about bicycles."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

BIKE = Topic(
    name="bike",
    cases="""
it: commuter bike
noise: the brakes squeal | something clicks at every turn of the pedals
cause: dirt on the rims | a dry chain
fix: wiping the rims with spirit | a drop of oil on each link
ride: the ride to work
gear: mudguards | a proper rack

it: old racing bike
noise: the gears jump under load | the wheel rubs on one side
cause: a stretched chain | a spoke that has come loose
fix: a new chain | half a turn on the right spoke
ride: the loop around the lake
gear: wider tyres | softer bar tape

it: cargo bike
noise: the front end wobbles when it is loaded | the kickstand rattles
cause: a bearing with too much play | a bolt that nobody ever tightens
fix: adjusting the bearing | thread lock and a spanner
ride: the nursery run
gear: a rain cover | a second brake check

it: mountain bike
noise: the fork feels like a pogo stick | the back brake pulls all the way to the bar
cause: the wrong pressure | air in the line
fix: a shock pump | bleeding the brake
ride: the trail in the woods
gear: knee pads | tyres with more bite

it: folding bike
noise: the hinge creaks | the saddle sinks while I ride
cause: a clamp that isn't tight | grease where there should be none
fix: a turn on the clamp | cleaning the post with a rag
ride: the way from the station
gear: a carry bag | better lights

it: touring bike
noise: I hear a rubbing sound uphill | the steering feels vague with luggage on
cause: a bent mudguard stay | too much weight at the back
fix: bending it back | moving some of it to the front
ride: the long way along the canal
gear: a third bottle cage | a comfortable saddle
""",
    words="""
tip: check the tyres before you check anything else. | wipe the chain before you oil it, not after.
  | learn to mend a puncture at home, in the warm. | mark the saddle height with a bit of tape. |
  turn one screw at a time and count the turns. | shift down before the hill, not on it. | listen
  with the bike upside down and the wheel spinning. | keep a spare tube under the saddle. | lock the
  frame, not only the wheel. | wash it with a sponge and never with a jet. | ride in the dry for the
  first test. | carry a pair of thin gloves for the dirty work. | look at the brake pads whenever
  the wheels are off.
lore: Most noises on a bike come from somewhere else than you think. | A chain lasts longer the less
  oil is on its outside. | Soft tyres are more comfortable, and slower mostly in the mind. | Saddles
  take a few weeks to become friends. | A wheel is never quite true, only true enough. | Bolts don't
  loosen by themselves; somebody forgot them. | Headwinds are always stronger on the way home. | The
  cheapest upgrade is a clean chain.
note: I ride in any weather, more or less. | I got it second-hand from a colleague. | It stands
  outside all year round. | I only own the little tool that came with it. | The nearest workshop is
  always booked out. | I'm not after speed, I just want it to be quiet. | The hills here are short
  and nasty. | I haven't looked after it as I should. | A child seat goes on it now and then.
check: spin both wheels and look for a wobble | squeeze the brakes and rock the bike to and fro |
  run a finger along the tyres | look at the chain from the side | try each gear once | pull at the
  cranks | check that nothing is loose on the rack
""",
    openings="""
> {aside?} My {it} [has started to complain|has developed a quirk]: {noise}. [It began {recent}|It
  comes and goes|It's worse in the wet], and [people turn round when I pass|it takes the fun out of
  {ride}]. [Is that something I can sort out myself?|Where do I start looking?]
< [Very likely, and without special tools.|I think so, it's one of the classics.] [I'd look for
  {cause} first.|More often than not it's {cause}.] [Try to make it happen on purpose: sitting,
  standing, not pedalling at all.|Find out whether it follows the pedals or the wheel, which halves
  the search.] {tail?}

> I'd like to [use my {it} more|do {ride} every day|get fit for {ride}]. {aside?} [What should I
  check before I trust it?|It has been standing in the cellar since last autumn.|It hasn't been
  looked at for ages.]
< [A quarter of an hour is enough to know where you stand.|Good plan, and easily done.] Go round it
  once: {list check} [Anything that surprises you there, tell me.|If all of that is fine, pump it up
  and ride.]

> [Would it make sense|Is it worth it] to put {gear} on my {it}? {aside?} [I look at the catalogue
  every evening.|A friend says it changed everything for her.] [I mostly use it for {ride}.|It's
  only for {ride}, after all.]
< [For that I would, yes.|It depends on what annoys you now.] {Gear} [makes every single trip a
  little nicer, which adds up|won't make you faster, but you'll be glad of it in November]. {tail?}
  [What bothers you most at the moment?|How far is it, roughly?]
""",
    asked="""
> How do I tell whether it's {cause}? {aside?} [To me it all looks like a bike.|I can't see anything
  unusual, even with a lamp.]
< [Touch is better than sight for that.|Take hold of the part and try to move it in the way it
  shouldn't move.] [A little play you can feel is too much.|If it's {cause}, the noise changes as
  soon as you hold it.] [Otherwise go on to the next part.|Do it with the radio off.] {tail?}

> {aside?} Is {fix} something I can do [in a courtyard|on the balcony|without a stand]? I have [two
  left hands|an hour before it gets dark].
< [Yes, turn it upside down on an old towel.|People do it by the roadside.] [Take your time over the
  first one, the second is quick.|Lay the parts out in a row as they come off.] {tail?}

> How often does one [oil the chain|pump up the tyres], [realistically|honestly now]? [I do it when
  I remember, so never.|I've seen people do it weekly, which seems a lot.]
< [The chain after every proper rain, the tyres every other week.|More often than you do, less often
  than they say.] [A few drops on the inside, let it turn, then wipe off what you can see.|If your
  thumb can press the tyre in, it wants air.] {tail?}

> Which {it} would you get if mine [gave up for good|were stolen]? {aside?} [I'm only dreaming.|I
  look at them in every shop window.]
< [The one you like looking at, since you'll ride that one more.|Something plain with parts that
  every workshop has.] [Ride three before you think about colours.|Size matters more than anything
  on the label.] {tail?}

> Can I ride it as it is [until then|for the rest of the week]? [I'd hate to take the bus.|It's my
  only way of getting about.] {aside?}
< [If brakes and steering are sound, yes.|For short distances, with care.] [Stop at once when it
  gets louder.|Go easy uphill and don't load it.] {Noise}, [which is unpleasant rather than
  dangerous|but that alone won't throw you off]. {tail?}

> What about winter? [Salt, darkness, wet leaves, the lot.|I always give up in November.] I'd like
  to [keep going this year|be one of those people who just ride]. {aside?}
< [Lights, gloves, and low expectations.|It's mostly a question of clothes.] [Let a little air out
  on slippery days and brake early, with both hands.|Rinse the salt off with a bucket when you get
  home.] {Gear} [will help as well|would be my one purchase]. {tail?}
""",
    told="""
> I tried {fix} {recent}. [It took three attempts and some language.|My hands are black.] [And it's
  quiet!|It helped, I think.] {aside?}
< {nice!} [Ride it for a few days before you call it done.|The first silent ride is the best one.]
  [So it was {cause}, then.|What did it look like inside?] {tail?}

> No luck. {Noise}, as before, [only louder|and now on the other side too]. [I've turned every screw
  there is.|I'm running out of ideas.] [What else can it be?|Do I have to give it away?]
< {pity!} [Then let's leave the obvious behind.|Sounds travel through a frame, so think of places
  you'd never suspect.] [Saddle post, bottle cage, the lock on its bracket: take each one off and
  ride round the block.|Swap the pedals left and right, if you can, and see whether it moves with
  them.] {tail?}
> [You won't believe it: it was the bottle cage.|It was the saddle.] [One loose screw.|A dab of
  grease and it's gone.] I [feel a little stupid|took the whole bike apart for that].
< [It's nearly always something like that.|Don't. Mechanics laugh about it for years and then it
  happens to them.] [At least everything else is clean now.|You know every bolt by name now.]
  {tail?}

> I had a puncture on {ride} {recent}. [In the rain, naturally.|Far from anything.] I [pushed it all
  the way|managed to mend it, with cold fingers]. How do I [avoid that|get quicker at it]? {aside?}
< {pity!} [Look for whatever caused it before you put in a new tube, or you'll have the next one by
  tomorrow.|Run a cloth round the inside of the tyre; it catches on thorns and glass.] [With some
  practice it's ten minutes.|More pressure prevents half of them.] {tail?}

> {Ride} [is becoming a habit|went really well {recent}]. [I overtook somebody.|I arrived awake, for
  once.] [My legs are heavier than I'd like, though.|My backside disagrees.] {aside?}
< {nice!} [Give it a fortnight, that passes.|Raise the saddle by a finger's width and see.] [Ride
  slower than you could on the way there, and as you like on the way back.|A lighter gear and
  quicker feet are kinder to the knees.] {tail?}

> I [finally got {gear}|treated myself to {gear}], and [it's a different bike|I wonder why I waited
  so long]. [Fitting it was fiddly, though.|I lost only one bolt.]
< {nice!} [Check the bolts again after a week, new things settle.|That's the sort of thing one
  notices every day.] {tail?}

> The workshop says [it isn't worth repairing|the whole drivetrain has to go]. {aside?} [I'm
  attached to it, though.|It has been with me for so long.] [Do they just want to sell me
  something?|What would you do?]
< [They may be right about the hours and wrong about the bike.|Ask which part exactly, and have them
  show you.] [A frame that's straight is always worth something.|Get a second opinion from somebody
  who doesn't sell new ones.] {tail?}
""",
)
