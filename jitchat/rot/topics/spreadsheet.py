"""Talk about spreadsheets."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

SPREADSHEET = Topic(
    name="spreadsheet",
    cases="""
it: rota
column: names | shifts
mess: names spelled three ways | merged cells all over the place
want: see at a glance who is free
formula: `=COUNTIF(B:B, "late")`

it: inventory list
column: amounts | shelves
mess: amounts typed as text | blank rows in between
want: know what is running low
formula: `=IF(C2<D2, "order", "")`

it: survey sheet
column: answers | age groups
mess: three different ways of writing "no" | comments in the number column
want: count the answers by group
formula: `=COUNTIFS(B:B, "yes", C:C, "north")`

it: club membership list
column: joining dates | addresses
mess: dates that are sometimes text | people who are in there twice
want: find out who hasn't paid
formula: `=UNIQUE(A2:A200)`

it: training log
column: distances | weeks
mess: a decimal comma here and a point there | days without an entry
want: draw a line that goes up
formula: `=AVERAGE(C2:C8)`

it: seating plan
column: tables | wishes
mess: colours that mean something to one person | arrows drawn by hand
want: shuffle people without breaking the wishes
formula: `=SORT(A2:C40, 2)`
""",
    words="""
tip: keep one row for one thing. | never merge cells in a table you want to sort. | work on a copy.
  | give the columns short names without blanks. | put the raw data on a sheet of its own. | write
  the formula for a single row before you drag it down. | sort by each column once and look at both
  ends. | use a filter before you write a formula. | colour things last, and only for people. |
  freeze the top row. | write down on a note sheet what each column means. | check the total against
  something you know. | turn the range into a proper table. | hide nothing that you might forget.
lore: Sorting is the quickest way to find nonsense. | Dates are numbers in disguise. | A blank isn't
  a zero, and it shows in every average. | Colours can't be counted, columns can. | Most errors come
  from a range that is one row short. | Pivot tables look harder than they are. | What was pasted
  from an email brings invisible blanks along. | Every sheet lives longer than it was meant to.
note: I inherited it from somebody who left. | Five people type into it. | I know the basics, sums
  and so on. | It has grown for years, without a plan. | The boss only looks at the chart. | I don't
  want to write macros. | It's slow, and it crashes now and then. | Half of it I don't dare to
  touch. | I'd like others to be able to use it, too.
step: copy the sheet and rename the old one | remove the blank rows | split what stands together in
  one cell | trim the blanks | turn text into numbers | make a list of the allowed values | sort
  once by every column
""",
    openings="""
> {aside?} I have {a it}, and it's full of {mess}. [All I want is to {want}.|The aim is to {want}.]
  [Is there a sane way to do that?|Where would you start?]
< [There is, but clean up before you calculate.|First the data, then the formula.] [As long as there
  are {mess}, any result would be wrong with great confidence.|Half an hour on that saves you a week
  of doubts.] {tail?} [How many rows is it?|Who else uses it?]

> [How do I|What's the easiest way to] {want}? It's for {a it}. {aside?} [I've been doing it by
  eye.|I tried a formula from the internet, and it gave me an error in capital letters.]
< [That's one formula, more or less.|Not hard, if the columns are clean.] Try {formula} [and change
  the letters to fit yours|in an empty column, to begin with]. [If it says something odd, look at
  the {column} first.|Check it on three rows you can count by hand.] {tail?}

> {Recent} somebody [handed me|left me] {a it}, with {mess}. {aside?} [It's my job to make it
  usable.|I could laugh or cry.] [In which order do I clean that up?|Is there a method?]
< [There is, and it's mostly dull.|Laugh first.] Go through it like this: {numbered step} [After
  that, half of your questions answer themselves.|Only then think about formulas.]
""",
    asked="""
> What does {formula} [actually do|mean, in plain words]? {aside?} [A colleague put it in and left
  for the holidays.|I copied it from somewhere, and it works, which worries me.]
< [It's less mysterious than it looks.|Read it from the inside out.] [It looks at a range, picks
  what fits and gives you one value back.|The part in brackets says where to look, the rest says
  what to do with it.] [Try it on four rows where you know the answer.|Click into it, and the ranges
  light up.] {tail?}

> {aside?} How do I get rid of {mess}? [There are hundreds.|By hand would take me until Christmas.]
< [Make a list of the different values first; there are usually fewer than you think.|Filter for one
  kind, fix it in one go, move on to the next.] [Search and replace does most of it.|A helper column
  with `=TRIM(A2)` takes care of the invisible ones.] {tail?}

> Do I need a pivot table for that? [Everybody says so and nobody explains it.|I've clicked on it
  twice and closed it again.] {aside?}
< [Not necessarily, but it's a good friend.|For counting by groups, it's the quickest way.] [Drag
  the {column} to the side and anything at all into the middle, and look at what happens.|You can't
  break anything, it only looks.] {tail?}
> [I dragged something and now it counts instead of adding.|It shows "blank" as a group.] [Is that
  my fault?|What did I do?]
< [It counts whenever there's text among the numbers.|That's an empty cell somewhere in the column.]
  [Sort the column and look at the very bottom.|Clean that one up and refresh it.] {tail?}

> How do I keep people from [typing whatever they like|breaking it]? {aside?} [Every week there's a
  new spelling.|Somebody always writes "see email".]
< [Give them a list to choose from.|Protect everything except the cells they need.] [A short note at
  the top helps more than a long manual.|Make the right way the easiest one.] {tail?}

> Is a spreadsheet even the right thing for {a it}? [A friend says I need a database.|It feels like
  using a spoon as a shovel.] {aside?}
< [As long as one person at a time is enough, yes.|For a few thousand rows, it's fine.] [When you
  begin to copy the same thing into several sheets, think again.|What matters is that each thing is
  written down in one place only.] {tail?}

> {aside?} Which chart would you use [for that|for the {column}]? [The pie is so pretty and so
  useless.|I tried all of them and liked none.] I want to {want}.
< [Bars, sorted by size.|A line if it's about time, bars for nearly everything else.] [Leave out the
  legend and write the words next to the line.|Take away whatever doesn't change the message.]
  {tail?}
""",
    told="""
> It works! {formula} [did the trick|was what I needed], [with my letters in it|on the second
  attempt]. {aside?} [I can finally {want}.|People think I'm a wizard.]
< {nice!} [Don't tell them how short it was.|Note next to it what it does, for the next person.]
  [Does the total agree with what you expected?|Try to break it with an odd value before others do.]
  {tail?}

> [Hm, it says something about a circular reference.|All I get is an error with a hash in front.]
  {aside?} [I changed nothing, I swear.|It was fine {recent}.] [What does it want from me?|]
< {pity!} [The formula includes the cell it stands in, somewhere.|It's looking for something that
  isn't there any more.] [Click on it and follow the coloured frames.|Undo until it's gone, then see
  which step it was.] {tail?}

> I cleaned up the {column} {recent}. [It took two hours and was oddly soothing.|There were eleven
  ways of writing the same thing.] [Now everything sorts properly.|Suddenly half of the formulas
  agree.]
< {nice!} [Lock that column so it stays clean.|Keep the list of spellings, you'll need it again.]
  [Now is the moment to make a copy.|What do you want to see first?] {tail?}

> Somebody [sorted only one column|deleted a row] {recent}, and now [nothing fits
  together|everything is off by one]. [I could scream.|There was no warning at all.] {aside?} [Can
  that be undone?|]
< {pity!} [Look at the version history before anybody types again.|If there's a copy, this is its
  hour.] [Then turn the range into a table, so that rows stay together.|And give each row a number
  of its own, which survives any sorting.] {tail?}

> {hm!} The boss wants it [as a picture|in colour|on one page]. {aside?} [Sigh.|I'd just got it
  tidy.] [How do I do that without ruining the data?|]
< [Make a second sheet only for looking at.|Leave the data alone and build the pretty part beside
  it.] [Let it refer to the first one, so it stays up to date.|Three colours at most, and one of
  them grey.] {tail?}

> I showed a colleague how to [use the filter|{want}], and [now everybody asks me|she was
  delighted]. [I've become the person for spreadsheets.|It felt good to know something.]
< {nice!} [There are worse things to be known for.|Teaching it is the best way of learning it.]
  [Write the three questions you get most on a note.|Charge in biscuits.] {tail?}
""",
)
