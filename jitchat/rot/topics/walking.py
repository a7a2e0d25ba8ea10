"""Talk about long walks."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

WALKING = Topic(
    name="walking",
    cases="""
it: coast path
ground: loose shingle | steep steps
view: the cliffs | the seabirds
worry: the wind | the tide
bring: a windproof layer | binoculars

it: forest loop
ground: roots and mud | soft needles
view: the old beeches | the deer at dusk
worry: losing the way | ticks
bring: long trousers | a printed map

it: ridge walk
ground: scree | bare rock
view: three valleys at once | the last snow
worry: a thunderstorm | the exposed bit
bring: warm gloves | a pair of poles

it: river trail
ground: flat gravel | wet meadow
view: herons | the old mill
worry: flooding after the rain | the midges
bring: a towel | a spare pair of socks

it: moorland round
ground: peat and tussocks | a sandy track
view: nothing but sky | curlews
worry: fog | the bogs
bring: gaiters | a compass
""",
    words="""
tip: start earlier than you think you need to. | wear the shoes in before you trust them. | tell
  somebody where you're going. | turn back while it is still a choice. | eat a little before you are
  hungry. | take one warm layer more than the forecast suggests. | tape the sore spot before it
  becomes a blister. | look behind you now and then, so you know the way home. | plan the second
  half shorter than the first. | carry less; nobody misses the third jumper. | check when it gets
  dark. | go slowly uphill, so slowly that you can talk. | drink at every stop, even when it's cold.
  | keep a dry pair of socks for the end.
lore: Most people overpack the first time and underpack the second. | Downhill is what makes the
  legs sore the next day. | Weather in the hills changes faster than any forecast does. | A
  kilometre on rough ground is worth two on a road. | Cotton stays wet, while wool stays warm even
  then. | The best light is in the first hour and the last. | Birds are easiest to find with your
  ears. | Blisters come from damp and rubbing rather than from distance.
note: I'm reasonably fit, but slow. | My knees complain on the way down. | I'd be walking alone,
  most likely. | My sister wants to come along, and she talks all the way up. | I'm more of a
  flat-ground person by nature. | I've only got one free day. | We had planned it twice and it
  rained twice. | I'd like to see some birds, too. | The dog comes with me, of course.
pack: a full water bottle | something salty to eat | a rain jacket that really keeps the rain out |
  plasters and a bit of tape | a hat | a whistle | {bring} | a sandwich you look forward to
""",
    openings="""
> I [want|hope|would love] to do {a it} [on my next free day|with two friends|before autumn].
  {aside?} [It isn't far, but|On paper it's easy, only] I [worry a bit about {worry}|have never been
  on {ground} before]. [Is that something a beginner can do?|What should I think of?]
< [With a bit of preparation, yes.|I'd say so, provided you take your time.] {Worry} [deserves
  respect, so look at the forecast the evening before and once more at breakfast|is the thing to
  plan for; the rest is only distance]. {tail?} [How long are you usually on your feet?|Have you
  walked with a rucksack before?]

> [What do I pack for {a it}?|Could you help me pack for {a it}?] {aside?} [Last time I carried half
  the house around and used none of it.|I don't want to buy a lot of gear.]
< [Less than last time, then.|You own most of it already, I'm sure.] For a day out I'd take: {list
  pack} [Everything else stays at home.|If the bag feels heavy in the hallway, take something out.]

> {Recent} we [did {a it}|were out on {a it}], and I have [never been so tired and so happy|seldom
  seen anything like {view}]. [I want more of that.|Now I'm hooked.] {aside?} How do I [build up to
  longer ones|get fit for a whole weekend of it]?
< {nice!} [Add a little at a time: an hour more, or a hill more, but not both.|The legs learn fast,
  the feet slowly, so increase by feel.] {tail?} [What was the part you found hardest?|Were your
  feet all right?]
""",
    asked="""
> {aside?} What kind of shoes do I need for {ground}? [The shop wanted to sell me boots fit for an
  expedition.|I've got trainers, and a pair of boots from long ago.]
< [Boots help on rough ground, but a good sole matters more than a high shaft.|For a dry day,
  trainers with some grip will do.] [If the old ones have been lying about for years, bend the sole
  and see whether it cracks.|Try them on in the afternoon, when feet are larger, with the socks
  you'll wear.] {tail?}

> How do I keep from [getting lost|taking the wrong turn]? My [sense of direction is a family
  joke|battery always dies at the wrong moment]. {aside?}
< [Look at the map the evening before and learn three landmarks by heart.|Load the map on the phone,
  and carry a paper one folded to the right page.] [When the ground stops matching, stop as well,
  and go back to where you last were certain.|At every fork, turn around once and look at where you
  came from.] {tail?}

> What if [it rains|the weather turns]? [The forecast says "changeable", which could mean
  anything.|I'm prepared to get wet, but not to be miserable.]
< [Rain alone is no reason to stay at home.|Then it's a different walk, and sometimes the better
  one.] {Worry} [would worry me more|is what I'd keep an eye on]. [Agree beforehand on a point where
  you turn round.|Have a shorter version in your pocket.] {tail?}

> Would [a child of seven|my mother, who is no longer young,|somebody who hates hills] manage it?
  [It's either all of us or none.|I promised not to overdo it.] {aside?}
< [Probably, with twice the breaks and a goal along the way.|If there's cake at the end, very
  likely.] [Let the slowest one walk in front.|Half the distance is still a whole day out.] [{View}
  on the way would be a good place to rest.|] {tail?}

> [How do I find birds|Any chance of seeing {view}] [without special equipment|if I only have an
  hour or so]? I [always hear them and never see them|go about like an elephant].
< [Stand still for ten minutes, that's the whole trick.|Sit down with your back against something
  and wait.] [After a while everything you frightened off comes back.|Look for movement rather than
  for shapes.] {tail?}

> Is it all right to go [alone|with a dog|off the path]? [People have strong opinions about
  that.|Somebody told me off for it once.] {aside?}
< [Alone is fine if somebody knows your route.|With a lead in spring, when things are nesting,
  yes.|I'd stay on the path, mostly for the sake of what grows beside it.] [Common sense goes a long
  way.|Most people only mind being surprised.] {tail?}
""",
    told="""
> We did it! {aside?} [It took us far longer than the sign said|We were out for the whole day], but
  {view} [made up for everything|alone was worth it]. My legs [are jelly|refuse to use the stairs].
< {nice!} [The signs are written by people who don't stop to look.|Then you stopped in the right
  places.] [Walk a little tomorrow, flat and slowly, that helps more than the sofa.|Put your feet up
  against a wall for a while.] {tail?}

> We [turned round halfway|didn't get to the top], because of {worry}. [I was disappointed, I
  admit.|My friend thinks we gave up too early.] [Was that overcautious?|Would you have gone on?]
< [No. It will still be there next time.|From what you say, I'd have turned as well.] [People seldom
  regret going home dry.|You were the ones who were there, so you know best.] {tail?}

> I [have a blister the size of a coin|got the most awful blister]. [Do I open it or leave it?|How
  do I walk on with that?]
< [Leave it closed if you can, and cover it with something padded.|If it's tight and you have to
  walk, pierce the edge with a clean needle and leave the skin on.] [Damp socks were probably the
  reason.|Then find the seam that did it.] {tail?}

> {Bring!} [was the best thing I took along|saved the day], [I'd never have thought of it|to be
  fair]. The rest of the gear [I never touched|was dead weight].
< {nice!} [Make a note of what you didn't use, that's how the bag gets lighter.|Most of what we
  carry is worry in another form.] {tail?}

> The {ground} was [harder than expected|not for me]. [I looked at my feet all day long.|I was tense
  all the way.] {aside?} Can one learn to walk on that?
< [Yes, and quickly.|It's a skill like any other.] [Small steps, weight over the front foot, hands
  free.|Look two or three steps ahead rather than at your toes.] [Poles help going down, if your
  knees agree.|After a few hours the feet do it by themselves.] {tail?}

> Which one would you do next? [Something with {view} again.|A bit longer, but no harder.|Somewhere
  with fewer people.] {aside?}
< [I'd repeat the same one in another season first.|Look at the same map, just over the next hill.]
  [You'd know the way and could look around more.|The quiet routes are mostly those without a car
  park at the start.] {tail?}

> I [bought|borrowed] binoculars, and [everything wobbles|I can't find anything with them]. [I point
  them at the sound and see leaves.|By the time I've focused, it's gone.] Is there a knack?
< [Keep your eyes on the bird and bring the glass up to your eyes.|Don't search through them; look
  first, then lift.] [Practise on a chimney, which has the decency to stay.|Lean on a gate or a tree
  to steady your arms.] {tail?}
""",
)
