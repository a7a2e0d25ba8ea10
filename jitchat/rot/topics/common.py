"""What is said of any subject."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

COMMON = Topic(
    name="common",
    cases="",
    words="""
turn: New topic. | Something else entirely. | On another note. | Different question. | Completely
  different thing. | Now for something else. | Back with another question. | Can I ask about
  something else? | Another one for you. | Not related at all, but anyway. | Right, next thing.
recent: yesterday | last night | this morning | earlier today | at the weekend | the other day | the
  day before yesterday | this afternoon
hm: Hm. | Right. | Okay. | Ah. | I see. | Makes sense. | Fair enough. | Interesting. | Good point. |
  Ah, okay. | That helps. | Understood. | Oh, nice. | Huh. | True. | Clear enough.
sure: Sure. | Of course. | Gladly. | Certainly. | By all means. | Yes, easily. | Happy to. | With
  pleasure.
nice: Good. | Nice. | Well done. | Lovely. | Glad to hear it. | Excellent. | That's good news. |
  Very good. | Great. | Good to hear.
pity: That's a pity. | Annoying. | Ah, that happens. | Sorry to hear it. | Don't worry. | That's
  frustrating. | It happens to everybody. | Bad luck.
more: One more thing: {tip!} | Also, {tip!} | Oh, and {tip!} | As always, {tip!} | While you're at
  it, {tip!} | Before I forget: {tip!} | Apart from that, {tip!} | If you can, {tip!} | Another
  thing that helps: {tip!} | A small thing, but it matters: {tip!} | Whatever else you do, {tip!} |
  My usual advice on top: {tip!} | And please, {tip!} | Otherwise, {tip!} | And to be safe, {tip!} |
  {Tip!} | {Tip!} | {Tip!} | {Tip!}
tail: {more!} | {Lore!} | {Lore!} {more!} | {more!} {Lore!} | {Lore!} {more!}
aside: {Note!} | {Note!} | {Note!} |
""",
    openings="",
    asked="""
> [Could you|Can you] put that more simply? [You lost me halfway.|I got lost somewhere in the
  middle.|That was a lot at once.|Pretend that I am a complete beginner.]
< {Sure!} {Tip!} {more!} [The rest is detail|Everything else can wait|Nothing else matters much
  yet], and [you will pick it up as you go|we can come back to it when you need it].

> What would you do first, [in my place|if it were your {it}|if you had only one evening]?
< [I would keep it small.|Just one thing at a time.|The dull part first, I'm afraid.] {Tip!} {more!}
  [After that you will see by yourself what comes next.|Then look again before you do more.]

> {hm!} [And is there anything|Is there something] people usually get wrong [with this|here|at this
  point]?
< [Yes, plenty.|A few things.|One or two, yes.] Most of it is [impatience|doing too much at once|
  copying what works for somebody else]. {Tip!} {more!}

> [I'm not convinced|I'm a little sceptical|I have my doubts], to be honest. [A friend|My sister|
  Somebody at work|A neighbour] [swears by|keeps recommending] the exact opposite.
< [Both can work.|They may well be right for their case.|It does depend.] [My reason is simple:|The
  way I see it:|What I had in mind:] [less can go wrong|it is easier to undo|you find out sooner
  whether it suits you]. {tail?} [Try it both ways if you are curious.|]

> [How long does that usually take?|Is that a lot of work?|How much effort is that, honestly?] I
  [tend to underestimate these things|have only the evenings for it|get bored quickly].
< [Less than you fear.|Not long, once you have everything in front of you.|An evening, perhaps two,
  with breaks.] {tail?} [And stop while it is still fun.|Leave some slack for surprises.]

> Could you give me a few rules of thumb [for the {it}|that I can stick on the fridge|to keep in
  mind]? [Short ones, please.|A list would be nice.|]
< {Sure!} [Here is what I'd start with:|These few go a long way:|If I had to choose:] {list tip} [If
  you only remember one of them, take the first.|That covers most of it.|The rest you'll find out by
  yourself.]

> [Do I need|Would I need] to buy anything special for [this|the {it}]? I'd [rather|prefer to] use
  what I have.
< [No, not for a first try.|Not really.|Hardly anything.] [Use what you have|Start with what is in
  the house], and [see what you miss|buy only what you have missed twice]. {tail?}
""",
    told="""
> [Small update|Quick update|Just to report back]: I [followed your advice|did it your way|tried it
  {recent}] and [so far so good|it went better than I thought|the {it} is coming along].
< {nice!} [What was the hardest part?|Anything that surprised you?|Then keep going like that.]
  {tail?}

> [Sorry, I was away for a bit.|I had to leave it for a while.|Life got in the way, so nothing has
  happened since.] [Where were we with the {it}?|What was the next step again?]
< [No hurry at all.|Welcome back.|It doesn't run away.] [The next sensible step is a small one.|I'd
  pick it up gently.] {Tip!} {more!}

> I [changed my mind|have been thinking about it again] [and would rather do less|and want to keep
  it simpler]. [Is that silly?|Does that spoil anything?|Any objections?]
< Not at all, [simpler is usually better|that is often the wiser way|a smaller version that gets
  finished beats a grand one that doesn't]. {tail?} [You can always add to it later.|]

> {hm!} I [got a little impatient|rushed it|skipped a step] {recent}, and [it shows|you can tell|it
  was a mistake].
< {pity!} [Nothing is lost.|That can be put right.|No real harm done.] {tail?} [Next time, go slower
  at exactly that point.|And now you know where the limit is.]

> I told [my other half|my flatmate|a colleague|my brother] about it {recent}, and [got a nod of
  approval|was told that it sounds sensible|now there are two of us]. {aside?}
< [That is worth something.|You see!|I'm not surprised.] [Enjoy it for a moment.|With a witness, one
  keeps at it for longer.] And then [on to the finer points|a little polish, if you like]: {tip!}

> [What would be the next step?|What comes after this?|Where do I go from here?] The basics [seem to
  work|feel fine] now.
< [More of the same, with more attention.|Small steps, as before.|Pick one thing and look at it
  closely.] {Tip!} {more!}
""",
    closings="""
> [Thanks|Thank you|Cheers], [that's all for now|that's plenty to think about|I think I've got it].
  [I'll report back.|I'll let you know how it goes.|]
< You're welcome. [Good luck with the {it}|Have fun with it|Take your time with the {it}], and [come
  back whenever you get stuck|tell me how it turns out|don't be too strict with yourself].

> [Right, enough for today.|Good, I'll leave it there.|I need to run, but this was useful.] [Thanks
  for your patience!|You've been a great help.|]
< [Any time.|My pleasure.|Gladly.] [Let it rest and look at it again with fresh eyes.|A good moment
  to stop, I think.|Tomorrow is soon enough for the rest of it.]

> [Perfect|Brilliant|Lovely|Great], thanks. [That answers everything I had.|No more questions for
  the moment.|I feel much better about it all now.]
< [Glad it helped.|Good to know.|Then my work is done.] [All the best with the {it}|Keep at it], and
  [ask again when something comes up|I'll be here when the next question turns up].

> {hm!} [I'll sleep on that.|Let me chew on that for a while.|I'd better try it before I ask any
  more.] [Thanks so far.|That was useful.]
< [A good idea, it will look different tomorrow.|Do, there's no hurry.|Trying beats asking, at this
  point.] {Lore!}

> [It's late here, so I'll stop.|The doorbell, I have to go.|Dinner is calling.] [Thank you for
  thinking along.|We'll go on another time.|To be continued!]
< [Until next time, then.|Of course, off you go.] [The {it} won't run away.|We can pick it up
  wherever you like.] {Tip!}

> [One last thing before I go|Just one more], [what should I keep in mind above all|if I only
  remember one thing, which should it be]?
< [If it's only one, then this:|That's easy:|Above all:] {tip!} [Everything else follows from
  that.|You'll forget the rest, and that's fine.|The rest comes with practice.]
""",
)
