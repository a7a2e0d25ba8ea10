"""Talk about repairs in the house."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

REPAIR = Topic(
    name="repair",
    cases="""
it: bathroom tap
fault: it drips all night | it needs two hands to turn off
cause: a worn washer | limescale in the cartridge
part: a new washer | a matching cartridge
tool: an adjustable spanner | a bowl of vinegar
safe: turn off the water under the basin

it: bedroom door
fault: it scrapes along the floor | it swings open by itself
cause: a loose hinge | swollen wood
part: longer screws for the hinge | a thin piece of cardboard behind the hinge
tool: a plane | a candle, for waxing the edge
safe: wedge it before you loosen anything

it: sash window
fault: it rattles in the slightest breeze | it won't stay up
cause: shrunken putty | a broken cord
part: a strip of felt | a new cord
tool: a sharp scraper | a small hammer
safe: tape the glass crosswise first

it: kitchen drain
fault: it gurgles and empties far too slowly | it smells of old soup
cause: grease in the bend | a trap that was never cleaned
part: a new rubber seal | a little sieve for the plughole
tool: a plunger | a bucket and a bottle brush
safe: put a bucket underneath

it: hallway floorboard
fault: it creaks whenever somebody comes home late | it moves when you step on it
cause: a nail that has worked loose | two boards rubbing together
part: a couple of countersunk screws | talcum powder, rubbed into the gap
tool: a cordless screwdriver | a knife to clean the gap
safe: find out what runs underneath

it: cupboard shelf
fault: it sags in the middle | it leans forward a little more each week
cause: too much weight for thin board | a wall plug that never gripped
part: a batten along the back | proper plugs for that kind of wall
tool: a spirit level | a drill and a pencil
safe: tap the wall and check for cables
""",
    words="""
tip: take a picture before you take anything apart. | lay the screws out in the order they came out.
  | measure twice, then measure once more. | take the old part along to the shop. | stop as soon as
  you need real force. | clean everything before you put it together again. | begin in the morning,
  while the shops are open. | wear glasses, even for the small jobs. | try the cheapest explanation
  first. | put a cloth in the plughole, so nothing disappears. | tighten by hand, and then only a
  touch more. | ask somebody to hold the other end. | practise on the side that nobody sees.
lore: Most things in a house fail at the joints. | Old houses are never square, so trust the level
  and not the wall. | A dull blade does more damage than a sharp one. | Paint hides a lot, for about
  a winter. | Water always finds a way, usually sideways. | Silicone sticks to anything but old
  silicone. | Nine noises out of ten come from something loose. | A repair that can be undone is
  worth two that can't. | Whoever did it before you was in a hurry, too.
note: I rent, so it has to be reversible. | My father could do these things in his sleep, and I
  can't. | I own a hammer, two screwdrivers and good intentions. | The landlord says it's on his
  list. | The house is old and full of surprises. | I'd rather not call anybody for such a small
  thing. | It has been like that since we moved in. | We've got used to it, but guests always
  notice. | I'm careful, but not gifted.
kit: {tool} | {part} | a torch | an old towel | a soft pencil | a box for the small parts | gloves
  that fit | some masking tape
""",
    openings="""
> {aside?} There's something wrong with the {it}: {fault}. [I've been ignoring it for weeks|It
  drives me up the wall|I finally have an afternoon for it], and [I'd like to try it myself|I wonder
  whether I can fix it without making it worse]. [Where would you start?|What do I look at first?]
< [That sounds very fixable.|It's a good one to learn on.] [In most cases it comes down to {cause},
  and you can see that with the naked eye|I'd expect {cause}, but look before you believe me].
  [Before anything else, {safe}.|First, {safe}, so that nothing can go wrong.] {tail?}

> How hard is it [really|for a beginner] to repair {a it}? {aside?} The thing is that {fault}, and
  the [man on the phone wanted to come and look in three weeks|only person I could ask is on
  holiday|videos I found all show a different model].
< [An hour of work and a trip to the shop, I'd say.|Easier than the videos make it look.] [It will
  probably be {cause}.|My money is on {cause}.] You would need: {list kit} [Then it's a matter of
  patience more than strength.|If something in there looks odd, stop and describe it to me.]

> {Recent} I [took a closer look at|had to do something about] the {it}, because {fault}. {aside?}
  [I don't want to start something I can't finish.|Now it lies in front of me and I'm having second
  thoughts.] [Is it worth a try?|Would you go on?]
< [Yes, as long as you can put everything back the way it was.|By all means, one step at a time.]
  Just {safe} [before you go on|and leave yourself enough light]. [If it turns out to be {cause},
  you've won already.|The likely culprit is {cause}.] {tail?}
""",
    asked="""
> {aside?} How do I find out whether it's {cause} or something worse? [I don't want to buy parts on
  a guess.|It looks fine from the outside, at least to me.]
< [Take it step by step, from the outside in.|Rule things out, beginning with whatever is free.]
  [Move it slowly and listen, then do the same with a hand on it.|Compare it with another one in the
  house that works.] If nothing strikes you, [it's likely {cause} after all|open it and look for
  dirt and wear]. {tail?}

> Do I need {part}, or [will something from the drawer do|can I improvise]? {aside?} [The shops are
  closed until after the holiday.|I have a whole jar of bits that might fit.]
< [For a day or two you can improvise.|I wouldn't, in this place.] {Part} [costs next to nothing and
  lasts for years|is a standard thing, they'll know it by sight]. [Take the old one along and
  compare them side by side.|Note down the measure, or draw around it on a scrap of paper.] {tail?}

> Would {tool} do for that? [I don't own much else.|I could borrow something better, but I'd have to
  ask.] {aside?} I [don't want to ruin the surface|once broke something just like it].
< [It will do nicely.|Yes, if you go gently.] [Put a bit of tape or cloth between the metal and
  whatever you want to keep pretty.|The trick is to hold it straight and to let it do the work.]
  {tail?}

> What can go wrong, in the worst case? [I like to know before I begin.|My flatmate asked, and I had
  no answer.]
< [You make a mess and have to wipe it up.|Honestly, not a lot.] Just {safe}, [and the worst is off
  the table|and everything else can be put right]. [If a screw won't move, give it some oil and a
  night's rest instead of more force.|The usual mistake is to tighten things too much.] {tail?}
> [And when do I give up and call somebody?|At which point should I leave it to a professional?]
  {aside?}
< [When you see water where there shouldn't be any, or a wire you don't understand.|As soon as you'd
  have to cut into something that you can't replace.] [Up to that point it's only curiosity.|There's
  no shame in it, you'll at least know what to tell them.] {tail?}

> [Should I fix only the one thing, or do the rest while I'm there?|The other one makes the same
  noise, by the way.] {aside?} I [tend to turn small jobs into big ones|have learnt not to touch
  what works].
< [Only the one thing, and enjoy that it works.|Do one, live with it for a week, and then the
  other.] [If it needs {part} anyway, buy two and put one aside.|By then you'll know what you would
  do differently.] {tail?}
""",
    told="""
> So, I opened it. [It was {cause}, just as you said.|You were right, it's {cause}.] {aside?}
  [Everything is in pieces on the kitchen table.|I can see the bottom of it now.] What next?
< {nice!} [Clean what's there, thoroughly, since half of all repairs end at that point.|Look at the
  neighbouring parts while you can see them.] Then [fit {part}|put in {part}] and [put it all back
  in reverse order|try it before you close everything up]. {tail?}

> It's fixed! [I keep going back to try it.|The silence is strange.|Nobody in this house seems to
  appreciate what I've done.] {aside?}
< {nice!} [Look at it again in a few days, things settle.|Keep the old part in a bag with a note,
  for the next time.] [What's next on the list?|You've just saved yourself three weeks of waiting.]
  {tail?}

> [One screw is left over.|There's a small ring left that I can't place.] [It works, as far as I can
  tell.|Everything seems to sit tight.] Do I [have to take it all apart again|worry about that]?
< [Probably, sorry.|Have a look at the picture you took first.] [If it came from a place that holds
  something up, yes.|A ring like that often sits between two parts and stops them wearing.] [It goes
  faster the second time.|You know the way by now.] {tail?}

> {hm!} I did all that, and it's [exactly as before|better, but not gone|worse, if anything].
  {Fault}, still. [I'm close to giving up.|What did I miss?]
< {pity!} [Then it wasn't {cause}, and we can cross that off.|That tells us something, at least.]
  [Do it once more, slowly, and watch which part moves that shouldn't.|Ask somebody to work it while
  you look from the side.] {tail?}
> [There's a tiny bit of play on the left.|I think something is bent.] [I only saw it with the
  torch.|My neighbour spotted it at once, of course.] [Could that be it?|Is that normal?]
< [That could well be it.|That may be the answer.] [Try packing it out with a sliver of something
  before you replace anything.|Straighten it gently, or use {part}.] [If that holds until the
  weekend, make it permanent.|Then see whether it stays that way.] {tail?}

> The shop [had three kinds|didn't have the right one], so I [took the middle one|came home with
  something similar]. [It sort of fits.|It needs a bit of persuasion.] {aside?} [Will it hold?|Is
  "sort of" good enough?]
< ["Sort of" is fine for a shelf and not for water.|If it sits without strain, yes.] [Persuasion
  usually comes back as a crack.|Check it by eye every few days for a while.] {tail?}

> Can I [paint over it|cover up the traces] now? [There's a mark where I slipped.|One can see that
  somebody has been at it.] I'd like it to [look as if nothing had happened|be presentable].
< [Give it a day to prove itself first.|Yes, once it's dry and clean.] [Fill, wait, sand, wipe, and
  only then paint.|A thin coat twice looks better than a thick one once.] {tail?}
""",
)
