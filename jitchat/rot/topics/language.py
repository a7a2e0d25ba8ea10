"""Talk about learning a language."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

LANGUAGE = Topic(
    name="language",
    cases="""
it: Spanish
hard: the two past tenses | the subjunctive
sound: the rolled r
sample: the word "ojalá" | the word "estrenar"
goal: talk to my in-laws | read a newspaper without sweating

it: Italian
hard: the little words like "ne" and "ci" | the articles
sound: the double consonants
sample: the word "magari" | the word "boh"
goal: order a meal and be understood | follow an opera without the surtitles

it: Japanese
hard: the particles | counting things
sound: the long vowels
sample: the word "komorebi" | the word "natsukashii"
goal: read a comic | get by on a trip

it: Swedish
hard: the word order | the two genders
sound: the melody
sample: the word "lagom" | the word "fika"
goal: watch crime series without help | chat with the family next door

it: Polish
hard: the seven cases | the pairs of verbs
sound: all those kinds of sh
sample: the word "załatwić" | the word "żaba"
goal: surprise my grandmother | understand what my colleagues whisper

it: Portuguese
hard: the personal infinitive | when to say "ser" and when "estar"
sound: the swallowed vowels
sample: the word "saudade" | the word "desenrascar"
goal: sing along properly | live there for a while

it: Welsh
hard: the mutations | saying yes, which depends on the question
sound: the double l
sample: the word "hiraeth" | the word "cwtch"
goal: talk to my neighbours in their own tongue | read the road signs aloud
""",
    words="""
tip: learn whole phrases rather than single words. | say it aloud, even if only to the kettle. | do
  a little every day instead of a lot on Sundays. | listen to the same short piece until you know it
  by heart. | write three sentences about your day. | guess before you look it up. | keep a list of
  the mistakes you make most. | talk around the word you don't know. | read something that is
  slightly too easy. | change the language of one gadget in the house. | repeat after somebody, a
  beat behind them. | speak before you feel ready. | pick ten words a week and use them all. | stop
  the lesson while you still enjoy it.
lore: Understanding always runs ahead of speaking. | Everybody hits a plateau, usually after the
  basics. | Children aren't better at it, they only have more time and less shame. | Grammar is
  easier to notice than to memorise. | You forget most at the beginning, which is why the first
  repetition matters. | Accents come from the ear rather than the tongue. | A thousand common words
  cover most of a conversation. | Tiredness takes the newest words first.
note: I have about a quarter of an hour a day. | At school I was hopeless at languages. | I use one
  of those apps with the streaks. | There is nobody here I could practise with. | I read quite well,
  but as soon as somebody talks to me, I freeze. | I like grammar, strangely enough. | My accent
  makes people smile. | I learnt it once and lost it. | The evening class was cancelled.
plan: ten minutes of listening over breakfast | a page of an easy book | five cards, old ones first
  | one voice message to yourself | a song, with the words in front of you | a short chat with
  anybody who will have you
""",
    openings="""
> I'm [learning|trying to learn] {it} [on my own|again, after years], [so that I can|because I want
  to] {goal}. {aside?} [But I keep tripping over {hard}.|What defeats me is {hard}.] [Is there a way
  to make that stick?|How did others get past that?]
< [That is where most people groan, so you're in good company.|It looks like a wall and turns out to
  be a slope.] [Don't learn the rule first; collect ten sentences that use it and read them aloud
  for a week.|Leave the tables for later and learn three examples that you'd really say.] {tail?}
  [What do you use so far?|How long have you been at it?]

> [Could you make me a simple routine for {it}?|How would you spend twenty minutes a day on {it}?]
  {aside?} [I want to {goal}, nothing more.|My aim is to {goal}, one day.] [I get lost in all the
  material.|I have three books and finish none.]
< [One book is plenty, and the rest is contact with the language.|Short and daily beats long and
  rarely.] Pick from these, two or three a day: {list plan} [Put the book last, so that the rest
  isn't skipped.|When you miss a day, just go on with the next.] {tail?}

> {Recent} I [heard|came across] {sample}, and [I fell in love with the language all over again|it
  made me want to go on with my {it}]. {aside?} [How do I get from collecting pretty words to
  speaking?|I understand quite a lot by now, but I can't say anything.]
< [Pretty words are as good a door as any.|That's a normal stage: the ear is ahead of the mouth.]
  [Take one such word and build five sentences around it, as plain as you like.|Start by answering
  questions that you ask yourself aloud.] {tail?}
""",
    asked="""
> Should I work on {sound}, [or does nobody care|or is that vanity]? {aside?} [I practise in the
  shower and it sounds like an engine.|People understand me anyway, mostly.]
< [Less than teachers say, and more than not at all.|People will understand you, but it's worth a
  few minutes a day.] [Exaggerate it until it feels ridiculous; that's usually about right.|Record
  yourself next to a native speaker and listen to both.] {tail?}

> {aside?} Do I have to learn {hard} [now|properly], or can I [leave it for later|bluff my way
  through]? [I lose all courage when I look at the table.|My book spends two chapters on it.]
< [You can bluff for a surprisingly long time.|Later is fine; keep an ear out for it in the
  meantime.] [Learn the two or three forms that come up all the time and treat them like
  words.|People will know what you mean, and some will tell you the right form.] {tail?}

> Which is better, [films with subtitles or without|a teacher or an app|reading or listening]? [I
  only have time for one.|I ask everybody and get different answers.] {aside?}
< [The one you'll still be doing in three months.|Both have their place, but if I had to choose, I'd
  listen.] [Watch one scene three times: with help, with the original text, and bare.|A person for
  speaking, a machine for drilling, and neither of them every day.] {tail?}

> How do I find somebody to [talk to|practise {it} with]? [I'm shy, and my sentences come out in
  slow motion.|There's nobody in this town, as far as I know.] {aside?}
< [Look for somebody who wants to learn your language, so both of you are beginners at
  something.|Libraries and choirs often know somebody.] [Agree on a topic beforehand and prepare ten
  words.|Half an hour is enough, and after that everybody is tired.] {tail?}
> [And what do I talk about?|What if I don't understand a word?] [I'm afraid of the silence.|I'd
  probably just nod.]
< [Bring a photograph and describe it.|Ask them to show you instead of tell you.] [Learn to say
  "more slowly, please" and "what is that called?" until they come out by themselves.|Nodding is
  allowed twice; the third time, ask.] {tail?}

> [Where does {sample!} come from?|Do people really say {sample!}?] I [saw it on a mug|found it in a
  song] and [now I hear it everywhere|I'd like to use it]. {aside?}
< [It's more ordinary to them than to us, I think.|Words like that are never quite translatable,
  which is half their charm.] [Use it once, in passing, and watch the face of the other person.|Try
  to find three sentences where somebody really said it.] {tail?}

> {aside?} I [can't remember|keep losing] words. [I look one up, and ten minutes later it's
  gone.|I've looked up the word for "spoon" about thirty times.] [Is it my age?|Any tricks for
  that?]
< [It isn't your age, it's how words are.|That's normal: a word needs to be met a dozen times.]
  [Make a silly picture out of it, the sillier the better.|Put it in a sentence about somebody you
  know.] {tail?}
""",
    told="""
> I had my first real conversation {recent}! [It was about the weather and lasted four
  minutes.|Mostly I said yes and laughed.] [They answered me in {it}, not in English.|I even got
  {hard} right, once.] {aside?}
< {nice!} [Four minutes are an eternity in another language.|That's the step that counts.] [Write
  down what you wanted to say and couldn't, while it's fresh.|What was the first thing you got stuck
  on?] {tail?}

> I [embarrassed myself|made a terrible mistake] {recent}: I [mixed up two words|said the formal
  thing to a child], and [everybody roared|there was a long pause]. {aside?} [I went red to the
  ears.|I'll never open my mouth again.]
< {pity!} [You'll never mix those up again, which is a kind of gift.|Every speaker of a second
  language has such a story.] [Tell it yourself next time, it makes a good opening.|They'll remember
  it fondly, believe me.] {tail?}

> The [routine|daily bit] works [better than I thought|so far]. [I do it with my coffee.|Twelve days
  in a row!] [Only the listening is hard.|But I skip the speaking, I admit.] {aside?}
< {nice!} [Then make the hard part shorter instead of dropping it.|Speak to yourself in the kitchen,
  nobody marks you.] [Take a recording you already know and listen without looking.|One sentence
  aloud a day still counts.] {tail?}

> I'm [stuck|not moving forward]. [I understand the beginners' things and nothing beyond.|Everything
  is either too easy or far too hard.] [It was more fun at the start.|Sometimes I think of switching
  to something easier.]
< {pity!} [That's the plateau, and everybody camps there for a while.|It means you've used up the
  quick wins.] [Choose one subject you love and read only about that; the words repeat.|Go back to
  an old lesson and see how easy it has become.] {tail?}

> [I watched a whole film in {it}|I finished my first book in {it}] {recent}. [I got perhaps half of
  it.|It was meant for ten-year-olds, but still.] {aside?} [Should I have looked up more?|Does that
  count?]
< {nice!} [Of course it counts.|Half is enough to enjoy a story.] [Look up only what comes back a
  third time.|Do the same one again in a month, and you'll see the difference.] {tail?}

> {hm!} [We might go there after all|We're going there], so I'd have to [use it in earnest|speak to
  real people]. [Which phrases should I have at hand?|How do I prepare in the time left?] {aside?}
< [Rehearse the ten situations that are sure to come up: buying, asking, thanking,
  apologising.|Better a few things that come without thinking than many that don't.] [Practise
  numbers and polite noises, they come up all day.|Learn to ask back, so the other person does the
  talking.] {tail?}
""",
)
