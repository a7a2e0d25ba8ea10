"""Talk about books."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

BOOKS = Topic(
    name="books",
    cases="""
it: crime novel
like: the detective is tired and kind | the village knows more than it says
but: I guessed the murderer by the middle | the weather is described on every page
mood: rain and a lamp
next: something colder and further north | an old one, with a butler

it: family saga
like: the grandmother runs everything from her chair | the house is almost a person
but: I mix up the cousins | it loses its way after the war
mood: a long weekend
next: one with fewer people in it | letters instead of chapters

it: science fiction novel
like: the aliens stay strange | it's really about us
but: the first chapters are all invented words | everybody talks like an engineer
mood: a train with a window seat
next: short stories by the same sort of mind | something with humour

it: collection of essays
like: she notices what the rest of us overlook | every one begins somewhere unexpected
but: the quotations get in the way | a few of them feel dutiful
mood: half an hour before sleep
next: a diary | nature writing without raptures

it: historical novel
like: one can smell the streets | nobody talks like today
but: the author has done too much research and shows it | the ending is in every schoolbook
mood: a sofa in November
next: a biography | the same century from below

it: poetry anthology
like: there's one for every state of mind | it can be opened anywhere
but: some of them I simply don't get | the old ones need a footnote for each line
mood: a bench in the sun
next: one poet at length | something read aloud by the author
""",
    words="""
tip: give it fifty pages, and then allow yourself to stop. | read the first page aloud. | keep a
  pencil in it. | have one for the day and one for the night. | skip without shame. | leave the
  foreword for last. | put the phone in another room. | lend the good ones and don't expect them
  back. | ask somebody whose taste differs from yours. | reread one you loved long ago. | stop in
  the middle of a scene, so you want to go on. | choose by the second page, the first has been
  polished. | borrow before you buy.
lore: The right one at the wrong time is the wrong one. | Nobody has read all of what they quote. |
  Slow readers often remember more. | A good translation is half a new work. | Blurbs are written by
  people in a hurry. | Reading comes in seasons. | Thick ones are often quicker than thin ones. | An
  unread pile is a form of hope.
note: I used to read a lot more. | I fall asleep after two pages. | There's a pile next to my bed
  that looks at me. | I like to be taken somewhere else. | I don't need a happy ending, but some
  hope. | Mostly I read on the train. | I gave up on the one everybody praises. | I listen while I
  cook, if that counts. | Our library is tiny, but they can order anything.
talk: which character would you leave out | where did you stop believing it | what would be
  different if somebody else told it | which sentence did you mark | did the ending surprise you |
  who would you give it to
""",
    openings="""
> {aside?} I'm looking for something to read, [{a it}, perhaps|I fancy {a it}]. [It's meant for
  {mood}.|It ought to go with {mood}.] [The last one I loved because {like}.|What I liked about the
  last one: {like}.] [Any ideas what direction to take?|What do I look out for?]
< [Then stay near that and change one thing.|That tells me more than a title would.] [If what you
  liked is that {like}, I'd look for {next}.|{Next} would be my suggestion.] {tail?} [How patient
  are you with slow beginnings?|Do you mind if it's sad?]

> {Recent} I finished {a it}, and [I don't know what to think of it|I need to talk about it]. [I
  love how {like}.|On the one hand, {like}.] [But {but}.|On the other hand, {but}.] {aside?} [Is it
  me?|How do you see that?]
< [Both can be true, that's what makes it interesting.|It sounds as if it did something to you, at
  least.] [A flaw that one can name is rarely fatal.|What stays with you after a week is the better
  judge.] {tail?} [Would you read another by the same hand?|Where did it win you over?]

> [I'm in a small reading group|We've started a book club at work], and it's my turn to lead.
  {aside?} [We've read {a it}.|I chose {a it}, and half of them hated it.] How do I [get them
  talking|keep it from becoming a lesson]?
< [Hate is a good start for an evening.|Don't ask whether they liked it.] Bring a few open
  questions, such as: {list talk} [Then be quiet for longer than is comfortable.|And put something
  to eat in the middle.] {tail?}
""",
    asked="""
> {aside?} Do you finish what you've begun? [I'm stuck on page ninety of {a it}.|I feel I owe it to
  the author.] The thing is that {but}.
< [You owe the author nothing, you've paid.|I'd stop, if I read for pleasure.] [Put it back with a
  bookmark in it; perhaps it's only the wrong month.|Read the last chapter and see whether you want
  to know how it got there.] {tail?}

> How do I find time to read again? [In the evening I only look at my phone.|By the time all is
  quiet, so am I.] {aside?}
< [Don't look for time, look for a place.|A quarter of an hour before you get up works for some.]
  [Leave it where the phone used to lie.|Begin with something far below your standards, and very
  exciting.] {tail?}

> Is listening [the same as reading|cheating]? [I've had three of them in my ears this month.|My
  friend, who teaches, raised an eyebrow.] {aside?}
< [It's the older of the two.|Cheating whom?] [A good voice can lift a mediocre one.|For anything
  with a plot it works beautifully, for essays less so.] {tail?}

> What would you give to somebody who [doesn't read|has read everything]? {aside?} [It's for my
  brother-in-law.|I have two days to think of something.] [I thought of {a it}.|]
< [Something short, with pictures or with murder.|One you love yourself, with a note in it.] [{Next}
  might be safe.|Second-hand, and with an old inscription, it's always a success.] {tail?}

> {aside?} I'd like to read more [widely|old things], but [where do I begin|how do I lose my fear of
  the classics]? [School spoiled them for me.|They're so thick, and everybody has an opinion.]
< [Begin with the short ones, they wrote those too.|With whatever still makes people laugh.] [Take a
  recent translation, it makes a world of difference.|Read it as if it had come out last week.]
  {tail?}
> [Such as?|How do I recognise a good translation?] [I don't want to order five of them.|In the shop
  they all look alike.]
< [Open it somewhere in the middle and read a bit of dialogue.|Compare one paragraph in two of
  them.] [If people sound as though they were alive, take it.|The one you read faster is the better
  one.] {tail?}

> [Do you think|Would you say] it matters that {but}? [My colleague gave up because of it.|It
  spoiled the second half for me.] {aside?}
< [Less on a second reading.|For some readers it's the whole charm.] [I'd read on for the rest of
  it: {like}.|If the voice carries you, one forgives a lot.] {tail?}
""",
    told="""
> I [started|am halfway through] {next} {recent}, [your suggestion|as you said], and [I missed my
  stop|I was up far too late]. {aside?} [That hasn't happened for years.|Just what I needed.]
< {nice!} [Missing a stop is the highest praise there is.|Don't read the last pages in the evening.]
  [What is it that has you?|Tell me when you're through, I'm curious about the end.] {tail?}

> I gave up. [Sorry.|Page sixty.] {But!}, [and life is short|that was the last straw]. [I feel
  strangely free.|I feel a bit guilty.] {aside?} [What now?|]
< [Free is the right feeling.|No need to be sorry.] [Now read something you've read before, as a
  holiday.|Now take {next}, and quickly.] {tail?}

> Our group met {recent}. [We argued for an hour, in the best way.|Two hadn't read it and had the
  strongest opinions.] [Somebody defended it because {like}.|The quietest of us said that {like},
  and everybody nodded.] {aside?}
< {nice!} [That's worth more than agreement.|The ones who haven't read it always do.] [Who picks the
  next?|Write down what the quiet one said.] {tail?}

> [I lent it to my mother|I passed it on to a colleague], and [she loved it|she thought it was
  dreadful], [for the very thing that bothered me: {but!}|though I'd warned her: {but!}]. [Isn't
  that funny?|]
< [There's no arguing about that, and it's fun all the same.|One reader's flaw is another one's
  favourite part.] [Ask her for one of hers in return.|You'll know each other better now.] {tail?}

> {hm!} I looked for {next} in [the library|the shop on the corner], and [they had to order it|found
  something else altogether]. {aside?} [The cover won me over, I admit.|The lady at the desk knew it
  by heart.]
< {nice!} [Choosing by the cover is better than its reputation.|Ask that lady every time.] [What you
  find by accident, you read without expectations.|It may be a while, so have a filler ready.]
  {tail?}

> I've started [writing down what I read|keeping a list]. [Only the date and a word.|My sister gave
  me a nice little book for it.] [Three so far, and one that I dropped.|It makes me read more, which
  is silly.] {aside?}
< {nice!} [Silly things that work are the best ones.|A line is enough to bring it all back.] [Mark
  the ones you'd give away as presents.|Don't set yourself a number.] {tail?}
""",
)
