"""Talk about board games."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

GAMES = Topic(
    name="games",
    cases="""
it: trading game
pieces: coloured cubes | a board of sea routes
issue: one of us always runs away with it | people think for ages
rule: whether one may trade outside one's turn | what happens when the goods run out
other: something with dice and no memory | a short card game

it: cooperative game
pieces: a growing pile of cards | four brave pawns
issue: the loudest plays for everyone | we lose every single time
rule: whether we may show our cards | when exactly the water rises
other: one with a traitor | a puzzle with a clock

it: word game
pieces: tiles | a pad and short pencils
issue: my mother-in-law knows every two-letter word | it ends in tears over foreign words
rule: whether names count | who decides what's a word
other: a drawing game | something without letters

it: strategy game
pieces: little wooden armies | a map with too many rivers
issue: it takes until two in the morning | beginners don't stand a chance
rule: who goes first when it's a draw | how retreating works
other: one that's over in an hour | a calm one about gardens

it: party game
pieces: cards with silly questions | a sand timer
issue: the shy ones suffer | we know all the cards by now
rule: how much one may mime | whether guessing early counts
other: a quiet one with bluffing | something in two teams
""",
    words="""
tip: explain the goal first and the rules after that. | play the first round with open hands. | let
  beginners win something, though not by cheating. | put the snacks on another table. | agree on an
  end before you begin. | read the rules alone, the evening before. | sort the pieces into small
  bowls. | let the person who explains not win. | play the same one three times before you judge it.
  | take turns at choosing. | stop while everybody would like another round. | use a sand timer,
  with a smile. | leave the extension in the box.
lore: Half of all house rules began as a mistake. | Nobody remembers who won, only who gloated. |
  Four is the best number, and five is the usual one. | A good one feels tense and leaves nobody
  out. | Rules are easier to learn from mouth to mouth. | Luck keeps the family at the table. | The
  winner thinks it's skill, and the others know better. | Every group has one who counts cards in
  secret.
note: We play every other Friday, more or less. | Two of us are very competitive. | My nephew is
  eight and reads well. | Space is short, the table seats four. | I hate explaining rules. | My
  partner only plays to please me. | We used to play a lot as students. | Nobody wants to think hard
  after work. | The box has been on the shelf since Christmas.
tell: what the goal is, in one sentence | what a turn looks like | one example with the real pieces
  | the mistake everybody makes at first | how it ends | what you may ignore in the first round
""",
    openings="""
> {aside?} We've got {a it}, [with {pieces} and all|a lovely one with {pieces}], but {issue}. [It
  spoils the evening|The last time somebody left the table], and [I'd like to save it|I don't want
  to sell it]. [Is there a trick?|What would you change?]
< [It's rarely a matter of the rules.|Before you change rules, change the seating.] [Say it openly
  before you start; half of it goes away by that.|Try it once in pairs, so nobody is alone with it.]
  {tail?} [How many are you, as a rule?|Who minds most?]

> I have to explain {a it} to [five people|my whole family] [soon|at the weekend], and [I always
  lose them after two minutes|the booklet is endless]. {aside?} [How do I do that well?|In which
  order do you explain such a thing?]
< [From the end backwards: how you win, then how you get there.|Short, with the pieces in your
  hands.] I'd say, in this order: {numbered tell} [Everything else comes up when it comes up.|Then
  begin, and be wrong together.] {tail?}

> [We're looking for a new game|I want to give somebody a game]. {aside?} [So far we've mostly
  played {a it}.|What we like is {a it}.] [The only thing is that {issue}.|What gets on our nerves:
  {issue}.] [Any ideas?|What would suit us?]
< [Then {other}, I think.|I'd try {other} next.] [It's different enough to be fresh, and you won't
  need a whole evening to learn it.|Borrow one before you buy, many libraries lend them.] {tail?}
  [How many of you are there?|How long may it take?]
""",
    asked="""
> {aside?} There's one thing we never agree on: {rule}. [The booklet doesn't say.|Two of us learnt
  it differently.] [What's the usual way?|How do we settle it?]
< [Both ways are played; the stricter one is the older, as far as I can see.|The usual way is
  whatever you agreed on before it mattered.] [Take the version that keeps everybody in it for
  longer.|Write it on the lid, and it's law.] {tail?}

> What do I do with somebody who [takes ages|hates losing]? [It's my best friend, I can't leave him
  out.|He's forty, by the way.] {aside?}
< [Give him a job: banker, timekeeper, keeper of the snacks.|Choose something with luck in it on
  those evenings.] [A sand timer for everybody is fairer than a hint for one.|Play in teams; nobody
  loses alone.] {tail?}

> Is it all right to [make up rules|leave out half of it]? {aside?} [A purist in our round says
  no.|We've simplified it so much that it's hardly the same.]
< [It's your table.|Of course, that's how most of them were born.] [Change one thing at a time and
  play it twice.|Only agree on it before you start.] {tail?}

> {aside?} How do we [play with children and adults together|make it fair for beginners]? [The
  little ones get bored, the big ones get cross.|She has played it a hundred times.]
< [Pair a small one with a big one.|Give the experienced ones a handicap, openly.] [Shorten it by a
  third for the first time.|Let the beginner go first and take back one move.] {tail?}
> [What kind of handicap?|And who decides when it's over?] [I don't want to be patronising.|We never
  know when to stop.]
< [Keep it simple.|Nothing complicated.] Fewer pieces at the start is the easiest handicap, and
  [agree on a last round rather than on a time|whoever is youngest calls the last round]. [If it
  comes down to the last move, it was about right.|Ask the beginner afterwards, they'll tell you.]
  {tail?}

> I'm thinking about buying {other}. [We only have room for one more box.|My partner thinks we've
  got enough.] {aside?} [Is that very different from {a it}?|Would that suit the same people?]
< [It's different enough to be worth it, I'd say.|It would go down well with the same people, I
  think.] [Look at how long the others wait between two turns.|If you can explain it in five
  minutes, it will be played.] {tail?}
""",
    told="""
> We played it {recent}, [with your way of explaining|as you suggested], and [it was a wonderful
  evening|nobody looked at the clock]. {aside?} [I came last, and didn't mind.|My sister won by a
  single point.]
< {nice!} [Coming last in good company is an art.|A single point is how it should be.] [Play the
  same one again soon, while the rules are fresh.|What did they like best?] {tail?}

> {Issue!}, [yet again|just like last time]. [We stopped in the middle.|There was a silence
  afterwards.] {aside?} [Is it the game, or is it us?|I think I'll give it away.]
< {pity!} [A bit of both, most likely.|Put it away for some months instead.] [Play {other} next time
  and see whether it happens there, too.|Say what you'd like: fun first, and winning second.]
  {tail?}

> [We tried {other}|We borrowed {other}] {recent}. [It took ten minutes to learn.|Even my father
  played.] [Three rounds in a row!|He wants to play again on Sunday.] {aside?}
< {nice!} [When they ask for it themselves, you've found the right one.|Buy that one, then.] [Leave
  the other on the shelf without guilt.|Now let somebody else explain it to the next guest.] {tail?}

> One of the [cards|wooden bits|little pieces] [is missing|got lost]. [I've looked under
  everything.|I suspect the dog.] [Can we play without it?|Is there a way to replace that?] {aside?}
< [Certainly, a button or a coin will do.|You can still play; take a bean from the kitchen.] [Many
  makers send spare parts for the price of a stamp.|It becomes the lucky piece, you'll see.] {tail?}

> I [won|finally beat my brother] {recent}! [By doing nothing until the end.|He has asked for a
  rematch.] [He says it was only luck.|I've been smiling all day.] {aside?}
< {nice!} [It's always luck when somebody else does it.|Doing nothing is an underrated move.] [Enjoy
  it, and don't mention it more than twice.|Give him the rematch, with another game.] {tail?}

> {hm!} About that question, {rule}: [we've changed how we do it|we asked the shop]. [Now it's much
  quicker.|They said both were fine.] {aside?}
< {nice!} [Then it's official, at least at your table.|Good that it's out of the way.] [Put a note
  in the box for your future selves.|See if it still works with five.] {tail?}
""",
)
