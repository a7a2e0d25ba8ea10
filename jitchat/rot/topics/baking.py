"""Talk about baking."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

BAKING = Topic(
    name="baking",
    cases="""
it: sourdough loaf
dry: strong flour | rye flour
fault: pale | dense in the middle | flat as a plate
shape: a round basket | a tin
eat: with salted butter | with soft cheese and honey

it: banana bread
dry: plain flour | wholemeal flour
fault: gummy | sunken in the middle | too dark on top
shape: a loaf tin | a row of muffin cups
eat: toasted, with butter | while it is still warm

it: apple cake
dry: plain flour | ground almonds
fault: soggy | dry at the edges | crumbly
shape: a springform tin | a deep tray
eat: with whipped cream | cold from the fridge

it: focaccia
dry: bread flour | plain flour
fault: tough | bready | pale underneath
shape: an oiled tray | a cast-iron pan
eat: with olives | dipped in good oil

it: batch of cinnamon buns
dry: bread flour | plain flour
fault: dry | raw in the middle | lopsided
shape: a deep tray | a round tin
eat: with a thin icing | straight from the tray

it: lemon drizzle cake
dry: plain flour | self-raising flour
fault: heavy | cracked on top | sticky at the bottom
shape: a loaf tin | a small square tin
eat: with tea | a day later, when it has settled
""",
    words="""
tip: weigh everything, cups are a lottery. | line the tin even if it claims to be non-stick. | let
  eggs and butter come to room temperature. | stop mixing as soon as you see no more dry streaks. |
  heat the oven for longer than its lamp suggests. | keep the oven shut for the first half. | trust
  your nose more than the timer. | look for a few crumbs on the skewer, not for a clean one. | let
  it cool on a rack, or steam makes it damp underneath. | write your changes into the recipe while
  you remember. | give it a colder, slower rest, and it will taste of more. | wet your hands instead
  of flouring them. | bake it a shade darker than you dare. | sift the raising agent, so it spreads
  evenly.
note: I bake perhaps once a month. | My scales are old and slightly moody. | I don't have much
  patience for waiting, I admit. | My grandmother did all this without a recipe. | It doesn't have
  to be pretty. | The children want to help, which doubles the mess. | I have a sweet tooth and no
  shame. | I get nervous as soon as yeast is involved. | There's flour on the ceiling already.
lore: Baking powder starts working as soon as it gets wet. | Most ovens are off by a little, and few
  people ever check. | Gluten is what makes bread chewy and cake tough. | Sugar holds water, so it
  keeps things soft as well as sweet. | The middle sets last, and only as it cools. | Butter tastes
  better, but oil stays moist for longer. | A pale crust has hardly any taste. | Flour differs from
  bag to bag, so no two batches want quite the same amount of liquid.
cause: the oven runs cool | the mixture was stirred too long | the raising agent is past its best |
  it came out of the oven too soon | there was a touch too much liquid | it sat too high in the oven
bake: the oven is fully hot | the tin is greased right into the corners | everything is weighed |
  the rack sits in the lower third | a tea towel and a rack are within reach
""",
    openings="""
> {aside?} I'm [baking|going to bake] {a it} [for the first time|again after years|for a birthday at
  work]. The last one was {fault}. [What should I watch out for?|What do you think went wrong?]
< [Hard to say from here|From that alone I can only guess], but [quite possibly {cause}|I would bet
  that {cause}]. {Tip!} {more!} [Which flour do you use, by the way?|How hot was your oven?]

> [Rainy day here, so I fancy some baking.|The weather is awful and I have an afternoon to myself.]
  I'm thinking of {a it}, in {shape}, since [that's what I own|I have nothing else].
< {Shape} [is fine|will do well]. Before you begin, check that: {list bake} [The rest is mostly
  waiting.|After that you can relax.]

> {aside?} [Why does my {it} always turn out {fault}?|My {it} is {fault} every single time.] I
  [follow the recipe to the letter|do what the book says], [I swear|more or less].
< [Recipes can't know your oven.|Then the recipe is not the culprit.] [Could it be that {cause}?|The
  usual suspect: {cause}.] {tail?}
""",
    asked="""
> {aside?} Can I [use|swap in] {dry} [for half of it|instead of what it says]? [That's what I
  have.|The shop was out of the other.]
< [Yes.|You can.] [Expect a denser crumb|It will taste nuttier] and [add a spoonful more liquid|give
  the mixture a short rest, so it can soak]. {tail?}

> How do I tell that the [dough|mixture] is right? [The photos all look the same to me.|Mine looks
  either like soup or like cement.]
< By feel, mostly. [It should drop off the spoon slowly.|Soft, a little tacky, and willing to be
  moved.] [Too stiff is worse than too soft.|When you think it's too wet, it is often about right.]
  {tail?}

> {aside?} Is {shape} really [the best thing|what you'd use] for {a it}? I've [also got|inherited]
  {shape2}.
< [Either works.|I would take {shape2}, to be honest.] [The deeper it is, the longer it takes.|Just
  fill it no more than two thirds.] {tail?}

> {aside?} Could I [cut down the sugar|leave out the salt|halve everything]? [We don't like it so
  sweet.|It's only for the two of us.|The doctor would be pleased.]
< [A third less sugar is no problem.|A little less is fine, none at all is sad.|Halving works if the
  tin is smaller, too.] [Below that, it dries out sooner.|It will brown less, so watch the colour
  rather than the clock.]

> My oven [has a mind of its own|is ancient|only has two settings: off and inferno]. [Is it
  hopeless? |Can I still bake {a it} in it?]
< [You can bake in anything once you know its habits.|People baked on stones.] [Turn the tin halfway
  through|Put a tray of water at the bottom] and [keep notes|cover the top with foil when it gets
  dark]. {tail?}

> {aside?} What happens if I [leave it to rest overnight|prepare it in the evening and bake in the
  morning]? [I'd love it warm for breakfast.|My evenings are longer than my mornings.]
< [In the fridge, only good things.|It gains flavour.] [Cover it well|Put a damp cloth over it] and
  [let it warm up while the oven heats|bake it cold, a few minutes longer]. {tail?}

> {aside?} [Do I need one of those stand mixers?|Everybody online has a huge mixer.] I [have a bowl,
  a spoon and two arms|knead by hand and hate it].
< [A bowl and a spoon are plenty.|No; time does the kneading for you.] [Fold it, leave it, fold it
  again.|Stir, walk away for a quarter of an hour, come back.] {tail?}
""",
    told="""
> It's out of the oven. [The kitchen smells wonderful|It looks the part], but it's [a bit|somewhat]
  {fault}. [Can I still save it?|Does that mean it's ruined?]
< {pity!} [Let it cool completely before you judge it.|Slice it thin and toast it, and nobody will
  know.] For the next one, [assume that {cause}|I'd look at whether {cause}].

> {aside?} [Best one so far!|You won't believe it, it worked.] [A proper rise, golden all over.|My
  neighbour asked for the recipe.] We ate half of it {eat}.
< {nice!} {Eat2} [it is even better|would be the other way to do it]. [What did you change?|Note
  down the timing, while you know it.]

> {aside?} I [cut into it too early, I couldn't wait|had to taste it at once], and now it's
  [squashed|a bit sticky inside].
< [Everybody does that.|I can't blame you.] It [goes on cooking as it cools|sets as the steam
  leaves], [so the middle needs that hour|which is the hardest part of baking]. [Toast the slices.|]

> The top [was done long before the inside|went dark very quickly], so I [covered it|turned the heat
  down]. [Was that the right call?|]
< [Exactly right.|I'd have done the same.] [Next time move it one rack lower.|It tells you that your
  oven is hotter than it says.] {tail?}

> {aside?} [I took some to the office {recent}.|I brought it to a picnic.] [It vanished in
  minutes|People were suspiciously quiet, then it was all gone], and now I'm [expected to bring
  more|the official baker].
< [There are worse fates.|Congratulations, in a way.] The {it} [freezes well|can be made two at a
  time], so [double the amount|bake twice and store one]. {tail?}

> {aside?} How do I keep it [fresh|from going stale]? [There's half of it left.|It was hard as a
  brick by the second day last time.]
< [Cut side down on a board, under a bowl.|In a tin rather than the fridge, which dries it out.]
  [Freeze slices with paper between them|What you won't eat by tomorrow, freeze], and [refresh them
  in a hot oven|have them {eat}].

> I tried it with {dry}, and [it drank up all the liquid|the texture is quite different]. [I kind of
  like it|Not bad, only unusual], but [my flatmate doesn't|it falls apart].
< [That flour is thirsty.|It has its own character.] [Mix it half and half|Add a bit more liquid and
  let it stand] next time. {tail?}
""",
)
