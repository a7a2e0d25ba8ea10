"""Talk about planning journeys."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

TRAVEL = Topic(
    name="travel",
    cases="""
it: city break
place: an old town with too many museums | a port with steep alleys
way: the night train | a slow train with a window seat
snag: queues everywhere | everything is uphill
stay: a small hotel near the market | a room over a bakery

it: walking holiday
place: a range of soft hills | a long, empty coast
way: the train and then a bus | a lift from a friend
snag: the weather | heavy bags
stay: village inns | a hut with bunk beds

it: island trip
place: an island with one road | a handful of small islands
way: the ferry | a very small plane
snag: the heat | boats that don't go when it blows
stay: a house with a fig tree | a guest room above the harbour

it: road trip
place: the lakes | the mountain villages
way: a rented van | our old car
snag: long days at the wheel | nowhere to park
stay: campsites | farmhouses along the way

it: visit to friends abroad
place: a big, noisy city | a suburb full of trees
way: a long bus ride | two trains with time for lunch in between
snag: sleeping on a sofa | being shown everything
stay: their spare room | a pension round the corner

it: winter holiday
place: a snowed-in valley | a spa town out of season
way: a sleeper | the mountain railway
snag: short days | wet gloves
stay: a wooden chalet | an old hotel with creaky floors
""",
    words="""
tip: leave one afternoon without any plan. | pack, and then take a third of it out. | keep the first
  day short. | write the address on paper as well. | eat where people are arguing. | book the first
  night and leave the last one open. | carry a snack and a shawl. | walk round the block before you
  look at the map. | see one thing properly instead of five in passing. | learn hello and thank you.
  | take shoes that have already been somewhere. | ask whoever serves you breakfast what they'd do.
  | split the cash over two pockets. | let the youngest choose every other stop.
lore: Nobody remembers the fifth church. | The way there is part of the holiday, or should be. |
  Most plans fail by being too full. | A market tells you more than a museum. | The best day is
  usually the one that went wrong. | Everything takes longer with luggage. | Places are kinder out
  of season. | Two nights in one spot are worth three in three. | You see most in the early morning.
note: We're three, one of them small. | I get travel-sick if I read. | My husband likes plans, I
  like surprises. | We'd rather spend it on food than on rooms. | I don't sleep well in strange
  beds. | We've only got a few days. | I'm afraid of missing connections. | We travel light, or at
  least I do. | My knees set the pace. | It doesn't have to be anything special.
bring: a scarf | an adapter | a paperback you can leave behind | plasters | a cloth bag | a deck of
  cards | ear plugs | a water bottle | a copy of the papers | something sweet
""",
    openings="""
> {aside?} We're [thinking about|dreaming of] {a it}, to {place}, [some time in the spring|before
  the holidays begin|when the crowds are gone]. [We'd go by {way}.|Getting there by {way} would be
  part of the fun.] [What should we think of early?|Where do you begin with something like that?]
< [With the bones: how you get there, where you sleep, and nothing else.|With what you don't want to
  do, that clears the view.] {Stay} [would suit that|sounds right to me], and the rest can grow on
  the way. {tail?} [How do you like to spend your days?|Who is coming along?]

> [Can you help me pack for {a it}?|What do I take on {a it}?] {aside?} [I always take too much of
  everything and forget the one thing.|It has to fit into one bag this time.] [We're going by
  {way}.|]
< [One bag is a blessing, you'll see.|Clothes are the easy part: three of each, and wash.] Besides
  those, I'd think of: {list bring} [Put it all on the bed and look at it for a night.|What you
  hesitate over can stay.] {tail?}

> [Is {place} worth it for {a it}?|Have we picked the right thing? It's to be {a it}, to {place}.]
  {aside?} I'm [a bit worried about {snag}|torn, because of {snag}]. [My friends either loved it or
  fled.|The guidebook is no help, it loves everything.]
< [It can be lovely, if you give it time.|I'd go, and plan around that.] {Snag}: [that's mostly a
  matter of the hour, so be early or late|one gets used to it, or learns to sit down more often].
  {tail?} [What made you think of it?|How long would you have?]
""",
    asked="""
> {Way}, or something quicker? {aside?} [I'd lose half a day, but it sounds so nice.|The others
  would rather just be there.]
< [If you count the waiting, it's hardly slower.|The nice one, if the others can be bribed.] [One
  way slow and one way fast is a good bargain.|Take food along and it becomes an outing of its own.]
  {tail?}

> Where would you stay: {stay}, or [somewhere central with a lift|a flat of our own]? {aside?}
  [We're out all day anyway.|I like to have a place to come back to in the afternoon.]
< [{Stay}, without much thought.|A flat if you like to cook, otherwise {stay}.] [Look at the street
  at night before you fall for the photos.|Ask for a room at the back.] {tail?}

> {aside?} How many things can one see in a day? [Our list has got out of hand.|My sister sent me a
  table with colours.] [I don't want to come home needing a holiday.|]
< [One in the morning, one small one later, and a long lunch in between.|Two, if you want to
  remember them.] [Mark what you'd be sad to miss and throw the rest away.|Group them by
  neighbourhood and never cross the town twice.] {tail?}

> What do we do about {snag}? [It put us off last time.|Everybody warns us about that.] {aside?}
< [Plan the demanding part early in the day and do nothing afterwards.|Expect it, and it bothers you
  half as much.] [Have one place in mind to retreat to.|Leave something out, so there's slack.]
  {tail?}
> [And if it gets too much for one of us?|What if the others want to go on?] [We're not all equally
  fit.|Somebody always sulks by the afternoon.]
< [Split up for a few hours and meet for supper.|Whoever is tired stays and guards a table in the
  shade.] [It's allowed not to do everything together.|You'll have more to tell each other.] {tail?}

> Should we [book everything|reserve tables and tickets] beforehand? [I hate queues, but I hate
  timetables more.|My mother wants to know where we'll be each night.] {aside?}
< [Only what would really spoil it if it were full.|The first night, the way there, and the one
  thing you're going for.] [Everything else is better when you're on the spot.|Keep the
  confirmations on paper, in one envelope.] {tail?}

> How do you [keep children happy|survive long stretches] on {way}? {aside?} [The last time nearly
  broke us.|The question "are we there yet" comes before the first corner.]
< [Food in small portions, and often.|One new thing every hour, wrapped.] [Give them a job: tickets,
  map, counting cows.|Let them pack their own rucksack, within reason.] {tail?}
""",
    told="""
> We're back! [It was wonderful.|What a trip.] The place [was all we had hoped for|turned out quite
  different from what I'd pictured]. {aside?} [The one drawback, {snag}, was as bad as they say.|We
  never made it to half the list, and nobody minded.]
< {nice!} [Write down three small things before they fade.|A list is only there to be ignored.]
  [What did you do that you hadn't planned?|Which day would you have again?] {tail?}

> [It's done, more or less|The bones are there]: we go by {way}, and we've found {stay}. [That took
  three evenings.|We argued only twice.] {aside?} [What's left to do?|What do people forget at this
  stage?]
< {nice!} [Now leave it alone for a while.|Very little, that was most of it.] [See who waters the
  plants, and tell the bank.|Look at what closes on which days.] {tail?}

> [We've had to rethink it.|It all fell through.] [One of us can't get away.|The connection doesn't
  exist any more.] So [it'll be shorter|we'd do something closer to home]. {aside?} [Is it still
  worth it?|What would you do with three days?]
< {pity!} [Three days can be a real holiday if you don't travel on two of them.|Closer is often
  better.] [Pick one place and pretend you live there.|Take the best part of the plan and drop the
  rest.] {tail?}

> Quick question from the road: {snag}, [just as you said|and everybody is grumpy]. [We're sitting
  in a café and licking our wounds.|The little one is asleep on a bench.] [What now?|How do we save
  the day?]
< [Stay where you are and order something else.|Do the least possible for the next two hours.] [Then
  one short, pretty thing towards the evening.|Ask the person at the bar for the nearest shade or
  water.] {tail?}

> {Stay} [was a find|is perfect], [thank you for that|I could stay for ever]. [We hear the bells in
  the morning.|They put out jam of their own making.] {aside?} Should I [leave something|write to
  them]?
< {nice!} [A line by hand goes further than stars on a website.|Write, people pin such things up.]
  [Say what exactly you liked.|And ask whether you may pass on the name.] {tail?}

> I took [far too much|all the wrong things]. [{Bring!} and {bring!} never left the bag, and I wore
  the same jumper throughout.|I never once needed the umbrella.] [Next time I'll listen.|] {aside?}
< [Everyone does, and everyone says so.|Make the list for next time right now.] [What you wore twice
  is what you need.|The jumper clearly knew what it was doing.] {tail?}
""",
)
