"""What says nothing by itself: thanks, greetings, acknowledgements and noises, in five languages (SPEC B, novelty).

A text says nothing where only fillers, phrases of this list and few function words of one language are in it: "ok
thanks!", "Yeah, sure.", "so it's". A number, a name, a code or any word that is not listed is content: "ok, the door
code is 4821". A list of another version judges other texts; raise `VERSION` with every change.
"""

from __future__ import annotations

import re
import unicodedata

from memquorum.core.text import wording

VERSION = 1

_EVERYWHERE = """
    ok okay oki k kay mm mmm mhm hm hmm hmmm ah aha oh ooh uh uhm um eh ehm äh ähm euh er erm huh hup ha haha hahaha
    hehe hihi lol rofl xd wow whoa oops ups bravo super top cool hey hi hallo hello ciao bye sorry thx ty thanks merci
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
        maybe perhaps probably interesting dunno guys lot much bunch mate done
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
        appreciate it | much appreciated | i appreciate it | looking forward | sounds like a plan
        """,
    ),
    "de": (
        """
        ja jo jep jawohl nein nee ne nö doch genau klar gut okidoki prima toll schön fein perfekt klasse spitze
        ausgezeichnet wunderbar großartig gerne gern stimmt richtig verstanden servus moin tschüss tschau tschö grüezi
        entschuldigung verzeihung sicher natürlich selbstverständlich absolut eigentlich vielleicht wirklich echt also
        naja tja achso ach ach na so hmja passt alles wow danke dankeschön bitteschön bitte willkommen interessant
        einverstanden quasi sozusagen halt eben mal
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
        nicht schlecht | sehr gerne | von mir aus | hört sich gut an | klingt gut | freut mich | sag ich mal
        """,
    ),
    "fr": (
        """
        oui ouais ouaip non si bon bonjour bonsoir salut coucou accord entendu compris parfait génial excellent voilà
        voila ben bah bof hein quoi tiens alors enfin bref exactement exact absolument évidemment certainement
        sûrement effectivement volontiers pardon désolé désolée vraiment peut être donc adieu bienvenue intéressant
        nickel formidable magnifique merveilleux chouette clair noté bien très
        """,
        """
        je tu il elle on nous vous ils elles me te se le la les un une des de du d l j c s n m t qu y en et ou mais
        est es suis sont être était a ai as ont à au aux ce ça cela c que qui comment pourquoi où là ici plus aussi
        tout toi moi lui leur avec pour dans sur
        """,
        """
        bonjour à tous | salut à tous | merci à tous | merci beaucoup | merci bien | merci à toi | merci à vous | bien
        sûr | d accord | très bien | ah bon | pas de problème | de rien | il n y a pas de quoi | au revoir | à bientôt
        | à plus | à plus tard | à demain | à tout à l heure | à la prochaine | je vous en prie | je t en prie | s il
        vous plaît | s il te plaît | s il vous plait | s il te plait | c est vrai | c est bon | c est ça | ça marche |
        ça va | ça va bien | comment ça va | comment allez vous | comment vas tu | bonne journée | bonne soirée |
        bonne nuit | bon week end | bon weekend | bonne idée | bonne chance | bon courage | bon travail | je vois | je
        sais | je ne sais pas | je sais pas | je pense | je crois | je trouve | je comprends | pas mal | tout à fait |
        en effet | pas du tout | peut être | tant mieux | tant pis | pas de souci | pas de soucis | un instant | un
        moment | bien joué | avec plaisir | tout va bien | enchanté | je suis désolé | je suis désolée | ça me va | on
        y va | allons y | vas y | allez y
        """,
    ),
    "es": (
        """
        sí si no claro vale bueno bien buenas hola adiós adios genial perfecto estupendo excelente fantástico
        fenomenal exacto exactamente cierto verdad correcto entendido entiendo listo anda pues vaya oye mira venga
        perdón perdona disculpa disculpe seguro quizás quizá tal vez realmente efectivamente absolutamente encantado
        encantada bienvenido bienvenida interesante igualmente porfa muy nada ajá dale chao chau
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
        ver
        """,
    ),
    "it": (
        """
        sì si no certo certamente bene benissimo ottimo perfetto fantastico eccellente bello bravo brava bravi salve
        buongiorno buonasera buonanotte arrivederci addio prego capito giusto esatto esattamente vero infatti davvero
        allora beh mah boh dai ecco insomma cioè magari forse scusa scusi scusate mi dispiace volentieri sicuro
        assolutamente ovviamente naturalmente interessante benvenuto benvenuta benvenuti niente nulla accordo molto
        tanto ricevuto figurati figurarsi evviva meraviglioso splendido
        """,
        """
        io tu lui lei noi voi loro mi ti si ci vi lo la li le gli il i un una uno di del della d l c a ad al alla da
        in nel nella con su per tra e ed o ma è sono sei era essere ha ho hanno hai che chi come dove quando perché
        questo quello questa quella così anche già più qui lì poi
        """,
        """
        grazie mille | grazie tante | molte grazie | grazie a te | grazie a lei | va bene | d accordo | ho capito |
        nessun problema | di niente | di nulla | non c è di che | non c è problema | a dopo | a presto | a domani | a
        più tardi | ci vediamo | ci sentiamo | buona giornata | buona serata | buona notte | buon giorno | buona sera
        | buon fine settimana | buon weekend | buona idea | buona fortuna | buon lavoro | è vero | come va | come stai
        | come sta | per favore | per piacere | mi dispiace | lo so | non lo so | non so | credo di sì | credo di no |
        penso di sì | secondo me | mi sembra | tutto bene | tutto ok | un attimo | un momento | ben fatto | con
        piacere | piacere mio | piacere di conoscerti | ci mancherebbe | fa niente | non importa | vediamo
        """,
    ),
}
# Whom they speak to is no content: "Thanks, Alice!".
_TO_SOMEBODY = """
    adios adiós bonjour bonsoir buena buenas buenos buona buonasera buongiorno bye cheers ciao danke good goodbye
    gracias grazie guten hallo hello hey hi hiya hola merci moin morning salut servus sorry thank thanks thx tschüss
    welcome
"""
_ALL = "all everyone everybody folks team guys zusammen leute tous toutes todos todas tutti tutte ragazzi"
_CALLED_MOST = 2
_PHRASE_MOST = 6
_WORDS = re.compile(r"[^\W_]+|_")
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
    words = [w for w in _WORDS.findall(_ELIDED.sub(" ", unicodedata.normalize("NFKC", text))) if not _small(w)]
    folded = [word.casefold() for word in words]
    if len(set(folded)) > _WORDS_MOST:
        return False
    if any(language.covers(folded, _FUNCTION_MOST) for language in _LANGUAGES):
        return True
    return bool(folded) and folded[0] in _TO_SOMEBODY.split() and _covers_but_who_is_called(words, folded)


def _covers_but_who_is_called(words: list[str], folded: list[str]) -> bool:
    """Whether fillers are left without a name of a word or two after the first word, or at the end."""
    for many in range(1, min(_CALLED_MOST, len(words) - 1) + 1):
        for place in {1, len(words) - many}:
            called = words[place : place + many]
            rest = folded[:place] + folded[place + many :]
            if all(map(_may_be_called, called)) and any(one.covers(rest, 0) for one in _LANGUAGES):
                return True
    return False


def _may_be_called(word: str) -> bool:
    if word.casefold() in _ALL.split():
        return True
    return word.isalpha() and word.istitle() and word.casefold() not in wording.CLASSES
