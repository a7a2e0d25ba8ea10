"""Talk about practising an instrument."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

MUSIC = Topic(
    name="music",
    cases="""
it: piano
piece: a slow waltz | a little prelude
bar: the jump in the left hand | the run before the end
hands: my left hand lags behind | my wrists get stiff
place: the upright in the living room

it: guitar
piece: a folk song with a nasty chord in it | a blues in the key of E
bar: the barre chord | the change in the chorus
hands: my fingertips hurt | the strings buzz
place: the edge of the bed

it: cello
piece: a sarabande | the easy half of a duet
bar: the shift up the fingerboard | the long bow at the end
hands: my bow arm shakes | the thumb cramps
place: a corner with a rug

it: clarinet
piece: a klezmer tune | a simple serenade
bar: the crossing into the high register | the quick notes in the middle
hands: it squeaks | I run out of breath
place: the attic, for the sake of peace

it: accordion
piece: a musette | an old sea song
bar: the bass jumps | the place where the bellows turn
hands: my left hand is blind | my shoulders ache
place: the kitchen

it: trumpet
piece: a fanfare | a slow ballad
bar: the high entry | the run before the repeat
hands: my lip gives out | the low notes crack
place: the cellar, with the window shut
""",
    words="""
tip: play it at half the speed, and then slower than that. | stop before you're tired. | practise
  the two bars around the mistake, not the whole piece. | count aloud, however silly it feels. |
  breathe out before the difficult place. | begin with the ending now and then. | put the metronome
  on, and then learn to live without it. | record yourself once a week. | leave the instrument out
  where you can see it. | play something you already know to finish with. | close your eyes for one
  verse. | tap the rhythm on the table first. | repeat it three times correctly before you go on. |
  look ahead, one bar further than you play.
lore: What you play wrongly ten times, you have practised ten times. | The hands learn overnight,
  once you've given them something to chew on. | Tension is nearly always older than the bar where
  you notice it. | Slow practice is boring for about four minutes. | Nobody in the audience knows
  what you meant to play. | Rhythm matters more to listeners than right notes do. | Most progress
  happens between two sessions. | A difficult bar is usually an unclear fingering.
note: I only started as an adult. | I had lessons as a child and hated them. | I practise when the
  neighbours are out. | My teacher is kind, but doesn't let me get away with anything. | I play for
  myself and for the cat. | I can read music, slowly. | By the evening I'm often too tired for
  scales. | I've promised to play something at a party. | It isn't a good instrument, but it's mine.
session: two minutes of long, quiet notes | one scale, in a mood of your choice | the difficult bar,
  four different ways | the whole thing once, without stopping | something by ear, just for fun | a
  piece you can already play
""",
    openings="""
> {aside?} I'm working on {piece} [on the|for the] {it}, and [I get stuck at the same place every
  time|it falls apart as soon as it matters]: {bar}. [How do I practise that?|What would a teacher
  tell me?]
< [To leave the rest alone for a while, I think.|That it isn't about talent, for a start.] [Take
  that one place, cut it down to three or four notes, and play it so slowly that you can't
  fail.|Find out which movement gives you trouble, and practise that without the notes.] {tail?}
  [What happens in the moment before?|Is it the notes or the tempo?]

> How do I practise [well|properly] if I have [twenty minutes|half an hour] a day? {aside?} [I
  mostly play {piece} from top to bottom and call it practice.|At the moment I noodle about until
  somebody complains.] [I'd like to get somewhere with my {it}.|I want to feel that it goes
  forward.]
< [Playing it through is nice, but it isn't practice.|A little order goes a long way.] Try this for
  a fortnight: {list session} [Keep the order loose and the clock strict.|Write one line about it
  afterwards.] {tail?}

> {Recent} I [took up|went back to] the {it} [after a very long time|because it was standing about].
  {aside?} [I chose {piece} to begin with.|I'd like to play {piece} one day.] And {hands}. [Is that
  normal?|Does that go away?]
< [Quite normal, and it does get better.|Yes to both.] [Play less and more often, five minutes at a
  time, until the body remembers.|Check how you sit or stand before you look at anything else.]
  {tail?}
""",
    asked="""
> {aside?} Do I [need|really have to use] a metronome? [It makes me nervous, like somebody tapping
  on my shoulder.|I either chase it or drag behind.]
< [For finding out where you rush, nothing is better.|Not all the time.] [Set it to half the speed
  and let it click only on every other beat.|Use it to check, and then switch it off to make music.]
  {tail?}

> How long [does it take|will it take] until I can play {piece} [at speed|for somebody]? [My party
  trick is stopping halfway.|I know it depends, but roughly.] {aside?}
< [Longer than a week and less than you fear.|When you can play it slowly without thinking, it's
  nearly there.] [Speed isn't learnt, it turns up.|Take what you manage on a bad day; that's your
  level in front of people.] {tail?}

> {Hands}, [especially in the evening|after a few minutes already]. {aside?} [Do I push through?|Is
  it the technique or simply age?]
< [Don't push through.|Most likely it's effort in the wrong place.] [Shake everything loose, start
  again with half the force, and see how little you need.|Watch yourself in a mirror and look at the
  shoulders.] {tail?}

> Should I [learn it by heart|keep the sheet music]? [As soon as I look up, I'm lost.|I know it in
  my fingers, but not in my head.] {aside?}
< [By heart in pieces, starting from the back.|Keep the sheet, but learn three places where you can
  jump back in.] [Try to hear the next bar before you play it.|If you can hum it all, you know it.]
  {tail?}
> [From the back? That sounds upside down.|Three places, how do I choose those?] [Wouldn't I get
  confused?|]
< [It feels odd, but you always play towards what you know best.|Take the beginnings of phrases,
  where you would breathe.] [Put a small pencil mark there and start from each of them once a
  day.|Then a slip is only a detour.] {tail?}

> What can I do about nerves? [I'm fine alone, and then one person sits down and listens.|My hands
  go cold.] {aside?} [It's only {piece}, for heaven's sake.|]
< [Play it to people before it matters: a friend, a phone that records, the postman.|Expect the
  nerves and start slower than you want to.] [They don't go away, but they get duller.|Nobody else
  hears half of what you hear.] {tail?}

> Where do I find something [easier|new] to play? {aside?} I [love {piece}, but I've heard it
  enough|want something between nursery rhymes and the real thing].
< [Look for collections of dances; they're short and repay the effort.|Ask somebody who teaches,
  they have drawers full of it.] [Sight-read a page a day of things far below your level.|Pick by
  ear: whatever you hum in the shower.] {tail?}
""",
    told="""
> [It works now|I can do it at last]: {bar}! [Slowly, but every time.|Three times in a row without a
  slip.] {aside?} [I played it to my sister over the phone.|Even the cat stayed.]
< {nice!} [Now put the bar before it in front, and then the one after.|Leave it for a day and see
  whether it is still there.] [What was it in the end, the fingering?|Don't rush it now.] {tail?}

> I [played in front of|tried it out on] [some friends|my class] {recent}, and [I got lost in the
  middle|my mind went blank]. [I started over twice.|I improvised an ending.] [How
  embarrassing.|They clapped anyway.]
< {pity!} [An invented ending is the best kind of recovery.|They clapped because they liked it.]
  [Practise getting lost: start anywhere, stop anywhere, go on.|Next time the first time is behind
  you.] {tail?}

> My neighbour [knocked {recent}|left a note about the {it}]. [Politely, I must say.|It was about
  the hour rather than the playing.] I usually play in {place}. [What can I do?|Do I have to stop?]
  {aside?}
< [Talk to them, and ask which hours are all right.|No, but agree on a time with them.] [A rug and a
  heavy curtain take out a lot.|Turn round, so you play into the room and not at the wall.] {tail?}

> I [haven't practised for two weeks|skipped it for a while], and [it's all gone|my fingers have
  forgotten everything]. {aside?} [Do I start from the beginning?|It's so discouraging.]
< {pity!} [It isn't gone, only buried.|Start with something you love and play it badly.] [Three
  short days, and you're back where you were.|Breaks sometimes even help.] {tail?}

> I recorded myself, [as you said|in the end]. [Oh dear.|It was better than I feared.] [I rush every
  time it gets easy.|I hadn't noticed how loud the accompaniment was.]
< {nice!} [Now you have a teacher who never lies.|Everybody is shocked by that the first time.]
  [Pick the one thing that bothers you most and leave the others.|Do it again in a month and
  compare.] {tail?}

> {hm!} I've been thinking of [joining a small group|finding somebody to play with]. {aside?} [I'm
  surely not good enough.|I only know {piece} and a bit.] [What do they expect?|Would that be a
  bother to them?]
< [That you listen and keep going, mostly.|Not at all, everybody needs a steady second part.] [Ask
  to sit in once.|Choose people slightly better than you who laugh a lot.] {tail?}
""",
)
