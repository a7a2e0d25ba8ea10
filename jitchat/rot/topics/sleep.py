"""Talk about sleep."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

SLEEP = Topic(
    name="sleep",
    cases="""
it: sleep
trouble: falling asleep | switching off in the evening
what: I lie there and go through the day again | my head starts working as soon as the lamp is off
cause: a screen until the last minute | a day without a pause
help: writing down what is left to do | a dull book in low light
blame: the coffee after lunch | the news

it: sleep
trouble: waking at night | sleeping through
what: I'm wide awake long before dawn | I wake up and listen to the house
cause: a glass of wine | a bedroom that's too warm
help: getting up for a quarter of an hour | turning the clock to the wall
blame: my age | the moon

it: sleep
trouble: getting up | mornings
what: I press the button six times | it takes me an hour to become a person
cause: going to bed at a different hour each night | too little daylight
help: the alarm at the other end of the room | opening the curtains at once
blame: the winter | the mattress

it: sleep
trouble: naps in the afternoon | the hours after lunch
what: I mean to rest for a moment and lose two hours | I feel worse afterwards
cause: a short night | a heavy lunch
help: a chair instead of the bed | a spoon in the hand
blame: the sofa | the heating

it: sleep
trouble: sleeping between shifts | sleeping in daylight
what: I'm tired at noon and lively at midnight | my body has no idea what day it is
cause: light at the wrong time | meals at all hours
help: sunglasses on the way home | a fixed little ritual before bed, whatever the hour
blame: the rota | the birds
""",
    words="""
tip: get up at the same hour, even on a Sunday. | go outside before noon, if only for ten minutes. |
  keep the room cool and the feet warm. | leave the bed when you're annoyed, and come back when
  you're sleepy. | dim the lights an hour before. | put the phone to bed in another room. | don't
  look at the time. | have the last coffee before lunch. | do the same three small things each
  evening. | breathe out for longer than you breathe in. | eat early and lightly. | let a bad night
  be a bad night. | keep the bed for sleeping.
lore: Nobody sleeps through, we only forget the waking. | Trying hard is the one thing that doesn't
  work. | One bad night does less harm than the worry about it. | The body keeps time by light and
  by meals. | Old advice about eight hours fits some people and not others. | A warm bath helps
  because one cools down afterwards. | Thoughts are darker at that hour, for everybody. | A habit
  takes about three weeks to be believed.
note: I've always been a poor sleeper. | My partner sleeps like a stone, which doesn't help. |
  There's a street lamp right outside. | I don't want to take anything for it. | I drink tea by the
  litre. | It has been like this since the spring. | At weekends it's no better. | The cat has
  opinions about it as well. | I get by, but I'm dull.
ritual: a short walk round the block | a cup of something without caffeine | tidying away three
  things | clothes laid out for the next day | two pages of something calm | a window open for five
  minutes | stretching on the floor
""",
    openings="""
> {aside?} I have trouble with {trouble}. [Most nights it's the same:|How it goes:] {what}. [I blame
  {blame}, but I don't really know.|My sister says it's {blame}.] [What can one do about it?|Where
  do I start?]
< [With the dull things, which are the ones that work.|Not with the night, but with the day before
  it.] [I'd think of {cause} before {blame}.|It could be {cause}, that's more common than one
  thinks.] Try {help} [for two weeks and change nothing else|before anything more complicated].
  {tail?}

> [Could you suggest an evening routine?|I need something to do before bed that isn't a screen.]
  {aside?} [My problem is {trouble}.|It's about {trouble}, mainly.] [Nothing with incense,
  please.|It has to work with a family in the next room.]
< {Sure!} [Choose two or three of these and keep the order:|Something short that you look forward
  to:] {list ritual} [What matters is that it's the same every evening.|After a couple of weeks the
  first step makes you yawn.] {tail?}

> {Recent} I slept [really well|through], for once, [for no reason at all|and I have no idea why].
  {aside?} [Normally {what}.|The rest of the time {what}.] [How do I make that happen again?|Can one
  learn something from a good night?]
< [Write down what the day was like, rather than the night.|There's more to learn from such a night
  than from the bad ones.] [Was there less of {cause}?|Perhaps there was less of {blame} that day,
  or more fresh air.] {tail?} [What did you eat, and when?|Were you outside?]
""",
    asked="""
> {aside?} Is it {blame}, do you think? [Everybody says so.|I read something along those lines.]
  [I'd hate to give up anything I like.|]
< [It may play a part, but I'd look at {cause} first.|Possibly; there's an easy way to find out.]
  [Leave it out for ten days and don't count the first three.|Change one thing only, so that you can
  tell.] {tail?}

> What do I do when I lie awake? [I count, I breathe, I get cross.|Sooner or later I reach for the
  phone.] {aside?}
< [Get up, sit somewhere dim, and wait until you're sleepy.|Nothing, if you can: resting counts.]
  [Have a chair ready with a blanket and something dull.|Tell yourself that lying there is rest
  enough, and mean it.] {tail?}

> {aside?} Would {help} really make a difference? [It sounds too simple.|I've tried so many things.]
< [It does for many, though not on the first night.|Simple is good, you have to do it half asleep.]
  [Give it a fair trial, and no judging before the second week.|It works through being boring.]
  {tail?}

> How much sleep do I need, [in fact|at my age]? [Some manage on five hours, they say.|My watch
  gives me marks in the morning, and they're bad.] {aside?}
< [As much as lets you get through the afternoon without wanting to lie down.|There's no figure that
  fits everybody.] [Leave the watch in a drawer for a while; the marks make it worse.|Count how you
  feel at eleven, rather than the hours.] {tail?}

> Are naps [a good idea|allowed]? [I get so tired after lunch.|My grandfather had one every day of
  his life.] {aside?}
< [If they're short and early, yes.|Twenty minutes, sitting up.] [If the nights get worse, drop them
  again.|Set something that rings, and don't take off your shoes.] {tail?}
> [And if I can't nod off in that time?|What if I miss the moment?] [Twenty minutes is barely enough
  to get comfortable.|I'm usually still thinking by then.]
< [Closing your eyes is worth something, too.|Then it was a pause, and that's fine.] [Don't make up
  for it later in the day.|After a week the body knows what's coming.] {tail?}
""",
    told="""
> I've been trying {help} [for a week now|since we talked]. [It's a little better.|Three good nights
  out of seven.] {aside?} [I'm afraid to jinx it.|Is that the placebo effect?]
< {nice!} [Three out of seven is a start.|If it is, it's a good one.] [Keep everything else as it
  was.|Don't add the next thing yet.] {tail?}

> Awful night. {What}, [as ever|worse than usual]. [I had an important day ahead, of course.|At some
  point I gave up and made tea.] {aside?} [How do I get through today?|]
< {pity!} [Go out into the light, eat lightly, and go to bed at your normal hour.|It'll be a grey
  day, no more than that.] [No long nap, tempting as it is.|Do the easy things first.] {tail?}

> {hm!} You said it might be {cause}. [I watched it, and I think it's true.|I didn't want to hear
  that.] [On the days without, I sleep.|There's a clear pattern.] {aside?}
< {nice!} [It's good to know, even if one doesn't like it.|Then you have something to hold on to.]
  [You needn't give it up altogether, only move it.|Try halving it first.] {tail?}

> My partner [complains|says I snore]. [Apparently I saw down whole forests.|I don't believe a
  word.] [Can one do something about that?|Is that serious?] {aside?}
< [Often it's enough to lie on your side.|Mostly it's harmless, and if you're tired all day, have it
  looked at.] [A pillow behind the back keeps you from rolling over.|Less in the evening, of
  everything, helps as well.] {tail?}

> The evening routine [works|has survived two weeks]! [I yawn at the first step, like a trained
  dog.|Even the children join in.] {aside?} [Only on Fridays I skip it.|The phone sleeps in the
  kitchen.]
< {nice!} [That is just what it's for.|Fridays are for skipping.] [Keep it when you travel, in a
  small version.|You could make it shorter now.] {tail?}

> I've given up [tracking it|reading about it], and [I sleep better|I feel freer]. [Funny.|Who would
  have thought?] {aside?} [Does that make any sense?|]
< {nice!} [It does, one can't watch and let go at once.|A lot.] [Don't look back at the old
  numbers.|It may come and go, and that's all right.] {tail?}
""",
)
