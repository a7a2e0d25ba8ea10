"""Talk about cooking."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

COOKING = Topic(
    name="cooking",
    cases="""
it: lentil soup
main: red lentils
flaw: flat | watery
rescue: a squeeze of lemon | a spoonful of vinegar | a knob of butter at the end
side: toasted flatbread | a cucumber salad | fried onions on top

it: mushroom risotto
main: chestnut mushrooms
flaw: gluey | bland
rescue: a splash of hot stock | cold butter stirred in off the heat | plenty of black pepper
side: bitter leaves | a tomato salad | roasted fennel

it: chickpea curry
main: chickpeas
flaw: harsh | thin
rescue: a spoonful of yoghurt | a pinch of sugar | a ladle of coconut milk
side: plain rice | a quick cabbage slaw | a mango pickle

it: fish pie
main: white fish
flaw: soupy | heavy
rescue: chopped dill | a little mustard in the sauce | capers
side: buttered peas | steamed leeks | a green salad

it: bean chilli
main: kidney beans
flaw: dull | too hot
rescue: a square of dark chocolate | a spoonful of tomato paste, fried first | some lime
side: soft tortillas | sweetcorn | sour cream

it: potato gratin
main: waxy potatoes
flaw: dry | greasy
rescue: a bit more cream | grated nutmeg | a lid of foil for the first half
side: pickled beetroot | a sharp salad | braised greens

it: vegetable stew
main: carrots and parsnips
flaw: mushy | weak
rescue: a dash of soy sauce | a handful of fresh herbs | a parmesan rind left to simmer in it
side: dumplings | crusty bread | mashed swede
""",
    words="""
tip: salt in small steps and taste after each one. | get the pan properly hot before anything goes
  in. | cut everything to the same size, so that it cooks evenly. | fry the spices in a little fat
  before the liquid goes in. | give the onions time; that's where the sweetness comes from. | taste
  it again when it has cooled a little, because heat hides the salt. | don't crowd the pan, or
  things steam instead of browning. | keep a mug of the cooking water back. | try something sour at
  the end before you reach for more salt. | turn the heat down sooner than feels right. | chop
  first, cook later, and clean up while it simmers. | leave it alone for a few minutes before you
  serve it. | add soft herbs last and woody ones at the start. | stop a little early; you can always
  put it back on the heat. | warm the plates, which costs nothing.
note: I cook most evenings, but always the same five things. | My kitchen is about the size of a
  wardrobe. | I never measure anything, which may be the problem. | Everyone here is hungry at a
  different hour. | I own one good pan and a lot of bad ones. | I grew up on tinned food, so bear
  with me. | The smoke alarm and I are old friends. | I'd like it to look as if I had not tried
  hard. | We eat late, so there's no rush.
lore: Salt draws water out of vegetables, which is why they go limp. | Browning is flavour, and it
  needs a dry surface and heat. | Starch thickens as it cools, so a sauce that seems thin may be
  right. | Sourness wakes everything up, where salt only makes it louder. | Dried herbs are stronger
  than fresh ones, and slower. | Most dishes of this sort taste better after an hour's rest. | Fat
  carries the taste of spices further than water does. | A recipe is somebody's diary of one good
  day.
fridge: half a leek | a tub of yoghurt | two tired courgettes | some parsley | a lump of hard cheese
  | an open jar of olives | a bag of spinach | leftover rice | a few spring onions | half a lemon
ahead: chop the onions and keep them covered | soak or rinse the {main} | grate the cheese | mix the
  spices in a cup | wash the salad and wrap it in a towel | make the dressing in a jar | lay out the
  bowls and spoons
""",
    openings="""
> {aside?} I [want|would like] to make {a it} [tonight|tomorrow evening|for a few friends], and [it
  never comes out the way I hope|my last one was {flaw}|I have never really got it right]. [Where do
  I start?|What matters most?|How would you go about it?]
< [Most of it comes down to patience.|It is a forgiving dish, luckily.|The ingredients matter less
  than the order.] {Tip!} {more!} [What else do you have in the fridge?|Who is going to eat it?]

> {aside?} I've got {main} at home, [not much else|no ideas left|and rather little energy]. [Could
  that become dinner without a trip to the shops?|What would you make of it?]
< {A it}, [I'd say|for example|without thinking twice]. [It asks for very little besides.|You can
  make it with what most kitchens have.] {tail?} [With {side} beside it nobody will miss anything.|]

> {Recent} I [ate|had] the best {it} [at a friend's place|in a tiny restaurant|at my aunt's] and now
  I'm [obsessed|determined to copy it]. [Mine is always {flaw}.|] What do cooks do differently?
< [Usually less than you think.|More salt and more patience, mostly.] {tail?} I'd also look at
  {rescue}, [which lifts the whole thing|because it rounds everything off].

> {aside?} [Could you help me plan a simple meal around {a it}?|I'd like to cook {a it} and not
  spend the whole evening at it.] [Two of us eat anything, one is fussy.|The kitchen is tiny.|I own
  one good knife and two pans.]
< {Sure!} [You can get most of it out of the way early:|This much can be done in the afternoon:]
  {list ahead} Then the rest is [mostly stirring|a calm half hour|hardly any work].
""",
    asked="""
> {aside?} [In the fridge I have|What's left here is] {fridge!} and {fridge!}. [Does any of that go
  with it?|Can I use that up?]
< [The first one, yes; I'd keep the other for breakfast.|Both, if you cut them small.|Yes, though
  add them late, so they keep some bite.] {tail?}

> Do I [really|honestly] have to [brown everything first|fry the onions that slowly|peel all of it]?
  It [seems fussy|takes for ever|makes such a mess].
< You don't have to, but [you would taste the difference|that's where the depth comes from]. [Do it
  in two batches|Use a wide pan] and [it goes faster|it's done before the table is laid]. {tail?}

> {aside?} How do I know when it's done? [Recipes always say "until tender", which tells me
  nothing.|I usually panic and overcook it.]
< Taste it, [every few minutes towards the end|early and often]. [A spoon should meet a little
  resistance.|When you start wanting a second spoonful, it's there.] {tail?}
> {aside?} [And if it is {flaw} by then?|Suppose it turns out {flaw}, what then?]
< Then {rescue} [usually saves it|is the first thing I would try]. [Add a little, stir, wait a
  minute, taste.|Go gently, since you can't take it out again.]

> [What should I put beside it?|What goes well with {a it}?] [Something fresh would be nice.|Nothing
  that needs the oven, please, it's full.]
< {Side}, I think, [for some contrast|because it adds bite]. If that's too much work, {side2} [will
  do nicely|would be nearly as good]. {tail?}

> {aside?} Can I make it [the day before|in the morning and warm it up|ahead and freeze half]? I
  [hate standing at the stove when people are here|get home late].
< [Yes, and it may even be better for it.|You can, with one caveat: the texture softens.] Keep [the
  herbs|the crunchy parts] aside until you serve it. {tail?}

> {aside?} [One of my guests doesn't eat meat or dairy.|A friend of ours can't have gluten.] [Does
  that ruin the plan?|What would I have to swap?]
< [Hardly.|Not at all.] [Check the stock cube, which is where it hides.|Use a good oil where the
  recipe says butter.|Leave the fussy part for the table, so that each of you can choose.] {tail?}

> My knife is [blunt|rather useless] and chopping [takes me ages|makes me nervous]. [Any tricks?|Is
  there a technique for it?]
< [Curl your fingers in and let the blade rock.|Keep the tip on the board and move only the heel.]
  [A damp cloth under the board stops it sliding.|And have it sharpened; blunt blades slip.] [Speed
  comes by itself.|]
""",
    told="""
> {aside?} So, the {it} [is on the stove|happened {recent}], and it was {flaw}. [Edible, but
  {flaw}.|Everyone was polite about it.] [What went wrong?|Where did I lose it?]
< {pity!} [Probably too much liquid too early.|My guess is the heat.|It may just have needed
  longer.] {Rescue} [would have helped|can still rescue the rest]. {tail?}

> {aside?} It worked! [Nobody left anything on the plate.|There were second helpings.|Even the fussy
  one ate it.] [The {side} was a good idea, too.|I only burnt one finger.]
< {nice!} [Write down what you did while you still remember.|Was it the {main} or the seasoning that
  made the difference?] [Next time you can be bolder.|]

> [There's a huge pot of it left.|I made far too much, of course.] [What can I turn that into?|Any
  ideas besides eating the same for days?]
< [Thin it with stock and call it soup.|Fill wraps with it.|Bake it with a crust of breadcrumbs.] Or
  [freeze it in flat bags|freeze it by the portion], [labelled, because you will forget|which thaw
  in no time].

> {aside?} I [forgot|left out] {rescue} [in the end|altogether], and [honestly, I liked it|nobody
  missed it]. [Is that heresy?|]
< [Not a bit.|Your kitchen, your rules.] [It's a nudge, not a law.|If it tasted good, it was right.]
  {tail?}

> {aside?} It [stuck to the bottom|caught a little] while I was [on the phone|laying the table]. Can
  I [save the pan|get the burnt taste out]?
< [Don't scrape.|Leave the black bits where they are.] Move the top part to another pot and [taste
  it before you despair|don't stir]. For the pan, [simmer some water with baking soda in it|soak it
  overnight], [then use a wooden spoon|and it will come off in sheets].

> {hm!} I swapped the {main} for [something frozen|whatever was on offer], and it [came out
  differently|took much longer]. [Should I have changed the timing?|]
< Yes, [that needs a few minutes more|frozen things let go of water], so [cook it off with the lid
  open|start them earlier]. {tail?} [Apart from that, it's a fine swap.|]

> {aside?} I'd like to make it [less rich|a bit lighter|spicier] next time, [without losing what
  makes it good|since my stomach complained]. [How?|What would you change?]
< Change one thing only, [then you know what did it|so you can tell]. [I'd begin with half the fat.|
  Try more vegetables for the same amount of sauce.|Play with the seasoning at the table first.]
  {tail?}
""",
)
