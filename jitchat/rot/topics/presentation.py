"""Talk about a presentation at work."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

PRESENTATION = Topic(
    name="presentation",
    cases="""
it: talk about the survey
crowd: the whole department | people who answered it themselves
point: people want fewer tools, and better ones
slide: the one with all the bars | the opening quote
fear: somebody asks about the method | it sounds like a complaint

it: pitch for the new idea
crowd: three managers with little time | a sceptical steering group
point: a small trial is cheap, and shows whether it works
slide: the comparison | the picture of the old process
fear: they ask what it costs before I've said what it is | nobody says anything

it: training session
crowd: new colleagues | people who would rather be at their desks
point: there are only three things to remember
slide: the step by step one | the quiz at the end
fear: I lose the slow ones | I run over

it: status report
crowd: the usual circle | a client who likes details
point: we're on course, with one exception
slide: the traffic lights | the long table
fear: all of it goes to the one exception | they've read it already

it: conference talk
crowd: strangers who know more than I do | a hall full of laptops
point: our mistake is the interesting part
slide: the diagram | the last one, with the links
fear: the technology fails | I forget the middle

it: farewell speech
crowd: colleagues from twenty years | people who are moved already
point: he made room for others
slide: the old photographs | the empty one
fear: my voice gives way | the joke falls flat
""",
    words="""
tip: say the main thing in the first minute. | put one thought on each slide and no more. | practise
  the first two sentences until they bore you. | stop talking when you change the slide. | look at
  one face for a whole sentence. | cut a third of it and don't mourn. | leave the numbers for a
  handout. | bring water and a printed copy. | stand where people can see your hands. | ask a
  question and wait longer than is comfortable. | rehearse once in the shoes you'll wear. | finish
  early, nobody has ever minded. | tell it to somebody who knows nothing about it. | end with what
  you'd like them to do.
lore: People remember a story and forget the chart beside it. | Nobody can read and listen at the
  same time. | Nervousness is far less visible than it feels. | The audience is on your side until
  you apologise. | A pause sounds twice as long to the one who makes it. | Most talks contain enough
  for three. | A slide that needs explaining is a document. | Questions are a compliment, even the
  nasty ones.
note: I don't like standing in front of people. | It should last about a quarter of an hour. | My
  boss wants to see it first. | I've given it once before, and it was dreadful. | English isn't the
  first language of half the room. | I talk too fast when I'm nervous. | The template is ugly and
  compulsory. | It's the slot right after lunch. | I know the subject inside out, that's the
  trouble.
outline: a question that everybody in the room has asked | what you found, in a sentence | one
  example, told properly | the objection they're thinking of | what it means for them | what you'd
  like to happen now
""",
    openings="""
> {aside?} I have to give {a it}, in front of {crowd}, and [I'm staring at an empty page|I've got
  forty slides and no thread]. What I want to say is [really|basically] this: {point}. [How do I
  build it up?|Where would you start?]
< [You've just said it, so put that sentence at the top.|That's clear enough to open with.]
  [Everything else either supports it or can go.|Then ask yourself what {crowd} would need to
  believe it.] {tail?} [How much time do you have?|What do they know already?]

> [Could you help me with an outline for {a it}?|I need a simple structure for {a it}.] {aside?}
  [The audience will be {crowd}.|I'll be talking to {crowd}.] [I'd like to get away from the usual
  agenda slide.|It shouldn't feel like a lecture.]
< {Sure!} [For that crowd, I'd keep it short and let it build:|Think of it as a little story:] {list
  outline} [One slide for each, or none at all.|Say it aloud before you make any slides.]

> {Recent} I [showed my draft of|rehearsed] the {it} [to a colleague|in front of the mirror], and
  [it was too long and too flat|I bored even myself]. {aside?} [The weakest part is {slide}.|I'm
  least happy with {slide}.] [What would you change first?|How do I get some life into it?]
< [Then begin by taking {slide} out and see whether anybody misses it.|Flat usually means that
  everything is equally loud.] [Decide which minute they should remember, and make the rest
  quieter.|Put the best example much earlier.] {tail?}
""",
    asked="""
> {aside?} My biggest fear is that {fear}. [I lie awake over it.|It has happened to me before.] [How
  do I prepare for that?|What do I say then?]
< [Have one sentence ready for exactly that moment, and practise it.|Say it yourself before anybody
  else can.] [Once you have an answer, it stops being a fear.|You needn't solve it on the spot; you
  may also promise to come back to it.] {tail?}

> How many slides are too many? [I've heard one a minute, and I've heard none at all.|Mine are full
  to the brim, I admit.] {aside?}
< [When you start skipping, it's too many.|If you can say it without one, you don't need it.] [Keep
  {slide} and see how far you get with the rest in words.|Make a version with half of them and give
  that to the mirror.] {tail?}

> Should I [learn it by heart|write it all down|speak freely]? {aside?} [With notes I rustle,
  without them I drift.|Last time I read it out, and I could hear myself reading.]
< [Learn the first and the last sentence, and speak freely in between.|Keywords on cards, large
  enough to read from above.] [If you lose the thread, go back to the main point: {point}.|Write it
  out once to find the words, and then put it away.] {tail?}

> [How do I begin?|What do I open with?] ["Good morning, I'm delighted to be here" is not true.|A
  joke is risky with {crowd}.] {aside?}
< [With a question they'd like answered.|In the middle of something: a scene, a sentence somebody
  said.] [No thanks, no agenda, straight in.|The formalities can come second, when they're
  listening.] {tail?}
> [For instance?|Could you give me an example?] [I'm not good at scenes.|Mine always sound like an
  advert.]
< [Think of the moment when you noticed it yourself, and tell that, in three sentences.|Take the
  smallest true thing that happened, with a place and a person in it.] [Plain words are best.|Then
  stop, and let it stand for a second.] {tail?}

> What do I do about {slide}? [It's what the boss likes best.|I can't leave it out, but it says
  nothing at a glance.] {aside?}
< [Grey out everything but the one part that counts.|Show it in two steps, the frame first.] [Write
  the conclusion as its heading.|Put the full version in the handout, so nobody can complain.]
  {tail?}

> {aside?} I [speak too fast|say "um" all the time|never know where to put my hands]. [A colleague
  counted, which didn't help.|I watched a recording and wanted to hide.]
< [Everybody hates their own recording.|It bothers you more than it bothers them.] [Breathe out at
  the end of each sentence, that slows you by itself.|Hold a pen or a card; hands like having
  something to do.] {tail?}
""",
    told="""
> It's over! [It went well, I think.|They actually laughed, in the right place.] [Somebody repeated
  my main point at the coffee machine.|I finished early and nobody minded.] {aside?}
< {nice!} [If they can repeat it, it worked.|Enjoy that for a day.] [Write down the questions they
  asked, that's your next version.|What would you keep for another time?] {tail?}

> [Well, that was rough.|It didn't go as planned.] The very thing I'd dreaded, [you remember|of
  course]: {fear}. [I kept going somehow.|I heard myself babble.] [How bad is that, really?|What do
  I do now?]
< {pity!} [Far less bad than it feels this evening.|You kept going, which is what people will
  remember.] [Send round a short note with the point you wanted to make.|Sleep first, then ask one
  person you trust.] {tail?}

> I rehearsed it [three times|with a stopwatch] {recent}, and [it's much too long|I'm still over].
  [I've cut all I can.|Everything in it seems important.] {aside?}
< [Imagine somebody takes away half your time in the doorway: what would you still say?|Then cut a
  whole part rather than a bit of everything.] {Slide} [would be my first candidate|can go into the
  appendix]. {tail?}

> My boss looked at it and wants [more detail|"more energy"|a different order]. {aside?} [I liked it
  as it was.|I don't think that makes it better.] [How do I deal with that?|Do I just do it?]
< [Ask what the worry behind it is.|Do the half you agree with, visibly.] ["More detail" often means
  they fear a certain question, so have the answer in your pocket.|Show two versions of one slide
  and let them compare.] {tail?}

> {hm!} I took {slide} out, [as you said|with a heavy heart], and [it flows better|I don't miss it
  at all]. [Now there's a gap before the end, though.|Only the ending feels abrupt.]
< {nice!} [A gap is a good place for a pause or a question.|Then end one sentence earlier.] [Come
  back to the scene you opened with.|Repeat the point once more: {point}.] {tail?}

> They've asked me to do it again, for [another group|the board]. {aside?} [The same thing, only
  different people.|It's flattering and frightening.] [What do I change?|Can I leave it as it is?]
< {nice!} [Keep the bones and change the example.|Ask who will be there and what they lose sleep
  over.] [The second time is easier, so be careful not to hurry.|Leave out what you yourself are
  tired of.] {tail?}
""",
)
