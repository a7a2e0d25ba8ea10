"""Talk about pets."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

PET = Topic(
    name="pet",
    cases="""
it: puppy
does: chews everything made of wood | cries as soon as I leave the room
why: new teeth | boredom
help: something frozen to gnaw on | very short absences, many times a day
likes: an old sock with a knot in it | a squeaky hedgehog

it: old dog
does: gets up three times a night | won't do the stairs any more
why: stiff joints | failing ears
help: a thicker bed | shorter walks, but more of them
likes: a smelly rubber bone | a faded toy duck

it: kitten
does: climbs the curtains | attacks my feet at dawn
why: too much energy at the wrong hour | the instinct to hunt
help: a wild game before bedtime | a shelf by the window
likes: a crumpled paper ball | a feather on a string

it: rescue cat
does: hides behind the washing machine | hisses at visitors
why: fear | bad experience
help: a quiet room of her own | sitting on the floor and reading aloud
likes: a felt mouse | a blanket that smells of us

it: pair of rabbits
does: digs up the carpet | thumps at night
why: too little space | a want of things to do
help: a box of earth to dig in | a larger run
likes: a willow ball | a cardboard tunnel

it: parrot
does: imitates the telephone | plucks at its feathers
why: attention | loneliness
help: toys that have to be solved | company at regular hours
likes: a brass bell | a wooden puzzle
""",
    words="""
tip: reward what you like within a second or two. | keep the hours regular, whatever else changes. |
  end every lesson with something that works. | ignore what you don't want, as far as you can bear
  it. | give it a place where nobody disturbs it. | change food slowly, over a week. | let the
  animal come to you. | keep the lessons shorter than your patience. | tire out the head and not
  only the legs. | use one word for one thing, and the same in the whole family. | look at when it
  happens before you ask why. | stay calm, they read it off your shoulders. | have a vet look at
  anything that changes suddenly.
lore: Animals learn all the time, not only when we teach. | Punishment mostly teaches them to be
  careful of you. | Most bad habits are good ideas in the wrong place. | Sniffing is as tiring as
  running. | They notice a change in us before we do. | A bored animal finds work for itself. |
  Routine is a form of kindness. | It gets worse before it gets better, as a rule, and then it
  stops.
note: We live on the third floor. | It's our first animal. | The children adore it, perhaps a bit
  too much. | I work from home most of the week. | My partner wasn't keen at first and is now the
  worst of us. | There's a second one next door, and they watch each other. | We don't know much
  about its past. | The sofa is beyond saving. | I read three books, and they contradict each other.
check: is there fresh water in more than one place | does it get enough sleep | what happens right
  before it starts | who reacts to it, and how | is it in pain anywhere | has anything changed in
  the house
""",
    openings="""
> {aside?} Our {it} {does}. [We've tried scolding and bribing.|At first it was funny.|It has been
  going on for weeks.] [What are we doing wrong?|Is that normal?|How do we get out of that?]
< [It's quite normal, and it can be changed.|Probably nothing wrong, just nothing that helps yet.]
  [I'd suspect {why}.|I'd think of {why} first.] [Try {help}|Start with {help}], [and give it two
  weeks|every day, at the same hour if you can]. {tail?}

> We're [thinking of getting|about to get] {a it}. {aside?} [The shelter says we could come and
  look.|A friend of a friend is giving one away.] [What should we prepare?|Is there anything people
  don't tell you?]
< [That it costs more time than money.|The first two weeks are the hardest and the sweetest.]
  [Prepare one quiet corner and leave the rest of the place as it is.|Have {help} ready, and don't
  invite anybody for a while.] {tail?} [Who is at home during the day?|Have any of you had one
  before?]

> [Can you help me understand our {it}?|I'm at my wits' end with the {it}.] {aside?} [When I'm not
  looking, it {does}.|The trouble is that it {does}.] [I don't want to be unfair.|I can't see a
  pattern in it.]
< [There's always a pattern, but it hides.|Then let's look for the pattern first.] Ask yourselves:
  {list check} [Write it down for a week, on a note on the fridge.|The answer is often on that
  list.]
""",
    asked="""
> {aside?} How long does it take until {help} [shows any effect|works]? [I'm not very patient.|Two
  days in, and nothing.]
< [Days for the easy things, weeks for habits.|Longer than two days, I'm afraid.] [Look for less of
  it rather than none.|Count how often it happens and compare the weeks.] {tail?}

> Is it a bad idea to [have it sleep in the bedroom|give treats all the time|leave it alone for half
  a day]? [Everyone has an opinion.|The neighbour shook her head.] {aside?}
< [Not bad, as long as you can keep it up for years.|It's a matter of taste, mostly.] [What you
  allow once is the law from then on.|Begin with a little, and extend it slowly.] {tail?}

> {aside?} What can I [give it to do|play with it] on a rainy day? [We've run out of ideas.|It looks
  at me as if I were the entertainment.]
< [{Likes}, for example.|Let it search for its food instead of serving it.] [Hide small things under
  cups, then under cups in another room.|Ten minutes of thinking are worth a long walk.] {tail?}

> Could it be {why}? [The vet found nothing.|A lady in the park said so.] [I feel guilty now.|How
  would I notice?] {aside?}
< [It could well be.|Possibly, and it's nobody's fault.] [You'd notice it at certain hours, or after
  certain things.|Change one thing, {help} for instance, and watch.] {tail?}

> We'd like to [go away for a few days|visit my parents with it]. {aside?} [It has never been
  anywhere.|The last car ride was awful.] [What's the kindest way to do that?|Take it along, or find
  a sitter?]
< [A sitter it knows, in its own place, is kindest for most.|Take it along if you can keep its
  routine.] [Practise with a quarter of an hour first.|Bring the blanket, the bowl and {likes}.]
  {tail?}
> [The sitter is nervous.|My mother is afraid of it, to be honest.] [What do I tell them?|How do I
  prepare them?]
< [Have them come over twice before that, just for tea.|Write one page: food, words, habits, and
  what's forbidden.] [Tell them to ignore it for the first half hour.|Then it will be curious about
  them.] {tail?}

> How much [food|sleep|exercise] is enough for {a it}? {aside?} [The packet says one thing and the
  vet another.|I can't refuse those eyes.]
< [Less food and more sleep than most people think.|Go by the waist, rather than by the packet.]
  [Take treats off the ration.|If it settles down by itself afterwards, it was enough.] {tail?}
""",
    told="""
> We tried {help}, [as you said|for a whole week]. [It's so much better!|I wouldn't have believed
  it.] {aside?} [Only on Sundays, when everyone is here, it starts again.|The neighbours noticed,
  too.]
< {nice!} [Sundays are a different world to an animal.|Then it really was {why}.] [Keep the same
  hours on the days that are different.|Don't stop now, because the habit is only half made.]
  {tail?}

> {hm!} It still {does}, [I'm sorry to say|in spite of everything]. [I lost my temper {recent}, and
  felt awful.|We're all tired.] [Should we get help?|What else is there?]
< {pity!} [It forgives you faster than you do.|Being tired makes everything look worse.] [A good
  trainer sees in ten minutes what we miss in months.|Step back to where it last worked, and go on
  from there in smaller steps.] {tail?}

> [The sweetest thing happened:|A small miracle:] {recent} it [came and lay down on my feet|slept
  through the night|let me touch its belly]. {aside?} [I didn't dare to move.|I nearly cried.]
< {nice!} [That's trust, and you've earned it.|Moments like that are what it's all for.] [Let it
  decide how long.|Don't make too much of it, just be there again tomorrow.] {tail?}

> We were at the vet's {recent}. [Nothing serious, luckily.|A bit overweight, otherwise fine.] [It
  behaved better than I did.|It hid in my coat.] {aside?} [How do I get it to like going there?|]
< {nice!} [Drop in now and then without any treatment, only for a treat.|Leave the basket standing
  about, so that it loses its terror.] [And bring {likes} for afterwards.|You could play vet at
  home: ears, paws, teeth, reward.] {tail?}

> It [ate something it shouldn't have|stole a whole cake] {recent}. [It looks guilty and very
  pleased.|We found only the wrapper.] [Do I have to worry?|It seems fine.] {aside?}
< {pity!} [Ring the vet with the wrapper in your hand, if there was chocolate or onion in it.|If
  it's lively and drinks, probably not.] [Watch it for a day and keep the next meal small.|And guilt
  is our word, they only read our face.] {tail?}

> Meet the family's favourite: {likes}. [It's the first thing it looks for in the morning.|Nothing
  else exists.] [I bought so many toys!|We have a basket full of expensive things.] {aside?}
< [That's always the way.|They have a gift for the cheap and the ugly.] [Put the others away and
  bring out one a week, then they're new.|And never wash it.] {tail?}
""",
)
