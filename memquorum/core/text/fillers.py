"""What says nothing by itself: thanks, greetings, acknowledgements and noises, in five languages (SPEC B, novelty).

A text says nothing where only fillers, phrases of this list and few function words of one language are in it: "ok
thanks!", "Yeah, sure.", "so it's". A number, a name, a code or any word that is not listed is content: "ok, the door
code is 4821". A list of another version judges other texts; raise `VERSION` with every change.
"""

from __future__ import annotations

import re
import unicodedata

from memquorum.core.text import wording

VERSION = 2

_EVERYWHERE = """
    ok okay oki k kay mm mmm mhm hm hmm hmmm ah aha oh ooh uh uhm um eh ehm äh ähm euh er erm huh hup ha haha hahaha
    hehe hihi lol rofl xd wow whoa oops ups bravo super cool hey hi hallo hello ciao bye sorry thx ty thanks merci
    danke gracias grazie please bitte
"""
# By language: single fillers, function words that mean nothing without others, phrases.
_FILLERS = {
    "en": (
        """
        kk yeah yea ya yep yup yes nope nah no ouch ow yay hiya yo goodbye thank cheers pardon sure right alright
        great nice good fine perfect excellent awesome brilliant lovely wonderful fantastic amazing exactly absolutely
        definitely totally certainly indeed correct true really actually basically honestly obviously well anyway
        anyways gotcha whoops ye possibly whatever understood noted agreed ack roger welcome congrats congratulations
        maybe perhaps probably interesting dunno lot much done np brb nvm idk tbh imo omg btw gg ikr ttyl lgtm yw wb
        afk hmpf whee yikes phew meh ugh argh hooray woohoo bingo aye anytime apologies sec
        """,
        """
        a an t s re ve ll d m can let gonna wanna kinda sorta like still
        """,
        """
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
        sure | oh boy | oh dear | oh man
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
        lustig | das ist lustig
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
        | bien fait | bon daccord
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
        descanso | sin problema | ningún problema
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
        riposo | senza problemi | me ne vado | ci siamo
        """,
    ),
}
# Whom they speak to is no content: "Thanks, Alice!".
_TO_SOMEBODY = """
    adios adiós bonjour bonsoir buena buenas buenos buona buonasera buongiorno bye cheers ciao danke goodbye gracias
    grazie guten hallo hello hey hi hiya hola merci moin morning salut servus sorry thank thanks thx tschüss welcome
"""
_PRAISE = "great nice good well awesome excellent amazing brilliant fantastic lovely perfect bravo super toll prima"
_ALL = "all everyone everybody folks team guys zusammen leute tous toutes todos todas tutti tutte ragazzi"
_CALLED_MOST = 2
_PHRASE_MOST = 6
_WORDS = re.compile(r"[^\W_]+|_")
# "D'accord" says nothing, "l'accord" is an agreement.
_AGREED = re.compile(r"\bd['’](?=accord)", re.IGNORECASE)
# A letter before or after an apostrophe: "it's", "don't", "c'est".
_ELIDED = re.compile(r"\b[^\W\d_]['’]|['’][^\W\d_]\b")
# A longer text says something, whatever its words are: characters, different words, and function words among them
# ("they would have been there").
_LONG, _WORDS_MOST, _FUNCTION_MOST = 200, 8, 3


class _Language:
    """The words and phrases of one language."""

    def __init__(self, fillers: str, function: str, phrases: str) -> None:
        self.fillers = frozenset((*_EVERYWHERE.split(), *fillers.split()))
        self.function = frozenset(function.split()) - self.fillers
        self.phrases = frozenset(tuple(w for w in phrase.split() if not _small(w)) for phrase in phrases.split("|"))

    def covers(self, words: list[str], functions: int) -> bool:
        """Whether every word is a filler or belongs to a phrase, but for so many function words."""
        place, used = 0, set()
        while place < len(words):
            taken = max(
                (n for n in range(1, _PHRASE_MOST + 1) if tuple(words[place : place + n]) in self.phrases),
                default=int(words[place] in self.fillers),
            )
            if not taken and words[place] not in self.function:
                return False
            if not taken:
                used.add(words[place])
            place += taken or 1
        return len(used) <= functions


def _small(word: str) -> bool:
    """Whether a word is a single small letter: half a word that was broken off, or what an apostrophe left."""
    return len(word) == 1 and word.isascii() and word.islower()


# "Everyone agreed" is a statement, and so is "I'm not": what is negated is said of something.
_ENGLISH = " ".join(wording.FUNCTION - {"all", "every", "each", "both", "everyone", "everybody", "not", "never"})
_LANGUAGES = tuple(
    _Language(fillers, f"{function} {_ENGLISH if name == 'en' else ''}", phrases)
    for name, (fillers, function, phrases) in _FILLERS.items()
)


def says_nothing(text: str) -> bool:
    """Whether a text holds nothing but fillers of one language, whom they speak to, small letters and signs."""
    if len(text) > _LONG:
        return False
    words = [
        w
        for w in _WORDS.findall(_ELIDED.sub(" ", _AGREED.sub("d", unicodedata.normalize("NFKC", text))))
        if not _small(w)
    ]
    folded = [word.casefold() for word in words]
    if len(set(folded)) > _WORDS_MOST:
        return False
    if any(language.covers(folded, _FUNCTION_MOST) for language in _LANGUAGES):
        return True
    return (
        bool(folded) and folded[0] in f"{_TO_SOMEBODY} {_PRAISE}".split() and _covers_but_who_is_called(words, folded)
    )


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
