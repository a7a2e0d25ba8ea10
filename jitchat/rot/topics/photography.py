"""Talk about photographs."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

PHOTOGRAPHY = Topic(
    name="photography",
    cases="""
it: portrait series
subject: people | faces
snag: everyone looks stiff | the eyes are never sharp
light: a north window | an overcast sky
setting: a wide aperture | burst mode

it: street project
subject: strangers | shop windows
snag: I'm too shy to raise the camera | the good moment is always over
light: low sun along the street | wet pavement at night
setting: a fast shutter | focus set in advance

it: landscape album
subject: hills | the sea
snag: they look so flat | the sky comes out white
light: the hour before sunset | a gap in the clouds
setting: a small aperture | exposure a notch down

it: bird album
subject: birds | garden visitors
snag: I only ever get tails | everything is a blur
light: early morning sun from behind | a bright, hazy day
setting: continuous focus | a very fast shutter

it: food album
subject: plates and bowls | cakes
snag: it all looks yellow | it's less appetising than in real life
light: daylight from the side | a white curtain
setting: the right white balance | a slow shutter and a tripod

it: family album
subject: children who won't hold still | three generations at a table
snag: somebody always blinks | the flash makes ghosts of us
light: shade next to a bright wall | a lamp bounced off the ceiling
setting: burst mode | a higher sensitivity
""",
    words="""
tip: get closer, and then a step closer still. | look at the edges of the frame before you press. |
  turn round once, because the better picture is often behind you. | clean the lens; half of all
  softness is fingerprints. | take the dull one first, and then play. | keep the horizon level, or
  tilt it on purpose. | wait for a gesture rather than for a smile. | delete at home, on a large
  screen, not on the spot. | shoot the same thing in three different lights. | kneel down. | leave
  some empty space on the side they look towards. | switch off the flash and open a curtain. | print
  a few of them, small, and look at them for a week. | choose one lens and leave the rest at home.
lore: Sharpness is overrated, and light is not. | A camera sees far less contrast than the eye does.
  | Most good pictures are the tenth of their kind. | Grain looks worse on the screen than on paper.
  | What you leave out matters as much as what you keep. | Backgrounds ruin more pictures than faces
  do. | Clouds are the largest softbox there is. | A tripod slows you down, which is half its use.
note: I have an old camera and a new phone. | I only ever used the automatic mode. | I've been doing
  this for a year or so. | I have far too many pictures and no order in them. | I'd like a few that
  I can hang on the wall. | Nothing is staged, I want it natural. | My hands aren't very steady. | I
  don't like editing much. | I do it for myself, nobody is paying.
check: is the focus where it should be | what is in the background | where does the light come from
  | are the edges clean | could you go closer | would it be better without colour
""",
    openings="""
> {aside?} I'm working on a [little|kind of] {it}, and [I'm stuck|I can't get any further]: {snag}.
  [What am I doing wrong?|How do others do that?]
< [That's a common one, and it's rarely the camera.|It usually has to do with light before anything
  else.] Try {light} [for a start|and see what changes], and use {setting}. {tail?} [Do you have one
  that came close to what you want?|What do you like about the ones that did work?]

> I'd like to start {a it}, just for me. {aside?} [Which settings do I need to understand
  first?|Where would you begin?|Do I need a better camera for that?]
< [You can go a long way with what you have.|Begin with one thing, and let the machine do the rest.]
  For {subject}, {setting} [matters most|is the one to learn]. {Tip!} {more!}

> [I looked through my {it} {recent}|My {it} is on the screen in front of me], and [most of it is
  just boring|there are three good ones among hundreds]. {aside?} How do I learn to see [what's
  wrong|which ones are worth keeping]?
< [A handful of good ones is a fine harvest.|That you can tell is the first step.] Before the next
  picture, ask yourself: {list check} [It becomes a habit within a few weeks.|You won't need the
  list for long.]
""",
    asked="""
> {aside?} Do I have to learn all those numbers? [Aperture, shutter and so on make my head
  spin.|Each time I understand it, it's gone by the next day.]
< [No. Two ideas are enough: how much is sharp, and how much moves.|Only the ones you use.] For
  {subject} that means {setting}, [and the rest can stay automatic|and you may forget the others].
  {tail?}

> When is the best time of day for {subject}? [I'm mostly free around noon, which everyone says is
  bad.|I could get up early, but I'd want a good reason.]
< {Light}, [whenever you can have it|if I could choose]. [Noon isn't hopeless: find open shade, or
  make something of the hard shadows.|The early hours are quiet as well as soft, which helps.]
  {tail?}

> {aside?} How do I ask somebody whether I may take their picture? [I always feel like an
  intruder.|I've missed so many because I didn't dare.]
< [With a smile and the camera held low.|Say what caught your eye; people like to hear it.] [Many
  say yes, some say no, and both are quickly over.|Show them the picture afterwards and offer to
  send it.] {tail?}

> [Is it worth editing them?|How much editing is honest?] A friend [pulls every slider there is|says
  anything beyond cropping is cheating]. {aside?}
< [A little is part of it and always has been.|I'd do as much as you would admit to.] [Straighten,
  crop, lift the shadows a touch, and stop.|Leave it overnight, and take half of it back in the
  morning.] {tail?}

> I [only have|mainly use] my phone. Can that ever look like a proper photograph? [People with big
  cameras smile at me.|] {aside?}
< [Of course it can.|On a wall, nobody asks.] [It struggles with distance and darkness, so come
  closer and look for light.|Don't zoom with your fingers; walk.] {tail?}
> [And portrait mode?|What about those artificial blurs?] [It cuts off people's ears sometimes.|I
  can't decide whether I like it.]
< [Use it sparingly.|It's good from a distance and odd up close.] [A plain background further away
  does the same and is real.|{Light} does more for a face.] {tail?}

> {Snag!}, [that's the thing|still]. [Is it me or the lens?|Would another lens solve that?]
< [Mostly technique, I'd say, which is the cheaper answer.|Before you buy one, test it.] [Put the
  camera on a table, use the timer, and compare.|Try the same scene with {setting} ten times in a
  row.] [If those are fine, it's your hands or the timing.|Then you'll know.] {tail?}
""",
    told="""
> I was out {recent} with {setting}, [as you suggested|just to practise], and [a few are really
  good|there's one I'd hang up]. {aside?}
< {nice!} [One for the wall is more than most people bring home.|What makes that one different from
  the rest?] [Go back to the same place with the same idea.|Do ten more like it while you have the
  feeling.] {tail?}

> [I don't know.|Hm, it's odd.] {Light} [did look better|was lovely], but now [they all look
  alike|it's a bit like a calendar]. How do I get [some life|something of my own] into them?
< [That's the next step, and a good sign.|Once the technique works, boredom is useful.] [Set
  yourself a silly rule for a week: only reflections, or only hands.|Photograph what you usually
  avoid.] {tail?}

> Somebody [asked for a print|wants one for a waiting room|used one as a wallpaper]! {aside?} [How
  large can I go?|Is my file big enough for that?]
< {nice!} [Larger than you think, since people stand further away from large pictures.|Most files
  will do for a poster.] [Order a small test first, prints come out darker than screens.|Matt paper
  forgives more.] {tail?}

> [My disk is full.|I've lost all overview.] How do you [sort|keep track of] so many pictures? [I
  keep everything, out of fear.|Ten versions of the same tree, and I can't choose.]
< [Pick the best and let the others go, in one sitting, fast.|One folder a month and a handful of
  favourites in each is enough.] [If you hesitate between two, keep either.|What you didn't miss for
  a year, you won't.] {tail?}

> The ones of {subject} came out [too dark|far too bright], [even though it looked fine on the
  display|every single one]. {aside?}
< [The display lies in the sun.|A lot of sky or snow fools the meter.] [Correct it by a notch and
  look at the curve instead.|Point at something grey, lock it, and recompose.] [The dark ones can be
  saved, the burnt-out ones less so.|] {tail?}

> I [showed the {it} to|asked the opinion of] a photographer {recent}, who [said it lacks a
  thread|liked only the ones I'd nearly deleted]. [That hurt a bit.|Interesting, isn't it?] What do
  I make of it?
< [Take it as one opinion, then look again in a week.|The near misses often have more life in them.]
  [A thread can be as simple as one colour or one street.|Lay small prints on the floor and move
  them about until something clicks.] {tail?}
""",
)
