"""What says nothing by itself: thanks, greetings, acknowledgements and noises, in five languages (SPEC B, novelty).

A text says nothing where only fillers, phrases of this list and few function words of one language are in it: "ok
thanks!", "Yeah, sure.", "so it's"; or where each sentence is talk, which has words of `text.lightwords` alone: "Could
you have another look at this?". A number, a name, a code or any word that is not listed is content: "ok, the door code
is 4821". So is a sign or an emoji that is not listed, a name inside a sentence, and who is said to be or to do
something ("Roger is back"). A list of another version judges other texts; raise `VERSION` with every change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import product

from memquorum.core.text import lightwords, wording
from memquorum.core.text.memo import memo
from memquorum.core.text.normal import normalised

VERSION = 12

_EVERYWHERE = """
    ok okay oki k kay mm mmm mhm hm hmm hmmm ah aha oh ooh uh uhm um eh ehm äh ähm euh er erm huh hup ha haha hahaha
    hehe hihi lol rofl xd wow whoa oops ups bravo super cool hey hi hallo hello ciao bye sorry thx ty thanks merci
    danke gracias grazie please bitte
"""
# By language: single fillers, function words that mean nothing without others, phrases, with a / between words of which
# any may stand in a place.
_FILLERS = {
    "en": (
        """
        kk yeah yea ya yep yup yes nope nah no ouch ow yay hiya yo goodbye thank cheers pardon sure right alright
        great nice good fine perfect excellent awesome brilliant lovely wonderful fantastic amazing exactly absolutely
        definitely totally certainly indeed correct true really actually basically honestly obviously well anyway
        anyways gotcha whoops ye possibly whatever understood noted agreed ack roger welcome congrats congratulations
        maybe perhaps probably interesting dunno lot much done np brb nvm idk tbh imo omg btw gg ikr ttyl lgtm yw wb
        gtg ping bump test testing afk hmpf whee yikes phew meh ugh argh hooray woohoo bingo aye anytime apologies sec
        """,
        """
        a an t s re ve ll d m can let gonna wanna kinda sorta like still
        """,
        """
        will do it/that/so/tomorrow/today/later/soon | that/this fixed/solved/did/worked it | wrong
        channel/chat/thread/window | i/we will/ll be there in five/ten/a minute/sec/second/bit/moment | i/we will/ll be
        there in five/ten | i/we will/ll be there in five/ten minutes | agreed with that/this/you |
        i see | you see | you know | i know | i don t know | i dunno | don t know | i mean | i think | i think so | i
        don t think so | i guess | i suppose | i agree | i hope so | i understand | i like it | i like that | of
        course | no problem | no worries | not at all | got it | sounds good | sounds great | see you | see you later
        | see you soon | see you then | see you tomorrow | see ya | talk to you later | talk to you soon | take care |
        have a nice day | have a good day | have a great day | have a good one | have a nice evening | have a good
        evening | have a nice weekend | have a good weekend | have a great weekend | later | good morning | good
        afternoon | good evening | good night | good day | how are you | how are you doing | how is it going | how s
        it going | what s up | nice to meet you | let me see | let s see | let me think | go ahead | never mind | my
        bad | excuse me | fair enough | good point | good question | makes sense | make sense | my pleasure | don t
        worry | me too | same here | come on | hang on | hold on | one moment | one second | just a moment | just a
        second | just a minute | wait a minute | will do | on it | nice one | this one | that one | carry on | we ll
        see | well done | good job | great job | nice job | good work | great work | good idea | great idea | nice
        idea | happy to help | glad to help | glad to hear | good to know | good to hear | sort of | kind of | a bit |
        a little bit | there you go | here you go | here we go | there we go | that s it | oh my god | my god | oh god
        | thank god | good luck | i m afraid | i m sorry | i m fine | way to go | no way | you bet | by the way | what
        else | what about | how about | go on | in fact | as well | at all | any questions | any other questions |
        appreciate it | much appreciated | i appreciate it | looking forward | sounds like a plan | take your time |
        no rush | no hurry | looking into it | let me check | let me look | let me have a look | let me see what i can
        do | i ll get back to you | get back to you | i ll be right back | be right back | i m back | i m here | back
        in a minute | give me a second | give me a sec | give me a minute | give me a moment | one sec | just a sec |
        one minute | bear with me | thanks for your help | thanks for the help | thanks for that | thanks for this |
        thanks for everything | thanks for your time | thanks for letting me know | thanks for the update | thanks for
        asking | thanks in advance | thank you in advance | thank you for your help | see you monday | see you tuesday
        | see you wednesday | see you thursday | see you friday | see you on monday | see you on tuesday | see you on
        wednesday | see you on thursday | see you on friday | see you next week | see you around | see you tonight |
        catch you later | talk soon | talk to you tomorrow | until next time | long time no see | how was your day |
        how was your weekend | how s your day | how s everything | how have you been | how goes it | what s new | what
        s going on | not much | not bad | not yet | not really | not sure | i m not sure | of course not | absolutely
        not | why not | no idea | no clue | who knows | fingers crossed | happy friday | happy birthday | happy new
        year | merry christmas | you rock | you re the best | you re amazing | you re kidding | love it | i love it |
        well said | that s funny | how funny | very funny | wait | hey guys | hi guys | thanks guys | thanks mate |
        cheers mate | thanks a bunch | so true | i hope you re well | hope you re well | hope you are well | hope you
        re doing well | hope this helps | hope that helps | let me know | keep me posted | keep it up | keep up the
        good work | good stuff | nice work | well noted | duly noted | copy that | roger that | that works | that
        works for me | works for me | fine by me | fine with me | i m on it | right away | as you wish | looks good |
        looks great | looks good to me | nice catch | good catch | point taken | don t mention it | glad you like it |
        what do you think | does that make sense | does it make sense | can you hear me | are you there | you there |
        anybody there | is anybody there | is anyone there | i m good | i m ok | i m okay | i m great | doing well |
        doing great | bless you | no thanks | no thank you | yes please | yes sir | up to you | your call | after you
        | in a moment | in a minute | in a bit | stay tuned | safe travels | get well soon | enjoy your meal | enjoy
        your day | enjoy your weekend | enjoy | have fun | welcome back | welcome aboard | nice to see you | good to
        see you | nice to hear | that s all | that s all for now | that is all | that s enough | all good | all set |
        all right | my bad sorry | i apologize | i apologise | sorry about that | sorry for that | sorry for the delay
        | no need | it s nothing | i get it | i got it | i see what you mean | i know what you mean | i know right |
        tell me about it | you re right | you are right | i was wondering | just wondering | just kidding | just
        saying | very well | so far so good | long story | what a day | what a mess | good grief | holy moly | for
        sure | over with | i can t wait to hear all about it/that | you ve been | how have things been | you beat me
        to it | all about it/that/you | take it from here/there | keep me/us in the loop | keep me/us
        posted/updated/informed | moving/move on to the next one/thing/topic/point/item/question | let s move on |
        makes/make/made total/perfect/complete/more/much sense now | makes/make/made total/perfect/complete/more/much
        sense | that/this clears/cleared it/that/things up | that/this clears/cleared everything up | oh boy | oh dear
        | oh man | have a/an
        good/great/nice/lovely/wonderful/fantastic/pleasant/relaxing/safe
        day/evening/night/morning/afternoon/weekend/week/time/trip/flight/break/holiday/vacation/one/rest | enjoy
        the/your rest/day/evening/weekend/holiday/trip/lunch/break/meal | hope you/everyone had/have/has a
        good/great/nice/lovely/wonderful day/evening/night/weekend/week/time/trip/holiday/break | i hope you/everyone
        had/have/has a good/great/nice/lovely/wonderful day/evening/night/weekend/week/time/trip/holiday/break | hope
        you are/re all well/good/fine/ok | thank you/u for your/the/all help/support/time/patience/feedback/info/infor
        mation/update/reply/response/answer/effort/work/explanation/clarification/understanding/kindness/heads/reminde
        r/advice/input | thank you/u for your/the quick/great/good/kind/prompt/hard
        help/support/feedback/update/reply/response/answer/work | thank you so/very much for your/the/all
        help/support/time/patience/feedback/info/update/reply/response/answer/work | thank you so/very much for
        everything/that/this | thank you for
        everything/that/this/asking/coming/joining/waiting/checking/sharing/helping/listening | thanks so/very much
        for your/the/all help/support/time/patience/feedback/info/update/reply/response/answer/work | thanks for
        your/the/all help/support/time/patience/feedback/info/information/update/reply/response/answer/effort/work/exp
        lanation/clarification/understanding/reminder/advice/input/heads | thanks for your/the
        quick/great/good/kind/prompt/hard help/support/feedback/update/reply/response/answer/work | thanks for
        coming/joining/waiting/checking/sharing/helping/listening/understanding/trying/nothing | thanks a
        lot/bunch/ton/million for your/the/all help/support/time/patience/feedback/info/update/work | thanks
        again/everyone/everybody/folks/all/mate/man/buddy/dude/friend | thank you
        again/everyone/everybody/folks/all/both/guys | many/big/huge thanks | much/really/greatly/highly appreciated |
        i/we really/truly/greatly appreciate it/that/this | let me/us know if you need/want/have
        anything/something/help/questions else/more/further | let me/us know if you need/want/have
        anything/something/help/questions | let me/us know if you have any questions/doubts/concerns | let me/us know
        if i/we can help/assist | let me/us know if there is/s anything else/more | let me/us know what you think |
        let me/us know how it goes/went | let me/us know when you re/are ready/back/done | feel free to
        ask/reach/ping/message | is there anything else | anything else | is there anything else i/we can do/help |
        can/could/may i help/ask you with/something anything/something/else | how can/may i/we help/assist you
        today/further | how can/may i/we help/assist you | how can/may i/we help | how are you/things/we
        doing/going/feeling today/now/lately | how are you/we all/both/guys/everyone doing/going/feeling
        today/now/lately | how are you/we all/both/guys/everyone doing/going/feeling | how are you
        all/both/guys/everyone | good morning/afternoon/evening/day everyone/everybody/all/team/folks/guys |
        how are you/things/we doing/going/feeling | how are you/things
        today/lately | how is/s it/everything/everyone going/doing today | how is/s it/everything/everyone going/doing
        | how is/s your day/morning/week/evening going/so | how is/s your day/morning/week/evening | how was your
        day/morning/week/weekend/evening/night/trip/holiday/lunch | what have you been up to |
        nice/good/great/lovely/pleased/happy to meet/see/hear/know you/that/from | it was nice/good/great/lovely
        meeting/seeing/talking/chatting you/with | nice/good/great talking/chatting/speaking to/with you |
        glad/happy/pleased to hear/know/help/see/assist that/it/you | glad/happy/pleased to hear/know/help/assist |
        glad/happy i/we could help | see/talk/speak/catch to/you you/up
        tomorrow/later/soon/then/monday/tuesday/wednesday/thursday/friday/there | see you/ya
        tomorrow/later/soon/then/there/again/around/next/bright | see you/ya next week/time/month/monday/friday |
        sounds/looks/seems like a good/great plan/idea | sounds/looks/seems
        good/great/fine/perfect/reasonable/right/fair/lovely/awesome/wonderful to/for me | sounds/looks/seems
        good/great/fine/perfect/reasonable/right/fair/lovely/awesome/wonderful | that/it sounds/looks/seems/works
        good/great/fine/perfect/reasonable/right/fair/lovely/awesome | that/it makes total/perfect/sense sense |
        that/it is/s very/so/really kind/nice/sweet/helpful/funny/interesting of/to you | that/it is/s very/so/really
        kind/nice/sweet/helpful/funny/interesting | that/it is/s kind/sweet/helpful/funny/hilarious/impressive/amazing
        | you/u are/re so/very/most kind/welcome/funny/sweet/helpful | you/u are/re a star/legend/genius/lifesaver |
        good/great/nice/excellent/amazing/fantastic/awesome/brilliant
        job/work/idea/question/point/thinking/news/stuff/effort | what a great/nice/lovely/beautiful/good
        day/idea/surprise/week | not/nothing to worry/mention | no problem/worries/trouble at all | no need to
        worry/thank/apologize | don t worry about it/that | take care of/and yourself/all | take it easy | i/we
        will/ll do that/so/it | i/we will/ll be there/back/right soon/back | i/we will/ll let you know | i/we will/ll
        take a look | i/we will/ll look into it/that | i/we will/ll check it/that | i/we will/ll think about it/that |
        i/we am/m/are/re looking forward to it/that | looking forward to it/that/hearing/seeing/working | i/we am/m
        so/very/really sorry/glad/happy about/to/for that/hear | i/we am/m so/very/really sorry/glad/happy | sorry
        for/about the/that/this delay/confusion/mess/noise/inconvenience/trouble/interruption | sorry to
        bother/interrupt you | sorry to hear that | can/could you give me a second/minute/moment | could/can i have a
        second/minute/moment | with pleasure | cheers everyone/all | good morning/afternoon/evening/night/day
        everyone/all/team/folks/there | happy monday/tuesday/wednesday/thursday/friday/weekend/holidays/easter |
        warm/best/kind regards | all the best | best wishes | sleep well/tight | sweet dreams | well deserved | keep
        going | coffee anyone | time for coffee/lunch/tea | ready when you are | you too | same to you | likewise | my
        goodness | thank goodness | made/makes/make me laugh/smile/cry/happy | made my day | same to you and your family
        | great/good/nice/excellent/awesome/fantastic/amazing/lovely/brilliant job/work/effort
        everyone/everybody/all/team/folks/guys/today | congrats/congratulations on/for the/your/that/this/all
        release/launch/promotion/job/work/news/win/success/anniversary/birthday/wedding/result/results/baby |
        congrats/congratulations to/on you/all/everyone/that/it | brb/afk lunch/dinner/coffee/tea/break/phone/door |
        off/out to/for lunch/dinner/coffee/tea/bed/home | see you/ya/u at/after/for/over
        lunch/dinner/breakfast/coffee/work/standup | enjoy lunch/dinner/breakfast/coffee |
        scratch/ignore/disregard/forget that/this/it | disregard/ignore my last message | gtg | gotta go |
        gtg talk later | talk later | back from lunch/dinner/breakfast/coffee | ping me when you re/are
        free/back/ready/done | have a nice/good/great weekend/evening/day everyone/all/team/folks | thanks a lot for
        the/your quick/great/kind help yesterday/today |
        hi/hello/hey/morning/evening/afternoon/thanks
        all/everyone/everybody/team/folks | on the phone | on another call | in a meeting | on mute | you re/were muted
        | you re breaking up | breaking up | your mic/camera is off |  can you/everyone/everybody/anyone/anybody
        see/hear me/it | see/share my screen | share my screen | from my side/end | that s everything/it from my/our
        side/end | that s everything | that s all from me/us | so far | fair/good/great/valid/interesting
        point/question | point noted | could/couldn t/not agree more | i couldn t agree more | couldn t agree more |
        could not agree more | no idea/clue | to be honest/fair/frank | in my opinion | beats me | search me | circle
        back | let s circle back to that/this/it later | circle back to that/this/it later | get back to that/this/it
        later/you | come back to that/this/it later | tgif | fyi | time for lunch/dinner/coffee/bed/breakfast/tea | i
        m starving/hungry/thirsty/knackered/freezing/exhausted/late/early/bored/shattered | grabbing/getting/fetching
        a/some coffee/tea/drink/snack/water/lunch | grabbing/getting/fetching coffee/tea/lunch | back in five/ten |
        back in a bit/moment/few/sec | back soon | give me two/five/ten minutes | give me a few minutes | give me
        two/five/ten | two/five/ten minutes please | in two/five/ten minutes | could/can you say that/it again | say
        that/it again | come again | makes no sense to me | makes no sense | thanks a million/bunch/ton/lot | much
        obliged | it was nothing | nothing really | not too/so/that bad | not bad at all | can t/cannot/can complain |
        cannot complain | can t complain | good luck with/on/for/in the/your/that/it
        presentation/interview/exam/test/talk/move/demo/meeting/race/game | good luck with/on/for/in
        that/it/everything | congratulations/congrats on the/your new
        job/baby/house/home/promotion/wedding/engagement/role | congratulations/congrats on the/your
        job/baby/promotion/wedding/engagement/role/anniversary | i hate/love/adore mondays/fridays/this/that
        song/one/weather/movie/place | i hate/love/adore mondays/fridays | i hate/love/adore this/that
        song/one/weather/movie/place/joke | i/we need/want a/some coffee/tea/break/holiday/vacation/nap/drink/rest |
        i/we could use a/some coffee/break/holiday/nap/drink | finally the weekend | the weekend finally | poor
        you/thing/me | oh no | oh well | don t work too hard | work too hard | ta | running a/bit late | running a
        bit/little late | running late | sorry i m late | sorry for/about the/my late/slow reply/response/answer |
        sorry for/about the/my delay/mess/confusion/noise/wait/typo/spam | any
        news/updates/update/thoughts/ideas/luck/takers/volunteers/objections/comments/feedback/plans | any
        questions/comments so far | that/this was fast/quick/close/fun/easy/great/nice/hard/good | wow that was
        fast/quick | not/m not so sure | not sure what/how to say/do/think/put | i m not sure what/how to
        say/do/think/put | count me in/out | all ears | i m all ears | call it a day/night | let s call it a day/night
        | not me | me neither/either/too | that s the spirit | long story short | it all worked out | worked out | it
        worked out | moving on | next question/one/topic/please | as/like i/we said/mentioned before/earlier/above |
        as/like i/we said/mentioned | as i was saying | here goes nothing | here goes | sure thing | no problem
        boss/chief/captain/mate | sure thing boss/chief/captain/mate | yes boss/chief/captain/mate | are you
        free/busy/around/there now/today/later/tomorrow | are you free/busy/around right now | are you
        free/busy/around | you free/busy/around | do you have a minute/second/sec/moment | got a minute/second/sec |
        whenever you have time | whenever you like/want/can | whenever works | no rush whenever | when you have time |
        at your convenience | good one | nice try | well played | my turn | your turn | you go first | ladies first |
        sorry go ahead | go for it | knock yourself out | break a leg | easy does it | better late than never | it is
        what it is | what can i say | what can you do | who cares | so what | not again | here we go again | same old
        same old | same as always/usual/ever | nothing much | nothing new | nothing special | just chilling | just
        relaxing | just resting | living the dream | another day another dollar | can
        you/everyone/everybody/anyone/all see my screen | time flies doesn t it | isn t it | doesn t it | don t you
        think | small world | speak of the devil | great minds think alike | you read my mind | my thoughts exactly |
        i feel you | been there done that | hang in there | stay safe/strong/positive/warm/cool | drive
        safe/safely/carefully | travel safe/safely | sleep well/tight | sweet dreams | rest well | take it easy | chin
        up | cheer up | don t give up | you can do it | you got this | we got this | we did it | yes we can
        """,
    ),
    "de": (
        """
        ja jo jep jawohl nein nee ne nö doch genau klar gut okidoki prima toll schön fein perfekt ausgezeichnet
        wunderbar großartig gerne gern stimmt richtig verstanden servus moin tschüss tschau tschö grüezi
        entschuldigung verzeihung sicher natürlich selbstverständlich absolut eigentlich vielleicht wirklich echt also
        naja tja achso ach ach na so hmja passt alles wow danke dankeschön bitteschön bitte willkommen interessant
        einverstanden quasi sozusagen halt eben mal moment sekunde momentchen jaja nene haha hallöchen mensch puh geil
        glückwunsch gratuliere gleich sofort schade tipptopp super
        """,
        """
        ich du er sie es wir ihr mich dich mir dir uns euch der die das den dem ein eine einen und oder aber ist sind
        bin bist war waren sein hat habe haben wird kann zu in im an auf mit für von bei noch schon auch nur denn dann
        da hier wie was wer wo warum dass sehr
        """,
        """
        vielen dank | herzlichen dank | besten dank | danke schön | danke sehr | danke dir | danke ihnen | danke euch
        | guten morgen | guten tag | guten abend | gute nacht | alles klar | kein problem | keine ursache | nichts zu
        danken | bis später | bis bald | bis dann | bis morgen | bis gleich | auf wiedersehen | wie geht es | wie geht
        s | wie geht es dir | wie geht es ihnen | schönen tag | schönen tag noch | schönen abend | schönen abend noch
        | schönes wochenende | einen schönen tag noch | ich verstehe | ich weiß | ich weiß nicht | weiß ich nicht |
        ich glaube | ich denke | ich meine | ich finde | glaube ich | ach so | na gut | na ja | mach ich | wird
        gemacht | geht klar | gute idee | gut gemacht | tut mir leid | macht nichts | in ordnung | auf jeden fall |
        auf keinen fall | mal sehen | moment mal | einen moment | viel glück | viel erfolg | schon gut | ist gut |
        nicht schlecht | sehr gerne | von mir aus | hört sich gut an | klingt gut | freut mich | sag ich mal | danke
        für die hilfe | danke für deine hilfe | danke für ihre hilfe | danke für die info | danke für alles | danke im
        voraus | danke der nachfrage | ich schau mal | ich schaue mal | ich melde mich | bin gleich zurück | bin
        gleich da | bin wieder da | lass mich überlegen | lass mich mal überlegen | lass mich nachdenken | keine
        ahnung | warum nicht | nicht wirklich | noch nicht | gute reise | gute besserung | frohe weihnachten | frohes
        neues jahr | frohes neues | alles gute | alles gut | herzlichen glückwunsch | weiter so | gut so | sieht gut
        aus | sag bescheid | meld dich | lass dir zeit | lassen sie sich zeit | kein stress | mach dir keine sorgen |
        keine sorge | das freut mich | freut mich zu hören | bis montag | bis dienstag | bis mittwoch | bis donnerstag
        | bis freitag | bis nächste woche | ganz genau | so ist es | ja bitte | nein danke | schon okay | wie war dein
        tag | wie war dein wochenende | was gibt s neues | was meinst du | was meinen sie | bist du da | ist da jemand
        | sehr gut | sehr schön | gut zu wissen | gute arbeit | tolle arbeit | das stimmt | da hast du recht | du hast
        recht | sie haben recht | guten appetit | schönes wochenende noch | viel spaß | willkommen zurück | wird schon
        | von mir aus gerne | mir egal | egal | schon erledigt | einen augenblick | augenblick | eine sekunde | wie
        lustig | das ist lustig | vielen/herzlichen/besten/lieben dank für die/deine/eure/ihre/alles
        hilfe/info/infos/antwort/unterstützung/geduld/zeit/rückmeldung/information/mühe/erklärung/schnelle |
        vielen/herzlichen/besten/lieben dank für die/deine/eure/ihre schnelle/gute/nette
        hilfe/antwort/rückmeldung/unterstützung | vielen/herzlichen/besten/lieben/tausend dank
        nochmal/nochmals/dir/euch/ihnen/an | vielen/herzlichen/besten/lieben/tausend dank | danke für
        die/deine/eure/ihre/alles
        hilfe/info/infos/antwort/unterstützung/geduld/zeit/rückmeldung/information/mühe/erklärung | danke für
        die/deine/eure/ihre schnelle/gute/nette hilfe/antwort/rückmeldung/unterstützung | danke für alles/das/nichts |
        danke nochmal/nochmals/euch/dir/ihnen/vielmals/allen/gleichfalls | kein/keine/überhaupt
        problem/ursache/thema/sache/stress/sorge/eile | gern/gerne geschehen | sehr gern/gerne geschehen | ich wünsche
        dir/euch/ihnen einen/eine/ein schönen/schöne/schönes/guten/gute
        tag/abend/woche/wochenende/nacht/morgen/feierabend | ich wünsche dir/euch/ihnen einen/eine/ein
        schönen/schöne/schönes/guten/gute tag/abend/woche/wochenende/nacht/morgen/feierabend noch | einen/eine/ein
        schönen/schöne/schönes/guten/gute tag/abend/woche/wochenende/nacht/morgen/feierabend/urlaub/start
        euch/noch/allen/dir | einen/eine/ein schönen/schöne/schönes/guten/gute
        tag/abend/woche/wochenende/nacht/morgen/feierabend/urlaub | schönen/schöne/schönes/guten/gute
        tag/abend/woche/wochenende/nacht/morgen/feierabend/urlaub/fahrt/reise/besserung euch/noch/allen/dir/zusammen |
        schönen/schöne/schönes/guten/gute
        tag/abend/woche/wochenende/nacht/morgen/feierabend/urlaub/fahrt/reise/besserung | wie geht/läuft es/s
        dir/euch/ihnen/so heute | wie geht/läuft es/s dir/euch/ihnen/so | wie geht/läuft es/s | wie war dein/euer/ihr
        tag/wochenende/urlaub/abend | ich hoffe es geht dir/euch/ihnen gut | sag/sagt/gib/gebt mir bescheid |
        melde/meld dich/euch wenn du/ihr was/etwas brauchst/braucht | melde/meld dich/euch einfach/gern/gerne | kann
        ich noch/sonst etwas/was helfen/tun | kann ich dir/euch/ihnen helfen | das klingt/hört/sieht sich
        gut/super/toll/an | das klingt/sieht gut/super/toll/aus | das klingt/sieht gut/super/toll | klingt/passt
        gut/super/perfekt/prima/soweit | das ist sehr/total/echt nett/lieb/schön/toll/lustig/gut | das ist
        nett/lieb/schön/toll/lustig/gut/super/prima | das passt/stimmt so/schon/gut | das mache/mach ich/wir
        gern/gerne | mache/mach ich/wir gern/gerne/sofort/gleich | mache/mach/machen ich/wir | wir
        sehen/hören/sprechen uns morgen/später/dann/bald/montag | wir sehen/hören/sprechen uns | bis
        nachher/nächstes/nächste/demnächst/dahin/dann/bald/später/morgen/gleich mal/woche | bis
        nachher/demnächst/dahin | tut mir sehr/so/echt leid | gut/super/toll/prima/schön gemacht/gelaufen |
        gute/tolle/super/sehr idee/arbeit/frage/sache | liebe/viele/beste/schöne grüße | mit freundlichen grüßen |
        frohe/schöne ostern/feiertage/weihnachten | freut mich sehr/auch | freue mich darauf/drauf/schon | ebenfalls |
        gleichfalls | dir/euch/ihnen auch
        |  keine ahnung | ehrlich gesagt | war gerade/eben/kurz am telefon | ich war
        gerade/eben/kurz am telefon | am telefon | mahlzeit | ich brauche/bräuchte erst mal einen/eine
        kaffee/tee/pause | ich brauche/bräuchte einen/eine kaffee/tee/pause/urlaub | gibt es was/etwas neues | gibt es
        neuigkeiten | was gibt es/s neues |  entschuldige/entschuldigt die späte antwort | sorry für die späte antwort
        | entschuldigung für die späte antwort/verspätung | ich bin spät dran | bin spät dran | gesundheit | guten
        appetit | gute fahrt/reise/nacht/besserung | schöne ferien/feiertage | hals und beinbruch | viel
        glück/erfolg/spaß
        """,
    ),
    "fr": (
        """
        oui ouais ouaip non si bon bonjour bonsoir salut coucou entendu compris parfait génial excellent voilà voila
        ben bah bof hein quoi tiens alors enfin bref exactement exact absolument évidemment certainement sûrement
        effectivement volontiers pardon désolé désolée vraiment peut être donc adieu bienvenue intéressant nickel
        formidable magnifique merveilleux chouette clair noté bien très mdr ptdr félicitations zut oups youpi dommage
        """,
        """
        je tu il elle on nous vous ils elles me te se le la les un une des de du d l j c s n m t qu y en et ou mais
        est es suis sont être était a ai as ont à au aux ce ça cela c que qui comment pourquoi où là ici plus aussi
        tout toi moi lui leur avec pour dans sur
        """,
        """
        bonjour à tous | salut à tous | merci à tous | merci beaucoup | merci bien | merci à toi | merci à vous | bien
        sûr | daccord | très bien | ah bon | pas de problème | de rien | il n y a pas de quoi | au revoir | à bientôt
        | à plus | à plus tard | à demain | à tout à l heure | à la prochaine | je vous en prie | je t en prie | s il
        vous plaît | s il te plaît | s il vous plait | s il te plait | c est vrai | c est bon | c est ça | ça marche |
        ça va | ça va bien | comment ça va | comment allez vous | comment vas tu | bonne journée | bonne soirée |
        bonne nuit | bon week end | bon weekend | bonne idée | bonne chance | bon courage | bon travail | je vois | je
        sais | je ne sais pas | je sais pas | je pense | je crois | je trouve | je comprends | pas mal | tout à fait |
        en effet | pas du tout | peut être | tant mieux | tant pis | pas de souci | pas de soucis | un instant | un
        moment | bien joué | avec plaisir | tout va bien | enchanté | je suis désolé | je suis désolée | ça me va | on
        y va | allons y | vas y | allez y | merci pour ton aide | merci pour votre aide | merci pour l aide | merci
        pour tout | merci pour l info | merci d avance | je regarde | je reviens | je reviens tout de suite | je te
        tiens au courant | je vous tiens au courant | prends ton temps | prenez votre temps | aucune idée | pourquoi
        pas | pas vraiment | pas encore | pas sûr | bon voyage | bon appétit | bonne année | joyeux noël | joyeux
        anniversaire | beau travail | bon boulot | continue comme ça | continuez comme ça | tiens moi au courant | t
        inquiète | ne t inquiète pas | ne vous inquiétez pas | ça roule | ça me convient | c est parti | c est noté |
        bien noté | bien reçu | c est drôle | trop drôle | quoi de neuf | tu es là | vous êtes là | il y a quelqu un |
        non merci | oui merci | à lundi | à mardi | à mercredi | à jeudi | à vendredi | à la semaine prochaine |
        laisse moi réfléchir | laissez moi réfléchir | laisse moi voir | laissez moi voir | c est gentil | tu as
        raison | vous avez raison | bon retour | bonne continuation | bonne route | une seconde | une minute | un
        moment s il vous plaît | donne moi une minute | tout de suite | sans problème | aucun problème | très drôle |
        très bonne idée | c est une bonne idée | comment s est passée ta journée | quelle bonne idée | à vos souhaits
        | bien fait | bon daccord | merci beaucoup/bien/infiniment/encore/mille pour ton/votre/l/tout/la/le/les
        aide/soutien/temps/patience/réponse/info/infos/informations/retour/travail | merci pour
        ton/votre/l/tout/la/le/les aide/soutien/temps/patience/réponse/info/infos/informations/retour/travail/rapide |
        merci à tous/toutes/toi/vous/tout le/monde | merci à tout le monde | merci beaucoup/bien/infiniment/encore à
        tous/toi/vous | mille mercis | un grand merci à tous/toi/vous | un grand merci | bonjour/bonsoir/salut tout le
        monde | bonne/bon/belle/excellente
        journée/soirée/nuit/semaine/week/continuation/chance/vacances/route/après/fin à/de tous/toi/vous/semaine |
        bonne/bon/belle/excellente journée/soirée/nuit/semaine/vacances/après/weekend midi/end |
        bonne/bon/belle/excellente journée/soirée/nuit/semaine/vacances/weekend | passe/passez une
        bonne/belle/excellente journée/soirée/nuit/semaine | passe/passez un bon/excellent weekend/week end | comment
        ça/vas/allez va/tu/vous aujourd hui | comment ça/vas/allez va/tu/vous | comment s est passé ton/votre
        weekend/week end | j espère que tu/vous vas/allez bien | j espère que tout va bien | n hésite/hésitez pas à
        me/nous demander/écrire/contacter | n hésite/hésitez pas si tu/vous as/avez besoin/des questions | n
        hésite/hésitez pas | dis/dites moi si tu/vous as/avez besoin | fais/faites moi signe/savoir | puis je t/vous
        aider | c est très/vraiment/trop gentil/drôle/bien/bon/sympa/intéressant | c est
        gentil/drôle/bien/bon/sympa/parfait/super/génial/intéressant | ça me va/semble bien/parfait/très | ça me
        va/semble | ça a l air bien/bon/super | bonne/excellente/très/super idée/question/nouvelle |
        bon/beau/super/excellent travail/boulot | à tout de suite | à tout à/l heure | à la prochaine fois/semaine | à
        plus/demain/bientôt tard/tous | je suis vraiment/très/trop désolé/désolée/content/contente | pas de/aucun
        problème/souci/soucis/quoi du/tout | je/on m en/y occupe/va | avec grand/plaisir plaisir | de même | toi/vous
        aussi | à toi/vous aussi | joyeuses fêtes | meilleurs vœux | cordialement | bises/bisous
        | aucune idée | franchement | j étais au téléphone | étais au téléphone | étais au téléphone désolé/désolée |
        bon week end à tous/toutes | bonne journée/soirée à tous/toutes | désolé/désolée pour le/ce retard/contretemps
        | j ai besoin d un café | ai besoin d un café/thé/pause | besoin d un café | quoi de neuf | des nouvelles |
        bonnes vacances | bon voyage/courage/appétit | bonne route/chance/nuit | à tes/vos souhaits
        """,
    ),
    "es": (
        """
        sí si no claro vale bueno bien buenas hola adiós adios genial perfecto estupendo excelente fantástico
        fenomenal exacto exactamente cierto verdad correcto entendido entiendo listo anda pues vaya oye mira venga
        perdón perdona disculpa disculpe seguro quizás quizá tal vez realmente efectivamente absolutamente encantado
        encantada bienvenido bienvenida interesante igualmente porfa muy nada ajá dale chao chau jaja jajaja jeje
        felicidades enhorabuena tranquilo tranquila recibido anotado enseguida ojalá lástima caramba ay uf guay
        chévere
        """,
        """
        yo tú tu él ella nosotros vosotros ellos ellas me te se le lo la los las les un una unos unas el de del a al
        en y o pero es son soy eres está están estoy era ser estar ha he han hay que qué quien quién cómo como cuándo
        dónde por para con sin esto eso este ese esta esa así también ya más aquí allí mi su
        """,
        """
        muchas gracias | mil gracias | gracias a ti | gracias a usted | por supuesto | de acuerdo | muy bien | ya veo
        | no hay problema | de nada | no pasa nada | no hay de qué | hasta luego | hasta pronto | hasta mañana | hasta
        la vista | nos vemos | buenos días | buen día | buenas tardes | buenas noches | buen fin de semana | buena
        idea | buena suerte | buen trabajo | es verdad | es cierto | qué tal | que tal | cómo estás | cómo está | cómo
        va | por favor | lo siento | con permiso | ya sé | no sé | no lo sé | creo que sí | creo que no | yo creo |
        pienso que sí | me parece bien | me alegro | está bien | tal vez | a lo mejor | un momento | bien hecho | con
        mucho gusto | con gusto | mucho gusto | ya está | eso es | en serio | que tengas un buen día | vamos a ver | a
        ver | gracias por tu ayuda | gracias por su ayuda | gracias por la ayuda | gracias por todo | gracias por la
        información | gracias por avisar | gracias de antemano | un segundo | un minuto | dame un segundo | dame un
        momento | dame un minuto | ahora vuelvo | ya vuelvo | te aviso | le aviso | tómate tu tiempo | tómese su
        tiempo | sin prisa | ni idea | no tengo idea | por qué no | no realmente | la verdad no | todavía no | aún no
        | no estoy seguro | no estoy segura | buen viaje | buen provecho | feliz año | feliz año nuevo | feliz navidad
        | feliz cumpleaños | sigue así | no te preocupes | no se preocupe | suena bien | me parece | qué gracioso |
        qué bien | qué bueno | qué pena | qué hay | qué hay de nuevo | estás ahí | hay alguien ahí | hay alguien | no
        gracias | hasta el lunes | hasta el martes | hasta el miércoles | hasta el jueves | hasta el viernes | hasta
        la próxima | hasta la próxima semana | déjame ver | déjame pensar | muy amable | así es | claro que sí | claro
        que no | ahora mismo | tienes razón | tiene razón | me gusta | muy gracioso | muy buena idea | qué buena idea
        | es una buena idea | cómo te va | cómo te fue | todo bien | cuídate | que te mejores | que descanses | buen
        descanso | sin problema | ningún problema | muchas/mil/muchísimas gracias por tu/su/la/el/todo
        ayuda/apoyo/tiempo/paciencia/respuesta/información/trabajo | muchas/mil/muchísimas gracias a/de/por
        todos/todas/ti/usted/ustedes/nuevo/todo | muchas/mil/muchísimas gracias | gracias por tu/su/la/el
        ayuda/apoyo/tiempo/paciencia/respuesta/información/trabajo | gracias a/de/por
        todos/todas/ti/usted/ustedes/nuevo/todo | gracias otra vez | buenos/buenas/buen días/tardes/noches/día a/para
        todos/todas | buenos/buenas/buen días/tardes/noches/día/viaje/finde/trabajo | que tengas/tenga/tengan un/una
        buen/buena/lindo/bonito/feliz día/tarde/noche/semana/fin/finde/viaje de semana | que tengas/tenga/tengan
        un/una buen/buena/lindo/bonito/feliz día/tarde/noche/semana/finde/viaje | que pases/pase un/una
        buen/buena/lindo/bonito/feliz día/tarde/noche/semana/finde | feliz/buen fin de semana | feliz/buen
        día/noche/tarde/semana/lunes/viernes | cómo estás/está/están/va/te todo/hoy/va | cómo estás/está/están
        hoy/todos | cómo te/le va hoy | cómo te/le va/fue | qué tal todo/estás/va/tu el día/fin/todo | qué tal
        todo/estás/va | espero que estés/esté/estén bien | espero que todo vaya bien | avísame/dime/avíseme si
        necesitas/necesita algo/más algo/más | avísame/dime/avíseme si necesitas/necesita algo | no dudes/dude en
        preguntar/escribir/escribirme | en qué puedo ayudarte/ayudarle | puedo ayudarte/ayudarle en algo | eso es/está
        muy/bien bien/amable/gracioso | es/eres/está muy amable/gracioso/bien/bueno/interesante | suena/parece
        muy/bien bien/bueno | suena/parece bien/bueno/genial/perfecto | me parece bien/perfecto/genial/muy bien/buena
        | me parece una buena idea | buena/gran/excelente/muy idea/pregunta/noticia/buena | buen/gran/excelente
        trabajo/punto | nos vemos mañana/luego/pronto/después/el lunes/martes/viernes | nos vemos
        mañana/luego/pronto/después | hasta ahora/siempre/entonces | lo siento mucho/de verdad | no hay/pasa
        de/ningún/nada qué/problema | con mucho/todo gusto/placer | igualmente para ti/usted | a ti/usted también | un
        saludo/abrazo | saludos cordiales/a todos | saludos | felices fiestas
        |  ni idea | estaba al teléfono | estaba al teléfono perdón | alguna
        novedad/noticia/duda/pregunta | perdón/disculpa/disculpen por la/el demora/tardanza/retraso | feliz/buen/lindo
        fin de semana | feliz/buen/lindo fin de semana a todos/todas | necesito un café/té/descanso | qué hay de nuevo |
        buen viaje/provecho/finde | que descanses/descansen | que te/se mejores/mejore
        """,
    ),
    "it": (
        """
        sì si no certo certamente bene benissimo ottimo perfetto fantastico eccellente bello bravo brava bravi salve
        buongiorno buonasera buonanotte arrivederci addio prego capito giusto esatto esattamente vero infatti davvero
        allora beh mah boh dai ecco insomma cioè magari forse scusa scusi scusate mi dispiace volentieri sicuro
        assolutamente ovviamente naturalmente interessante benvenuto benvenuta benvenuti niente nulla molto tanto
        ricevuto figurati figurarsi evviva meraviglioso splendido ahah ahaha eheh auguri congratulazioni complimenti
        tranquillo tranquilla subito gentilissimo gentilissima peccato accidenti uffa evvai figo
        """,
        """
        io tu lui lei noi voi loro mi ti si ci vi lo la li le gli il i un una uno di del della d l c a ad al alla da
        in nel nella con su per tra e ed o ma è sono sei era essere ha ho hanno hai che chi come dove quando perché
        questo quello questa quella così anche già più qui lì poi
        """,
        """
        grazie mille | grazie tante | molte grazie | grazie a te | grazie a lei | va bene | daccordo | ho capito |
        nessun problema | di niente | di nulla | non c è di che | non c è problema | a dopo | a presto | a domani | a
        più tardi | ci vediamo | ci sentiamo | buona giornata | buona serata | buona notte | buon giorno | buona sera
        | buon fine settimana | buon weekend | buona idea | buona fortuna | buon lavoro | è vero | come va | come stai
        | come sta | per favore | per piacere | mi dispiace | lo so | non lo so | non so | credo di sì | credo di no |
        penso di sì | secondo me | mi sembra | tutto bene | tutto ok | un attimo | un momento | ben fatto | con
        piacere | piacere mio | piacere di conoscerti | ci mancherebbe | fa niente | non importa | vediamo | grazie
        per l aiuto | grazie per il tuo aiuto | grazie per tutto | grazie di tutto | grazie per l informazione |
        grazie in anticipo | un secondo | un minuto | dammi un secondo | dammi un minuto | dammi un attimo | torno
        subito | ti faccio sapere | le faccio sapere | fai con calma | con calma | senza fretta | nessuna idea | non
        ho idea | perché no | non proprio | non ancora | non sono sicuro | non sono sicura | buon viaggio | buon
        appetito | buon anno | buon natale | buon compleanno | continua così | non ti preoccupare | non preoccuparti |
        non si preoccupi | suona bene | mi piace | che bello | che ridere | che bella idea | che peccato | come vanno
        le cose | che c è di nuovo | ci sei | c è qualcuno | sì grazie | no grazie | a lunedì | a martedì | a
        mercoledì | a giovedì | a venerdì | alla prossima | alla prossima settimana | fammi vedere | fammi pensare |
        molto gentile | proprio così | certo che sì | certo che no | hai ragione | ha ragione | molto bene | molto
        divertente | è una buona idea | ottima idea | ottimo lavoro | bel lavoro | com è andata | stammi bene | buon
        riposo | senza problemi | me ne vado | ci siamo | grazie mille/tante/infinite/ancora per l/il/la/tutto/tuo/suo
        aiuto/supporto/tempo/pazienza/risposta/informazione/lavoro | grazie mille/tante/infinite/ancora a/di/per
        tutti/te/lei/tutto/cuore | grazie mille/tante/infinite/ancora | grazie per l/il/la/tutto/tuo/suo
        aiuto/supporto/tempo/pazienza/risposta/informazione/lavoro | grazie per il/la tuo/tua/suo/sua
        aiuto/supporto/tempo/pazienza/risposta/disponibilità | grazie a/di/per tutti/te/lei/tutto/cuore | molte/tante
        grazie a tutti/te/lei | buongiorno/buonasera/ciao/salve a tutti/tutte | buona/buon/bella/ottima
        giornata/serata/notte/settimana/domenica/vacanza/fine/fortuna/pomeriggio/viaggio a/settimana tutti/te |
        buona/buon/bella/ottima giornata/serata/notte/settimana/domenica/vacanza/pomeriggio/viaggio/weekend | buon
        fine settimana a tutti | ti/vi/le auguro una/un buona/buon/bella giornata/serata/notte/settimana/weekend |
        come va/stai/sta/state oggi/tutto/tutti | come va/stai/sta/state/procede | come è andato/andata il/la
        weekend/giornata/fine settimana | spero che tu/lei/tutto stia/vada bene | spero tutto bene | fammi/fatemi/mi
        sapere/faccia se hai/ha/avete bisogno/domande | fammi/fatemi sapere | non esitare/esitate/esiti a
        chiedere/scrivere/contattarmi | posso aiutarti/aiutarla/esserti utile | come posso aiutarti/aiutarla | è
        molto/davvero gentile/divertente/bello/interessante | sei/è stato/molto gentile/gentilissimo | mi sembra una
        buona/ottima idea | mi sembra giusto/perfetto/buono/ottimo/bene | suona/sembra bene/ottimo/perfetto/buono |
        buona/ottima/bella idea/domanda/notizia | buon/ottimo/bel lavoro/punto | ci vediamo/sentiamo/risentiamo
        domani/dopo/presto/lunedì/venerdì/poi | a domani/presto/dopo/lunedì/più allora/tardi | mi dispiace
        molto/tanto/davvero | non c è problema/di che | nessun/senza problema/problemi | con molto/grande piacere |
        anche a te/lei/voi | altrettanto | un saluto/abbraccio | cordiali/cari saluti | saluti | buone feste
        |  nessuna idea | ero al telefono | ci sono novità/notizie/domande | scusate/scusa/scusi il
        ritardo | scusate/scusa/scusi per il ritardo | ho bisogno di un caffè/tè | ho bisogno di una pausa | buon fine
        settimana | buon fine settimana a tutti/tutte | buon viaggio/appetito | buona fortuna/guarigione/notte | in
        bocca al lupo | che novità
        """,
    ),
}
# Whom they speak to is no content: "Thanks, Alice!".
_TO_SOMEBODY = """
        adios adiós bonjour bonsoir buena buenas buenos buona buonasera buongiorno bye cheers ciao danke evening
        goodbye gracias grazie guten hallo hello hey hi hiya hola merci moin morning salut servus sorry thank thanks
        thx tschüss welcome
"""
_PRAISE = """
        great nice good well awesome excellent amazing brilliant fantastic lovely perfect bravo super toll prima happy
        merry sounds looks congrats congratulations
"""
_ALL = "all everyone everybody folks team guys zusammen leute tous toutes todos todas tutti tutte ragazzi"
_CALLED_MOST = 2
# "Have a great evening, Mary Ann!": after a comma, at the end.
_AFTER_COMMA = re.compile(r",\s*(\w+(?:\s\w+)?)[\s.!?…]*$")
_PHRASE_MOST = 12
_WORDS = re.compile(r"[^\W_]+|_")
# "D'accord" says nothing, "l'accord" is an agreement.
_AGREED = re.compile(r"\bd['’](?=accord)", re.IGNORECASE)
# A letter before or after an apostrophe: "it's", "don't", "c'est".
_ELIDED = re.compile(r"\b[^\W\d_]['’]|['’][^\W\d_]\b")
# A longer text says something, whatever its words are; so do more function words ("they would have been there").
_LONG, _FUNCTION_MOST = 200, 3
# A longer sentence says something, even of light words alone; so does a single word that is no filler.
_TALK_MOST = 10
# What you do not know is said of you: a statement.
_YOU = frozenset(("you", "du", "tu", "vous", "usted", "lei"))
_CANNOT = re.compile(r"\bcan['’]t\b", re.IGNORECASE)
# Who cannot do something says something, but for what one says so.
_UNABLE = re.compile(r"\b(?:can['’]t|cannot|can not)\b(?!\s+(?:wait|thank|believe|complain)\b)", re.IGNORECASE)
# Signs and emoji that talk has beside words; any other is content.
_SIGNS_OF_TALK = frozenset(
    ".,;:!?…'\"’‘`“”„«»()-–—_¡¿。！？、，👍👏🙏👋👌💪🙂😀😃😄😁😊😂🤣😅😉😎😍😘🤗🥳🎉❤💙\ufe0f🏻🏼🏽🏾🏿"
)
# Small letters of words that were broken off, or that an apostrophe left. Others are names: "x", "b".
_BROKEN_OFF = frozenset("acdeijklmnostuy")
# "Roger is back" is said of somebody, "that is fine" is not.
_IS_WORDS = """
    is isn was wasn has hasn had hadn does doesn did didn said says got goes went gets wants knows likes thinks comes
    came will would can could ist war hat hatte sagt sagte wird kann geht kommt est était dit va peut está era fue dice
    dijo puede è ha può
"""
_SAID_OF_WORDS = """
    i you we they he she it that this these those there what who whom whose where when why how which everything
    everybody everyone anything something nothing all here today one so yes no and but or if as
    ich du wir ihr sie er es das dies was wer wie wo wann warum alles hier heute da so ja nein und aber
    je tu il elle on nous vous ils elles ce cela ça tout qui que quoi où comment quand oui non et mais y ne n
    yo él ella eso esto ello qué quién cómo dónde cuándo todo ya sí aquí así
    io lui lei questo quello ciò che chi come dove quando tutto sì qui così non mi ti ci
"""
_IS, _SAID_OF = frozenset(_IS_WORDS.split()), frozenset(_SAID_OF_WORDS.split())
_CAPITAL_IN_TALK = wording.CLASSES | {"i", "new", "year", "birthday", "christmas", "god", "friday"}
_SENTENCE = re.compile(r"[.!?…;:]+(?=\s|$)|\n")


class _Words:
    """Words, and beginnings of words, which end in ~."""

    def __init__(self, words: str) -> None:
        self._whole = frozenset(word for word in words.split() if not word.endswith("~"))
        self._beginnings = tuple(word[:-1] for word in words.split() if word.endswith("~"))

    def __contains__(self, word: str) -> bool:
        return word in self._whole or word.startswith(self._beginnings)


_NOT, _MAY_BE_DENIED = _Words(lightwords.NOT), _Words(lightwords.MAY_BE_DENIED)


class _Language:
    """The words and phrases of one language."""

    def __init__(self, fillers: str, function: str, phrases: str, light: str) -> None:
        self.fillers = frozenset((*_EVERYWHERE.split(), *fillers.split()))
        self.function = frozenset(function.split()) - self.fillers
        self._phrases, self._light = phrases, _Words(light)

    @cached_property
    def phrases(self) -> frozenset[tuple[str, ...]]:
        """Each phrase as it may be spelled, some 27,000: most processes never ask, and do not wait for them."""
        return frozenset(spelled for phrase in self._phrases.split("|") for spelled in _spelled(phrase))

    def light(self, word: str) -> bool:
        """Whether talk has such a word: a filler, a function word, or a light one."""
        return word in self.fillers or word in self.function or word in self._light or word in _NOT

    def talks(self, words: list[str]) -> bool:
        """Whether every word of a sentence is light, and denied is at most what talk denies."""
        if not 1 < len(words) <= _TALK_MOST:
            return False
        place, single = 0, list[str]()
        while place < len(words):
            taken = self._phrase(words, place)
            if not taken:
                word = words[place]
                if not (word in self.fillers or word in self._light or word in _NOT):
                    return False
                single.append(word)
            place += taken or 1
        denied = any(word in _NOT for word in single)
        return not denied or (words[0] not in _YOU and any(word in _MAY_BE_DENIED for word in words))

    def _phrase(self, words: list[str], place: int) -> int:
        """How many words the longest phrase has that begins there; 0 without any."""
        return max(
            (n for n in range(1, _PHRASE_MOST + 1) if tuple(words[place : place + n]) in self.phrases), default=0
        )

    def covers(self, words: list[str], functions: int) -> bool:
        """Whether every word is a filler or belongs to a phrase, but for so many function words."""
        place, used = 0, set()
        while place < len(words):
            taken = self._phrase(words, place) or int(words[place] in self.fillers)
            if not taken and words[place] not in self.function:
                return False
            if not taken:
                used.add(words[place])
            place += taken or 1
        return len(used) <= functions


def _spelled(phrase: str) -> Iterator[tuple[str, ...]]:
    """A phrase in every way that it may be said: "good/great day" are two. "I" stays in a text, as it is written."""
    for words in product(*(place.split("/") for place in phrase.split())):
        yield tuple(word for word in words if not _small(word))
        yield tuple(word for word in words if word == "i" or not _small(word))


def _small(word: str) -> bool:
    """Whether a word is a single small letter: half a word that was broken off, or what an apostrophe left."""
    return len(word) == 1 and word.isascii() and word.islower()


# "Everyone agreed" and "he is fine" are statements, and so is "I'm not": what is negated is said of something.
_OF_SOMETHING = "all every each both everyone everybody not never he she they him her them his their"
_ENGLISH = " ".join(wording.FUNCTION - set(_OF_SOMETHING.split()))
_LANGUAGES = tuple(
    _Language(fillers, f"{function} {_ENGLISH if name == 'en' else ''}", phrases, lightwords.LIGHT[name])
    for name, (fillers, function, phrases) in _FILLERS.items()
)

_GERMAN = _LANGUAGES[list(_FILLERS).index("de")]


_POLITE = "please|pls|kindly|ok|okay|hey|now|just|can|could|would|will|you|i want you to|i'd like you to"
# "Please forget that pump 8 runs at 3 bar": an order forgets, and to keep what it says would be the opposite. What says
# more than that ("forget it, pump 9 does", "forget that, but …") is a statement.
_FORGET = re.compile(
    rf"\W*(?:(?:{_POLITE}|let's|let us)[\s,]+)*(?:forget|don't remember|do not remember|vergiss(?: bitte)?|bitte "
    r"vergiss),?\s+"
    r"(?:(?:all\s+)?about\s+)?(?:that|what|everything|anything|it|this|all|the|my|our|dass|was|alles|das|es)\b"
    r"(?:(?!\b(?:but|instead|because|since|now|unless|until|before|after|when|if|to|and|or|then|aber|sondern|nicht|und|"
    r"oder|dann)\b|\s-)(?:[^,;:.!?–—&/+()\n]|\.(?=\d)))*(?:,\s*(?:please|thanks|thank you|bitte))?[.!?\s]*\Z",
    re.IGNORECASE,
)


# What is asked to be erased is an order's matter as well, and no memory: "Please delete my address."
# Of somebody named it is to forget alone, "forget Ada Quill's phone number": "delete Kafka's data" is something to do.
_ERASE = re.compile(
    rf"\W*(?:(?:{_POLITE})[\s,]+)*"
    r"(?:(?:delete|erase|remove|wipe|clear)\s+(?:all\s+(?:of\s+)?)?(?:my|our)|"
    r"forget\s+(?-i:[^\W\d_a-z][\w-]+\s+){0,2}(?-i:[^\W\d_a-z][\w-]+)['’]s)\s+"
    r"(?:(?:e-?mail|phone|home|old|personal|bank)\s+)*"
    r"(?:address|number|name|e-?mail|birthday|data|password|memor(?:y|ies)|notes|messages|history|conversations?|photos?|"
    r"information|info|details)(?:\s+(?:from|in)\s+(?:your|the)\s+(?:memory|memories|records?|notes|system|database))?"
    r"(?:,?\s*(?:please|thanks|thank you))?[.!?\s]*\Z",
    re.IGNORECASE,
)
_NODS = re.compile(r"\s*\+1[.!\s]*\Z")
# A line of a chat's transcript: "User: thanks!"
_ROLED = re.compile(r"\s*(?:user|assistant|human|ai|agent|customer|bot)\s*:\s+", re.IGNORECASE)
# Who says their name says something: "Hi, I'm Lea."
_INTRODUCES = re.compile(
    r"(?:\bI['’]m|\bI am|\b[Ii]t['’]s me,?|\b[Ii]ch bin|\b[Ii]ch hei(?:ß|ss)e|\b[Jj]e suis|\b[Ss]oy|\b[Ss]ono)"
    r"\s+[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]"
)


def says_nothing(text: str) -> bool:
    """Whether a text holds nothing but fillers of one language, whom they speak to, small letters and signs; or only
    asks to forget or erase something."""
    if (role := _ROLED.match(text)) is not None:
        text = text[role.end() :]
    if len(text) > _LONG:
        return False
    if _FORGET.match(text) or _ERASE.match(text) or _NODS.match(text):
        return True
    if _INTRODUCES.search(text) or _UNABLE.search(text) or _has_other_signs(text) or _says_of_somebody(text):
        return False
    called = _AFTER_COMMA.search(text)
    # One word before it may be the answer: "Yes, Alice."
    if called and len(text[: called.start()].split()) > 1 and all(map(_may_be_called, called[1].split())):
        return _all_fillers(text[: called.start()])
    if _names_inside(text):
        return _calls(text)
    return _all_fillers(text) or _all_talk(text)


def _has_other_signs(text: str) -> bool:
    """Whether a sign, an emoji or a single letter is in it that talk does not have."""
    if any(not (c.isalnum() or c.isspace() or c in _SIGNS_OF_TALK) for c in text):
        return True
    return any(_small(word) and word not in _BROKEN_OFF for word in _WORDS.findall(text))


def _says_of_somebody(text: str) -> bool:
    """Whether a sentence begins with a word and what it is or does: a name, though it may be a filler elsewhere."""
    for sentence in _SENTENCE.split(text):
        words = [word.casefold() for word in _words(sentence)[:2]]
        if len(words) == 2 and words[1] in _IS and words[0] not in _SAID_OF:
            return True
    return False


def _names_inside(text: str) -> bool:
    """Whether a word inside a sentence has a capital: a name. Where all have one they have to be fillers and phrases;
    in German any noun has one, so there the words decide."""
    for sentence in _SENTENCE.split(text):
        words = _words(sentence)
        inside = [word for word in words[1:] if word.istitle() and word.casefold() not in _CAPITAL_IN_TALK]
        folded = [word.casefold() for word in words]
        if not inside or _GERMAN.covers(folded, _FUNCTION_MOST) or _GERMAN.talks(folded):
            continue
        if not all(word.istitle() for word in words) or not any(one.covers(folded, 0) for one in _LANGUAGES):
            return True
    return False


def talk_of(text: str) -> frozenset[str]:
    """The words of a text that talk is made of, in small letters: those of one language, of which it has the most."""
    words = {word.casefold() for word in _words(text)}
    light = {word: _light(word) for word in words}
    most = max(range(len(_LANGUAGES)), key=lambda at: sum(each[at] for each in light.values()))
    return frozenset(word for word in words if light[word][most])


@memo(16_384)
def _light(word: str) -> tuple[bool, ...]:
    return tuple(one.light(word) for one in _LANGUAGES)


def _all_talk(text: str) -> bool:
    """Whether each sentence is talk or fillers, all in one language."""
    text = _CANNOT.sub("cannot", text)
    sentences = [[word.casefold() for word in _words(sentence)] for sentence in _SENTENCE.split(text)]
    return any(
        all(language.covers(words, _FUNCTION_MOST) or language.talks(words) for words in sentences)
        for language in _LANGUAGES
    )


def _words(text: str) -> list[str]:
    text = _ELIDED.sub(" ", _AGREED.sub("d", normalised("NFKC", text)))
    return [word for word in _WORDS.findall(text) if not _small(word)]


def _all_fillers(text: str) -> bool:
    words = _words(text)
    folded = [word.casefold() for word in words]
    return any(language.covers(folded, _FUNCTION_MOST) for language in _LANGUAGES) or _calls(text)


def _calls(text: str) -> bool:
    """Whether all are fillers of a greeting, thanks or praise, but for whom it speaks to."""
    words = _words(text)
    folded = [word.casefold() for word in words]
    begins = bool(folded) and folded[0] in f"{_TO_SOMEBODY} {_PRAISE}".split()
    return begins and _covers_but_who_is_called(words, folded)


def _covers_but_who_is_called(words: list[str], folded: list[str]) -> bool:
    """Whether fillers are left without a name of a word or two after the first word, or at the end."""
    for many in range(1, min(_CALLED_MOST, len(words) - 1) + 1):
        places = {len(words) - many} if folded[0] in _PRAISE.split() else {1, len(words) - many}
        for place in places:
            called = words[place : place + many]
            rest = folded[:place] + folded[place + many :]
            if all(map(_may_be_called, called)) and any(one.covers(rest, 0) for one in _LANGUAGES):
                return True
    return False


def _may_be_called(word: str) -> bool:
    if word.casefold() in _ALL.split():
        return True
    return word.isalpha() and word.istitle() and word.casefold() not in wording.CLASSES
