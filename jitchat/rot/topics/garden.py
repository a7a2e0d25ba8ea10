"""Talk about the garden."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

GARDEN = Topic(
    name="garden",
    cases="""
it: tomato bed
crop: tomatoes
trouble: the lower leaves are turning yellow | the flowers drop off before anything comes of them
culprit: uneven watering | a run of cold nights
remedy: a thick layer of straw | watering deeply, but less often

it: herb box
crop: basil and parsley
trouble: everything looks leggy and pale | half of it wilts by noon
culprit: too little light | a pot that is far too small
remedy: a sunnier windowsill | pinching out the tops

it: bean row
crop: runner beans
trouble: something eats the shoots at night | the vines climb and climb, but nothing flowers
culprit: slugs, most likely | too rich a soil
remedy: a ring of rough bark | an evening patrol with a torch

it: rose border
crop: roses
trouble: there are black spots all over the leaves | the buds go brown and never open
culprit: damp leaves and still air | weeks of rain
remedy: clearing every fallen leaf | opening up the middle with the secateurs

it: strawberry planter
crop: strawberries
trouble: the fruit stays tiny | birds get everything before I do
culprit: worn-out plants | thirst, at the wrong moment
remedy: a net on a few hoops | young runners from a healthy plant

it: little lawn
crop: grass
trouble: there is more moss than green | it goes brown in patches
culprit: shade and packed soil | cutting it too short
remedy: a fork and some sharp sand | leaving it longer over the summer

it: salad bed
crop: lettuce and rocket
trouble: it all bolts before I can eat it | the leaves taste bitter
culprit: the heat | sowing everything on the same day
remedy: some afternoon shade | sowing a short row every other week
""",
    words="""
tip: water in the early morning, and at the roots. | put a finger into the soil before you reach for
  the watering can. | mulch whatever would otherwise be bare. | sow less than you want and do it
  more often. | leave the plants some room, even if it looks silly at first. | keep a label on
  everything, because you will forget. | harden the seedlings off for a week before they move out. |
  pull weeds while they are small and the ground is wet. | feed little and regularly rather than
  once and a lot. | look under the leaves before you blame the weather. | wash old pots before you
  use them again. | pick often, since that keeps things coming. | wait until the nights are mild. |
  let one corner stay wild for the ladybirds.
lore: Most plants die of too much water, not too little. | Compost improves sand and clay alike,
  which is rather a miracle. | A yellow leaf here and there is simply age. | Slugs prefer whatever
  you are proudest of. | Roots follow water, so deep watering makes deep roots. | Clay holds on to
  food, and sand lets it go. | A windy balcony dries out faster than a hot one. | The second year is
  nearly always better than the first. | Seed packets are optimists.
note: The soil here is heavy and sticks to everything. | I only have a small plot, and half of it is
  in the shade. | I can be out there in the evenings, rarely in the mornings. | The last owner
  covered everything with gravel. | I'm an impatient gardener, I should say. | We had a dry spring,
  and then it poured for days. | My back decides how long I work. | I talk to the plants, if that
  makes a difference. | The cat regards it all as hers.
chore: weed between the rows | loosen the top of the soil | check for slugs under the boards | tie
  in whatever flops about | take off the dead leaves | refill the water butt | turn the compost once
  | sow the next short row
""",
    openings="""
> {aside?} I have a question about my {it}. {Trouble}, and [I don't know what I'm doing wrong|last
  year it was the same|nobody at the allotment could tell me why]. [What would you look at
  first?|Any idea what that could be?]
< [From what you describe, I'd suspect {culprit}.|My first guess is {culprit}, though it could be
  several things at once.] [You can check without tools: dig down a little next to the roots and
  feel whether it is wet or dry there.|Before you buy anything, look closely at one plant from top
  to bottom, in good light.] {tail?} [How much sun does it get in a day?|Since when has it been like
  that?]

> [I'm thinking of starting|This year I want to start|We'd like to set up] {a it}. {aside?} I have
  [never grown anything on purpose|killed every houseplant I ever owned], so [something forgiving
  would be good|please begin at the very beginning].
< [A good choice, and more forgiving than people say.|Then you're in for some fun.] {Crop} [will
  show you quickly whether you are on the right track|won't hold a beginner's mistakes against you].
  {Tip!} {more!} [Have you got a spot in mind?|Is it sheltered there, or open to the wind?]

> {Recent} I finally [cleared the ground for|built the frame for|dug over the place for] my {it},
  and now [my arms ache|I'm full of mud] and I have no plan. [What next?|In which order would you go
  on?] {aside?}
< [First of all, well done, that was the heaviest part.|The dull work is behind you, then.] Over the
  next days I would do this, without hurry: {list chore} [After that the plants mostly look after
  themselves.|Then sit down beside it with a cup of something.]
""",
    asked="""
> {aside?} How often should I water {crop}? [One book says daily, the next says hardly ever.|I'm
  either drowning everything or forgetting it for days.]
< [Neither, as a rule.|It depends on the soil more than on the calendar.] Lift a pot or push a
  finger in up to the knuckle, and if it's dry down there, [give it a proper soak|water slowly until
  it runs out at the bottom]. Then leave it alone until it's dry again. {tail?}

> Is it too late to [sow|plant] {crop} now? {aside?} The garden centre [still had some|is already
  clearing the shelves], and I couldn't resist.
< [It's late, but I would risk it.|Not too late, only a bit adventurous.] [Things sown now catch up
  faster than you'd think, because the ground is warm.|Choose the strongest looking ones and skip
  the bargains with roots growing out of the bottom.] {tail?}

> {aside?} Should I be feeding it? [My uncle swears by nettle water, which stinks to high
  heaven.|There's a whole shelf of bottles in the shop and they all promise the same.]
< [A shovel of compost in spring does most of it.|Less than the bottles would have you believe.]
  [Nettle water works, but keep it away from the kitchen window.|If you do use a bottle, take half
  of what the label says.] {Crop} [mainly want steady conditions|grow soft when they get too much].
  {tail?}

> What about [pests|slugs]? I don't want to [use poison|spray anything], [because of the
  hedgehogs|since the children eat straight from the plants]. {aside?}
< Good. [Start by picking them off by hand|Keep the ground between the plants clear], and [go out
  after dark with a torch now and then|check the undersides of the leaves once a week]. [You will
  never get rid of all of them, and you needn't.|A strong plant puts up with a few holes.]
> [And if that doesn't help?|Suppose I do all that and they still win?]
< Then [start the young plants indoors and put them out when they're sturdy|grow a few extra as a
  sacrifice]. [It sounds defeatist, but it works.|Gardeners have done so for centuries.] {tail?}

> Can {crop} [stand next to|share the ground with] [onions|mint|sunflowers|marigolds]? I [read
  something about good and bad neighbours|would like to use every corner].
< [Marigolds get on with nearly everything.|Mostly that's folklore, with a grain of truth.] [What
  counts is who takes whose light and water.|Just keep mint in a pot of its own, because it takes
  over.] {tail?}

> {aside?} Would {remedy} [really help|make a difference], or is that one of those things people
  just repeat? [It's a bit of work, after all.|I'd rather understand it before I do it.]
< [It does help, in an unspectacular way.|It makes a difference you see after two or three weeks.]
  If it comes from {culprit}, [that takes the cause away|nothing else will last anyway]. [Try it on
  one half and compare.|Do a small piece first, if you're in doubt.] {tail?}

> We're away for [a week or so|ten days] in summer. How do I keep my {it} alive? [The neighbours are
  nice but forgetful.|I don't want to ask anybody again.] {aside?}
< [Soak everything the evening before, and cover the soil.|Move what can be moved into the shade,
  close together.] [A bottle upside down in the ground helps for a few days.|Take off the flowers
  and the ripe fruit, so that it has less to carry.] {tail?}
""",
    told="""
> {aside?} I tried {remedy}, as you said, and [after a few days|since then] [it looks better
  already|I can see new growth|there's a clear difference]. [Coincidence?|Is that the cure, or
  luck?]
< {nice!} [Perhaps both, but I'd take it.|New growth is the sign to look for; old leaves won't
  recover.] [Keep at it for another two weeks before you change anything else.|Leave the damaged
  parts on for now, they still feed the plant.] {tail?}

> [Bad news|A setback]: {recent} [hail went through it|the fence blew over onto it|a dog dug it
  up|there was a late frost]. [Half of it is flat.|It looks like a battlefield.] Is there anything
  left to save?
< {pity!} [Cut off what is broken, clean, and wait.|Stand up what can be stood up and tie it
  loosely.] [It's astonishing what grows back from the base.|Plants are far less sentimental about
  it than we are.] {tail?}

> The first [harvest|proper handful] is in! [Not much, but all mine.|It barely filled a bowl, and I
  photographed it from all sides.] {aside?}
< {nice!} [The first ones taste best, by law.|Eat them standing up, right there.] [Keep picking,
  even when you can't eat it all|Look every day now], because [it slows down as soon as anything
  goes to seed|that tells the plant to make more]. {tail?}

> I [may have overdone it|got carried away at the garden centre] and now there's [no room left|far
  too much of everything]. {aside?} [Do I really have to pull some out?|It feels cruel to thin
  them.]
< [Yes, I'm afraid.|It does, every year.] [Three that thrive beat ten that sulk.|Crowded plants get
  ill together.] [Eat the thinnings, or give them to somebody with an empty balcony.|Snip them off
  rather than pulling, so you don't disturb the rest.] {tail?}

> {hm!} You thought it was {culprit}. [I checked, and the soil is fine.|But I looked, and that can't
  be it.] [What else could it be?|Where do I look now?]
< [Then I was wrong, and it's good that you checked.|Fair, let's think again.] [Look at the roots of
  the worst one: white and firm is healthy, brown and soft is not.|See whether only old leaves have
  it, or new ones too.] [That narrows it down a lot.|Tell me what you find.]
> [The new ones too, a bit.|The roots are white.] And [it's worse on the side by the wall|the one in
  the corner is completely fine].
< [That's useful.|Now we're getting somewhere.] A difference from one end to the other [points to
  light and heat rather than disease|means the place matters]. [Move one, and see if it
  recovers.|Give that side some shade and watch.] {tail?}

> What do I do with all of it at the end of the season? [Cut it down, leave it, cover it?|It looks
  so untidy now.] {aside?}
< [Leave more than you think tidy.|Take out what was ill, leave what was healthy.] [Hollow stems are
  bedrooms for all sorts of useful insects.|A blanket of leaves does more good there than in a bag.]
  {tail?}

> My {it} is [the talk of the street|doing so well that I'm suspicious]. [A woman stopped at the
  fence and asked what I do.|I had to explain myself over the fence.] I told her what you told me,
  [and felt like an expert|as if I'd known it for years].
< [You are one now, by local standards.|That's how it starts.] {Lore!} [You could swap some
  seedlings next year.|Ask what they grow, people love telling.]
""",
)
