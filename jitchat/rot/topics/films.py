"""Talk about films and series."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

FILMS = Topic(
    name="films",
    cases="""
it: thriller
good: the camera never shows the knife | nobody explains anything
bad: the last twenty minutes | all those guns, and nobody has a phone
scene: the one in the lift | the silence after the call
alike: a slow one from the seventies | something with a train in it

it: comedy
good: the waiter who says nothing | the jokes come from the people
bad: the music that tells me when to laugh | the wedding at the end
scene: the dinner with the boss | the lost suitcase
alike: a black and white one with a lot of doors | a dry one from the north

it: documentary
good: it watches and doesn't preach | the beekeeper, who forgets the camera
bad: the narrator | the drone shots
scene: the first frost | the old men at the table
alike: one about a workshop | one that follows a single street

it: animated film
good: the background tells its own story | the grandmother
bad: the song that stayed in my head for days | the talking side character
scene: the flight over the roofs | the soup
alike: a hand-drawn one from Japan | something with puppets

it: crime series
good: the two of them hardly speak | it takes its time
bad: the second season | the cliffhangers
scene: the interview in the greenhouse | the drive in the snow
alike: one with a single case and six parts | something Danish

it: western
good: the landscape acts | the old sheriff, who can't see well
bad: the length | the shooting in the middle
scene: the card game | the empty street
alike: a modern one with pick-up trucks | one told by the wife
""",
    words="""
tip: watch the first scene again when you know the ending. | turn on the subtitles and leave the
  voices alone. | let everybody veto once. | go to the small cinema, the chairs are worse and the
  films are better. | see it in one sitting. | look at who wrote it rather than who plays in it. |
  read about it afterwards, never before. | stop a series when you don't care who survives. | watch
  the background for once. | choose something short on a weekday. | let the credits roll, and talk
  after that. | keep the lights low and the phones outside.
lore: Most films are twenty minutes too long. | The best actor is often the one who listens. | A
  trailer shows you the film they wish they'd made. | Comedies age faster than anything else. |
  Series are novels by other means. | An ending has to be surprising and then obvious. | Music does
  half the work, and gets none of the thanks. | Children notice a continuity error before anybody
  else.
note: We can never agree on anything. | I fall asleep on every sofa. | I don't mind subtitles. | My
  daughter is ten and brave. | I can't stand torture or dying dogs. | We've seen all the obvious
  ones. | It's our one evening without the children. | I like it when I can't guess. | We only have
  the one streaming service.
rule: nobody looks at a phone | each of us may veto once | nothing over two hours | whoever chose it
  gets the good seat | no comments in the first half | the snack is part of it
""",
    openings="""
> {aside?} We'd like to watch something [this weekend|on our free evening], [{a it}, maybe|my friend
  would like {a it}]. [The last one we both liked, because of {scene}.|The last time it was a
  success: {good}.] [What would you go for?|How do we find another like that?]
< [I'd look for {alike}.|Then {alike} should be right.] [Go by what you liked rather than by the
  genre.|If {scene} is what you remember, you like it quiet.] {tail?} [How long may it be?|Is
  somebody watching who scares easily?]

> {Recent} I saw {a it}, and [I keep thinking about it|I can't decide whether it was good]. [The
  best thing was {scene}.|I'll never forget {scene}.] [What I could have done without: {bad}.|Only
  {bad} annoyed me.] {aside?} [Do you know that feeling?|How does one judge something like that?]
< [If a scene stays with you, it did something right.|I'd judge it by what is left after a week.]
  [One forgives a thing like that, mostly.|Few are good all the way through, and the flaws make them
  talkable.] {tail?} [Would you see it again?|Who did you see it with?]

> [We want to start a film night|I'd like to do a film night with friends], and [everybody has a
  different taste|the first one was chaos]. {aside?} [I thought of beginning with {a it}.|One of
  them only watches {a it} now and then.] [How do we organise that?|Are there rules that work?]
< [Few rules, and strict ones.|A host who decides is the best rule.] These have worked for others:
  {list rule} [Begin with something under ninety minutes.|After three evenings it runs by itself.]
  {tail?}
""",
    asked="""
> {aside?} Original voices or dubbed? [I miss half of the picture when I read.|My father refuses
  subtitles, on principle.]
< [Original, if you can bear it for ten minutes; after that, you forget that you're reading.|With
  tired eyes, dubbed is no crime.] [For {a it}, I'd want the real voices.|Let the slowest reader
  decide.] {tail?}

> Is it worth watching in [black and white|a cinema]? [I've never had the patience.|It's a long way
  into town, and it's raining.] {aside?}
< [Yes, for the faces alone.|For {a it}, certainly.] [The first minutes feel odd, and then it seems
  more real than colour.|You can't pause it there, that's the point.] {tail?}

> Could you explain the ending of {a it} I saw? [She walks out, and then there's just the sea.|He
  looks into the camera, and it's over.] {aside?} [We argued about it all the way home.|I think I
  missed something.]
< [If you argued all the way home, it did its job.|You may not have missed a thing.] [Ask what the
  person wanted at the beginning, and whether that matters any more.|Endings like that hand the
  question over to you.] {tail?}
> [So there's no answer?|I'd prefer an answer.] [My friend is sure she's dead.|I hate it when they
  do that.]
< [There are several, and yours has to fit what you saw.|That's fair, not everybody likes it open.]
  [Look at the colours at the end, they often give it away.|Take {alike} next time, there everything
  is tied up.] {tail?}

> {aside?} What can one watch with [a ten-year-old|my parents]? [Nothing with blood and nothing with
  talking animals.|They like it slow, and I don't.]
< [Something a bit too old, with you beside them.|{Alike}, perhaps.] [Old comedies work across all
  ages.|Stop in between and ask what they think will happen.] {tail?}

> Should I go on with that series? [The first season was brilliant: {good}.|Everybody says it gets
  better later.] {aside?} [But now there's {bad}.|I'm in the fourth part and bored.]
< [When it turns into a duty, stop.|"It gets better" is usually said by those who've invested a
  lot.] [Give it one more evening, and then be merciless.|Remember it as it was.] {tail?}
""",
    told="""
> We watched {alike}, [as you suggested|in the end]. [Everybody stayed awake!|Not a word for two
  hours.] {aside?} [{Scene} had nothing on that.|My friend wants the director's other ones now.]
< {nice!} [Staying awake is the greatest compliment on a weekday.|Then go through the director's
  early work.] [Which moment was it for you?|Who chooses next?] {tail?}

> That was [a flop|not for us], I'm afraid. [We switched it off after half an hour.|I slept, she
  suffered.] [It was {bad}, mainly.|] {aside?} [What do we do differently?|]
< {pity!} [Half an hour is a fair trial.|Blame me.] [Try something shorter and warmer next
  time.|It's worth asking what each of you was hoping for that evening.] {tail?}

> Our film night [took place {recent}|was a success]. [Six people and three kinds of popcorn.|We
  talked until midnight.] [One rule was broken at once.|The veto came up twice.] {aside?}
< {nice!} [A rule that is broken with laughter is still a rule.|Talking until midnight is what it's
  for.] [Write the titles on a list by the door.|Keep it small for a while.] {tail?}

> I watched it a second time, [and you're right|just for {scene}]. [One notices so much more.|It's
  all there in the first minute.] [Even {bad} bothered me less.|] {aside?}
< {nice!} [The second time, you watch how it's made.|It's a bit like rereading.] [Look at the edges
  of the frame, and at people who aren't speaking.|Once more with the sound off, if you feel like
  it.] {tail?}

> [My daughter|My nephew] wants to make a film now, [with the phone|about the cat]. [There's a
  script already.|I'm playing the villain.] {aside?} [How can I help without taking over?|Any advice
  for beginners?]
< {nice!} [Hold the light and do as you're told.|Three shots for each scene: far, near, hands.]
  [Short is everything: a minute is a long film.|Let the mistakes stay in, they'll be the best part
  later on.] {tail?}

> {hm!} I [read what people wrote about it|looked up the reviews], and [they all hate it|nobody
  mentions {scene}]. {aside?} [Did we see the same thing?|Now I'm unsure.]
< [You saw it, and they had a deadline.|Trust your memory of it.] [A review tells you about the
  reviewer, at least as much.|What they call slow may be just what you liked.] {tail?}
""",
)
