"""Talk about knitting."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

KNITTING = Topic(
    name="knitting",
    cases="""
it: first scarf
stuff: thick wool | soft cotton
slip: it gets wider and wider | there are holes I didn't plan
part: the edges | casting off
person: my niece | myself

it: jumper
stuff: grey tweed yarn | wool that smells of sheep
slip: one sleeve is longer than the other | the neck won't stretch over anybody's head
part: the shoulders | picking up stitches
person: my father | a friend who is always cold

it: pair of socks
stuff: striped sock yarn | leftovers in every colour
slip: there's a ladder at the gusset | the second one came out smaller
part: turning the heel | the five needles
person: my grandmother | everyone in the family, one by one

it: woolly hat
stuff: alpaca | chunky wool
slip: it would fit a melon | the crown has come out pointed
part: the decreases at the top | the ribbing
person: my brother-in-law | a colleague without much hair

it: shawl
stuff: fine mohair | silk yarn
slip: the triangle is lopsided | I keep losing a stitch on one side
part: the lace rows | the long border
person: my aunt | a friend who freezes in the cinema

it: baby blanket
stuff: merino | washable cotton
slip: I've lost count of the pattern | it's curling at the sides
part: the border | joining a new ball
person: my cousin's little one | the neighbours' twins
""",
    words="""
tip: make a small sample first, and wash it. | count at the end of every row. | buy one ball more
  than you need. | work in daylight when the yarn is dark. | mark the right side with a thread. |
  put in a lifeline before the difficult part. | block it before you sew it up. | cut the yarn later
  than you'd like to. | take it back two rows rather than hope. | relax the shoulders, the stitches
  relax with them. | change needles if your hands complain. | wind the yarn before you start. |
  write down what you really did, not what the pattern says. | leave the ends long.
lore: Most mistakes can't be seen from a galloping horse. | Tension changes with one's mood. |
  Everything grows a little when it's washed. | A pattern is only one person's measurements. |
  Cotton doesn't forgive, wool does. | Undoing is part of the craft. | The second one is always
  quicker, and rarely the same size. | Good tools save more nerves than good yarn.
note: I learnt it as a child and forgot it. | My hands get tired after an hour. | I do it in front
  of the television. | I have far too much material and no plan. | It's meant as a present. | I
  can't read patterns very well. | I like doing it on the train. | My aunt could do all that in the
  dark. | It needn't be perfect, just finished.
step: lay it out flat and look at it from afar | count the rows on both sides | measure against
  something that fits | find the last place where it was right, and mark it | take it back in peace,
  with tea
""",
    openings="""
> {aside?} I'm making {a it} for {person}, out of {stuff}, and {slip}. [What have I done?|Can that
  be saved?|I could cry.] [I don't see where it began.|I've already started over once.]
< [It can nearly always be saved.|That happens to everybody, and it looks worse than it is.] Before
  you undo anything: {list step} [Then you know how far back you have to go.|Often it's less than
  you think.] {tail?}

> I'd like to make {a it} [for {person}|as my next thing], [from {stuff}, if that works|and I
  thought of {stuff}]. {aside?} [Is that sensible for somebody at my level?|What should I know
  beforehand?]
< [Why not, if you don't mind undoing now and then.|It's a good project to grow with.] [With {stuff}
  you can see every stitch, which helps in learning.|The only tricky place is {part}, and you can
  practise that on a scrap.] {tail?} [By when does it have to be ready?|Have you got a pattern?]

> {Recent} I [finished|got as far as the last part of] my {it}! [For {person}, you may
  remember.|It's for {person}.] {aside?} [Only {part} looks a bit homemade.|I'm not happy with
  {part}.] [Do I leave it like that?|Is there a trick for that?]
< {nice!} [A little homemade is the whole point.|Steam helps with more than one would think.] [Damp
  it, pin it into shape, and leave it for a day before you judge it.|If it bothers you in a week,
  redo it then.] {tail?}
""",
    asked="""
> {aside?} Which [needles|size of needle] do I take for {stuff}? [The label says one thing, and my
  hands say another.|I've got a drawer full, all of them slightly wrong.]
< [The ones that give you a fabric you like.|Go by the sample, not by the label.] [If it's stiff as
  a board, go up a size.|If you can poke a finger through, go down one.] {tail?}

> I don't understand {part}. [I've watched three videos, and they all do it differently.|In the book
  it's a drawing with arrows.] {aside?}
< [Nobody understands it on paper.|They all lead to the same thing.] [Do it blindly, step for step,
  and you'll see what it does when it's done.|Try it with thick yarn and pale light.] {tail?}
> [I tried|Okay, I did it blindly], and [something like it came out|it looks right, I think]. [From
  behind it's less pretty.|Only it's a bit tight.]
< {nice!} [From behind nobody looks.|Tight is normal, that loosens with practice.] [Do it twice more
  while your hands remember.|Leave it a little slacker than feels safe.] {tail?}

> How do I know how much {stuff} I'll need? [I always end up one ball short.|The shop has only four
  left.] {aside?}
< [Weigh your sample and work it out from there.|Take one more than the pattern says, always.]
  [What's left becomes a hat.|If it doesn't suffice, do the edges in another colour, on purpose.]
  {tail?}

> {aside?} Is it worth [undoing it for that|starting again]? [One can only see it if one knows.|I
  see it every time I look.]
< [Put it at the other end of the room and look at it from there.|If you see it every time, then
  yes.] [{Person} would never notice, I think.|Sleep on it, at night everything looks wrong.]
  {tail?}

> Can one [wash|iron] {stuff}? [I'd like it to survive.|It's meant to be used and not looked at.]
  {aside?}
< [Wash the sample first and see.|Gently, lukewarm, and dried flat.] [Put a damp cloth in between
  and press, don't push.|Write it on a little card to go with it.] {tail?}

> What do you think of [mixing {stuff} with something else|another colour at the border]? [I'm tired
  of looking at only one thing.|I've some red left over.] {aside?}
< [I like it, as long as both are about as thick.|A dark border frames it nicely.] [Lay them next to
  each other by daylight and squint.|Try it on the sample before you commit.] {tail?}
""",
    told="""
> I took it back to where it was still right, [as you said|with gritted teeth], and [now it's fine|I
  can see what happened]. {aside?} [It took less time than all my moaning.|It was a single stitch,
  ages ago.]
< {nice!} [Undoing is faster than it feels.|A single one can do that.] [Put a thread through every
  now and then, so you have a safe place.|Onwards.] {tail?}

> {hm!} Now {slip}. [I can't explain it.|I was watching a film at the time.] {aside?} [Do I carry on
  and pretend?|Is that very bad?]
< {pity!} [Films with subtitles are dangerous.|Not very.] [Stop for today, that's the main
  thing.|See how it looks when it's pulled into shape.] {tail?}

> {Person} [tried it on|saw it] {recent}, [and it fits!|and wanted to keep it at once.] [Well,
  nearly.|A bit wide around the middle.] [I'm so relieved.|It isn't even finished.]
< {nice!} [Wide is better than narrow.|Then weave in the ends, quickly.] [A wash will bring it
  together.|Take a picture before it's worn.] {tail?}

> I've [run out of {stuff}|run out], [two rows before the end|with one sleeve to go]. [The shop
  hasn't got any more.|The new one is a slightly different shade.] {aside?} [What now?|]
< {pity!} [The classic.|It happens to the best.] [Alternate two rows of each, and nobody sees where
  it changes.|Make a virtue of it and use a contrast for the rest.] {tail?}

> I [joined|went to] a group {recent}, [in a café|at the library]. [Six women, one man, and a lot of
  cake.|Everyone had a half-finished thing in a bag.] [They showed me a much easier way for
  {part}.|I learnt more in an hour than from all the books.] {aside?}
< {nice!} [Hands learn from hands.|That's the best place for it.] [Take your tangled cases
  along.|You'll be showing others before long.] {tail?}

> [It's finished and wrapped.|All done!] [I'm a little sad.|I keep missing it.] {aside?} [What could
  be next?|Should it be something larger or something quick?]
< {nice!} [Something quick in between is good for the soul.|That's a nice sort of sadness.] [Use up
  what's left first.|Do one more of the same, while you know how.] {tail?}
""",
)
