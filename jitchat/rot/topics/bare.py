"""Talk in words alone that have no stem: what is left where next to every word is avoided."""

from __future__ import annotations

from jitchat.rot.topics.topic import Topic

BARE = Topic(
    name="bare",
    cases="""
who: they | she | he | you and I | everybody here | somebody
""",
    words="""
thing: this | that | those here | these | most of it | all of this | some of that | just a few | any
  of these | what you have | what was on before | more of the same | what she had | theirs | yours |
  something like that | nothing of it | the other | everything you have
now: now | again | once more than before | for now | after all of that | before that | until then |
  here | over there | with me | for once | as it was | as you are | with them | on and on
hey: Hey | Hi | Hello | Oh | Okay | Yes | No | Yeah | Please | Ok | Thanks | And yet | But no | Yes
  and no | Oh yes | Oh no
ask: [what|how] about {thing?} | why not {thing?} {now?} | should [it|that] be {thing?} | would
  {thing?} do {now?} | is there [anything|something] like {thing?} {now?} | do [you|they|we] have
  {thing?} {now?} | was it {thing?}, or was it {thing?} | who [did|was] that {now?} | how could
  {who?} do that {now?} | can [I|we] get {thing?} {now?} | where should {thing?} be {now?} | what if
  {who?} had {thing?} {now?} | why should I have {thing?} and not {thing?}
say: [that|it|this] [should|could|might|would] do {now?} | I [would|should|could] have {thing?}
  {now?} | {thing?} [will|should|might] do, or {thing?} | it [could|might|must] be {thing?}, and it
  could be {thing?} | you [should|could|might] have {thing?} {now?} | I'd not do that {now?} |
  [it|that] isn't {thing?}, but it's like {thing?} | you could do both, or [nothing at all|just the
  other] | that's more than [you|we|they] should have {now?} | they [would|should|might] have
  {thing?} {now?} | if it's {thing?}, let it be {now?} | {who?} did {thing?} {now?} | we'd have
  {thing?}, and then {thing?} | there should be {thing?} {now?} | it's not for me, it's for
  [them|her|him|all of us] | you can't have {thing?} and {thing?} {now?} | nobody
  [will|would|should] do that {now?} | it is what it is, and {thing?} is {thing?}
""",
    openings="""
> {Hey!}, [I have|we had|there is|they have|here is] {thing?} {now?}. {Ask!}? [And then, {ask!}?|]
< {Hey!}, {say!}. {Say!}, [and|but|so] {say!}. [And if not, {ask!}?|{Say!}.]

> {Hey!}, {ask!}? [I'd|I would|We'd] like {thing?}, [please|if I can|and so would they].
< {Say!}. {Say!}, [and|but|because] {say!}. [So, {ask!}?|]
""",
    asked="""
> {Hey!}, [but|and|so] {ask!}? [I'm not so up for {thing?}.|It isn't {thing?} I'm after.|]
< {Say!}. {Say!}, [and|but] {say!}. [{Say!}.|]

> But {ask!}? And {ask!}?
< {Hey!}, {say!}. {Say!}, [and|but|if] {say!}. [And {ask!}?|]

> {Say!}, [or so they did|or not|and that's that]. [So {ask!}?|Then {ask!}?]
< {Hey!}, {say!}. [And|But|So] {say!}, [and|but] {say!}.
""",
    told="""
> {Hey!}, {say!}. {Ask!}?
< {Say!}, [and|but] {say!}. {Say!}. [And {ask!}?|]

> [It's {thing?}.|It was {thing?}.|So it was {thing?}, and not {thing?}.] {Say!}.
< {Hey!}, then {say!}. {Say!}, [but|and|so] {say!}. [And {ask!}?|]

> {Who?} had {thing?} {now?}, [just like you|and it did nothing for me|and I had {thing?}].
< {Say!}, [and|but] {say!}. [But {ask!}?|So {say!}.] {Say!}.
""",
)
