"""Talk about neighbours."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

NEIGHBOURS = Topic(
    name="neighbours",
    cases="""
it: noise problem
who: the couple above us | the students on the top floor
what: they move furniture at midnight | somebody practises tap dancing, or so it sounds
wish: quiet after ten | a rug
offer: felt pads for the chairs | a word when we're going to be loud ourselves

it: hedge question
who: the man next door | the old lady behind us
what: it grows into our side | it gets cut down to the ground every spring
wish: a height we can both live with | some privacy
offer: doing the cutting together | lending the long ladder

it: stairwell problem
who: the family on the ground floor | half of the house
what: prams, boots and a broken chair block the way | nobody ever sweeps
wish: a clear path to the door | a list that people keep to
offer: clearing out the cellar together | taking the first turn

it: summer party
who: the whole street | the new people at the corner
what: nobody knows who brings what | the last one ended in an argument about music
wish: a long table and no speeches | everybody going home as friends
offer: borrowing benches from the choir | baking

it: parcel business
who: the shop downstairs | the woman across the landing
what: everything ends up with us | I keep ringing at a bad moment
wish: a break from being the post office | a simple arrangement
offer: a box in the hall | cake, for all those favours

it: dog question
who: the young man with the terrier | the people with the two spaniels
what: it starts the moment they leave | it sets off every other dog in the street
wish: one quiet hour in the afternoon | a friendly talk about it
offer: walking it now and then | a spare toy
""",
    words="""
tip: talk before you write, and write before you complain. | choose a good moment, never the loud
  one. | say what it does to you rather than what they are. | ask whether they know how it sounds on
  your side. | bring something along, even if it's only a jar of jam. | leave them a way to agree
  without losing face. | suggest something you could do yourself. | keep it to one subject. | thank
  them when it gets better, even a little. | count to three before you answer. | find out their name
  first. | don't collect grievances for the big day. | let small things go, visibly.
lore: Hardly anybody knows how far sound carries. | A first talk decides about the next five years.
  | Notes in the hallway always sound ruder than they were meant. | It's hard to shout at somebody
  whose cake you've eaten. | People defend themselves first and think about it afterwards. | Being
  right has never made anybody quieter. | Whoever moved in last is always to blame.
note: We've lived here for three years. | I don't like arguments at all. | My partner would have
  rung the bell long ago. | We greet each other, but that's about it. | The walls are thin as paper.
  | I don't want to be that kind of neighbour. | Otherwise they're very nice. | The landlord doesn't
  answer. | Perhaps I'm too sensitive.
say: how you noticed it, and since when | that you're sure they don't mean it | what you'd wish for,
  in one sentence | what you could do yourself | a question at the end | a thank you, in advance
""",
    openings="""
> {aside?} I need advice about {who}. [It's about the {it}:|The usual:] {what}. [I've said nothing
  so far|I made a joke about it once, which went right past them], and [it's beginning to eat at
  me|I'd like to sort it out without a war]. [How would you begin?|What would you say?]
< [In person, at a quiet hour, and briefly.|With a visit that isn't about that, if you can.]
  [Chances are that they don't know.|Assume that they mean well, it makes your voice friendlier.]
  [What you'd like is {wish}, so say just that.|Have one clear wish ready: {wish}.] {tail?}

> Could you help me write a note to {who}? {aside?} [They're never in when I am.|I'd rather talk,
  but I can't catch them.] [The point is that {what}.|You see, {what}.] It should be [friendly, but
  not spineless|short and without exclamation marks].
< {Sure!} [I'd put in, in this order:|Keep it to a few lines, by hand:] {list say} [Sign it with
  your name and the floor, so they can come and talk.|Let it lie for a night before you put it
  through the door.] {tail?}

> {Recent} I [met|ran into] {who} [on the stairs|by the bins], and [we got talking|it came up at
  last]: {what}. {aside?} [They had no idea!|They said we're not exactly silent either.] [How do I
  go on from there?|What would be a good next step?]
< [That's better than most first talks.|Good, the ice is broken.] [Offer something, and don't wait
  for them to: {offer}, for instance.|You could suggest {offer}.] {tail?} [How did they sound?|What
  was your feeling afterwards?]
""",
    asked="""
> {aside?} What if they [take it badly|laugh at me]? [I turn red and say yes to everything.|I'd have
  to meet them at the bins for years to come.]
< [Then you leave it for that day, and nothing is lost.|That's the worst case, and it is rare.] [Say
  that you'll think about it too, and go.|A sentence you've prepared helps: what you'd like, and
  why.] {tail?}

> Is {wish} too much to ask? [I can't tell any more.|My sister thinks I'm fussy.] {aside?}
< [Not at all, most people would say the same.|It's a fair wish.] [Ask for it as a favour rather
  than as a right.|You can always meet halfway, but start with what you'd like.] {tail?}

> Should I [ask the others in the house|find allies] first? {aside?} [I can't be the only one.|The
  woman from the second floor rolls her eyes as well.]
< [You may ask, but don't come as a delegation.|A quiet word with one of them, perhaps.] [Two
  against one feels like a trial.|It helps you to know whether it's only you.] {tail?}

> {aside?} Would {offer} be a good idea, or [does it look as if I wanted to bribe them|is that
  overdoing it]? [I'd gladly do it.|I like the thought.]
< [I like it, it changes the tune.|A little bribery has kept many a house at peace.] [Do it without
  tying it to anything.|Offer it once and don't push.] {tail?}
> [And if they say no?|What if they only say "we'll see"?] [They're polite people, one never
  knows.|That's what they said to the landlord, too.]
< [Then you've lost nothing and shown goodwill.|Give it a week.] ["We'll see" often means "I have to
  ask at home".|Ask again in passing, about something else, and see whether they bring it up.]
  {tail?}

> My partner wants to [call the landlord|write a letter] straight away. [I think that's too
  much.|Part of me agrees.] {aside?} [Who's right?|How do we settle that between us?]
< [Both of you, only in a different order.|You're right about the first step, and your partner about
  the third.] [Try one friendly talk first, and agree on how long you'll wait.|Write the letter now,
  if it helps, and keep it in the drawer.] {tail?}
""",
    told="""
> I did it! [I rang the bell|I caught them in the hall] {recent}, and [they were charming|we ended
  up having tea]. [They'd been afraid that we were annoyed.|It had never occurred to them.] {aside?}
< {nice!} [That's how it goes more often than not.|Now you have names for each other.] [Give it a
  few days before you listen for results.|What did you say in the end?] {tail?}

> {hm!} I talked to them, but [nothing has changed|it got better for three days]. {What}, [again|as
  ever]. [I feel foolish.|I'm back to listening for every little thing.] {aside?}
< {pity!} [Three days are a beginning: they tried.|Habits are slow, theirs as well.] [Remind them
  once, lightly, and thank them for the three days.|Ask whether something would make it easier for
  them.] {tail?}

> They [left a note and some biscuits|brought us flowers from their garden] {recent}. [I'm quite
  touched.|Now I feel bad for grumbling.] [What do I do in return?|Do I have to reciprocate?]
  {aside?}
< {nice!} [A thank you over the fence is enough.|Nothing right away, just eat them.] [Bring back the
  plate with something on it, as one does.|{Offer} would be a kind answer.] {tail?}

> It [turned out to be somebody else entirely|wasn't them at all]. [I had suspected {who} for
  months.|How embarrassing, after all I've said.] {aside?} [Good thing I asked first.|]
< {nice!} [The best argument for a friendly tone there is.|Sound travels round corners in old
  houses.] [You can laugh about it together now.|Then begin again, one door further.] {tail?}

> There was [an argument on the landing|shouting] {recent}. [I said things I'm not proud of.|He
  slammed the door.] [How do I get out of that?|Is it beyond repair?] {aside?}
< {pity!} [Hardly anything is beyond repair between neighbours.|It was a bad moment, not a bad
  person.] [Apologise for the tone, and only for the tone.|Wait a day and ring, with empty hands and
  a short sentence.] {tail?}
> [I went over|I apologised], and [he apologised, too|he was relieved, I think]. [It wasn't about
  the {it} at all.|He'd had an awful week.]
< {nice!} [It rarely is.|That took some courage.] [Leave the subject alone for a while.|When it
  comes up again, you'll both be milder.] {tail?}

> [We've found a way|It's sorted], [more or less|believe it or not]: {offer}, and [everybody is
  happy|they do the rest]. {aside?} [It was so simple in the end.|Why didn't we do that years ago?]
< {nice!} [Nobody wants to be the first to ring.|Simple things need the longest run-up.] [Say once
  in a while that it works.|Keep it going with a wave now and then.] {tail?}
""",
)
