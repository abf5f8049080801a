"""Words that talk is made of, by language: nothing is stated with them alone (`text.fillers`).

Who is greeted, thanked, asked for help, wished well, or told that somebody sees to it; how one feels about it, and the
weather. A word that ends in ~ stands for all that begin so. Things, places, names, numbers, times, changes and what
people keep, use or own are no such words; nor is whoever is neither "I" nor "you". From general knowledge, not from
any data; a change raises `fillers.VERSION`.
"""

from __future__ import annotations

LIGHT = {
    "en": """
    a able about absolutely actually afternoon also always am amazing an and angel another answer answered answering
    answers any anyone anything apolog~ appreciat~ are aren as ask asked asking assist~ at awesome awful awfully bad
    be beautiful begin being believ~ best bet better bit blast bless blessed bored both bother bothered bothering
    brilliant brrr buddy bummer busy but bye can care catch~ caught certain~ champ chat chatting check checking cheer~
    chilly christmas clarif~ clear clearly cold come coming completely compliment compliments congrat~ continu~ cool
    could couldn course crazy cross crossing cry crying curious cutie dang darling days dear definitely delighted
    detailed did didn do does doesn doing don done doubt dude each elaborate else enjoy~ enough even evening ever
    exactly excellent excited exciting excus~ exhausted expect expected expecting explain~ explan~ extremely fair
    fantastic fast faster favor favour feedback feel feeling feels felt few fine fingers folks for forever forgive
    freezing friend friends fun funny further gave gem generous genius get getting give given giving glad glance go
    going good goodness gorgeous gosh got grateful great grin guess guys ha had hadn haha hahaha hang happen happened
    happens happier happy has hasn have haven having heads hear hearing hehe hello help helped helpful helping hero
    hilarious holidays honest~ honey honored honoured hope~ horrible how hug hugs hurry i idea if impress~ in
    incredibl~ indeed interesting into is isn it joke jokes joking joy just keen kidding kind kindly kiss~ knew know
    knowing later laugh~ legend let lets life lifesaver like likely listen~ literally little ll lol look looked
    looking looks lot lots love lovely luck lucky mad many mate matter matters may maybe me mean means meant mess
    message might mind minute moment more morning most much must my myself neatly need needs nervous nice nicely nicer
    nothing now obvious~ of oh ok okay on only or other our ourselves outside pardon patien~ perfect perfectly perhaps
    ping pinging pity pleasure pleas~ pr pray~ pretty proceed proud question questions quick quickly quite rain
    raining rainy rather re ready real really reckon regards relax relaxed relief relieved remember remind~ repeat~
    rephrase replied replies reply replying request respond~ response responses rested review reviewing reword right
    rush sad safe said same say saying says sec second see seeing seem seems seen sense serious~ shall shame share
    shot should shouldn silly simply sir sleep sleeping sleepy slept smil~ snow snowing so some somebody someone
    something somewhat soo soon soonest sooo sorry sort sound sounds speak speaking spoke star start started starting
    staying still strange stuff stupid such suggest~ suit suits sun sunny sunshine super sure surprise surprised
    surprising sweet sweetie take takes taking talk talked talking team tell telling terribl~ than thank~ that the
    then there thing things think thinking this thorough those thought thoughtful thrilled thumbs time times tired
    tiring to today together told tonight's too took touch tough travels tried trouble truly try trying understand
    understood ve very wait waiting want wanted wants warm was wasn way we weather week weekend weekends weird welcome
    well were weren what whatever when whenever where whether which while who why will wish~ with wondering wonder~
    word words working worr~ would wouldn wow yay yeah yes yet you your yours yourself
    """,
    "de": """
    ab abend abends aber absolut ach aha allem allen allerbeste~ alles allzu als also am an andermal anfangen
    angenehm~ anhören anschau~ anseh~ antworten antwort~ anzuschauen arg auch auf aufregend augenblick aus
    ausführlich~ ausgeruht ausgezeichnet~ bald bedank~ beeil~ begeister~ bei beim bescheid beste~ bin bis bisschen
    bist bitte~ blick blöd~ brauche brauchst braucht da dabei dafür damit danach dank~ dann daran darauf darf darfst
    darum darüber das dass daumen davon dazu dein~ dem den denk~ denn der des dich die dies~ dinge dir doch drauf
    draußen drum drüber drück~ du dumm~ durch dürft~ eben ebenfalls ebenso echt eh ehrlich~ eigenem eigentlich eile
    eil~ ein eine einem einen einer eines einfach einig~ einmal einverstanden endlich entschuldig~ erfolg erinner~
    erklär~ erleichtert erst erwarte erwartet erzähl~ es etwas euch euer eure~ familie fangen feierabend fein~ find~
    formulier~ frag frage fragen fragt freundlich~ freu~ froh~ fröhlich~ furchtbar~ fühle fühlt für ganz gar
    geantwortet gebt gedanken geduld gefall~ gefreut gefällt geholfen geklappt geklungen gelacht genau genieß~ genug
    gerade gern~ gesagt geschehen geschlafen gespannt gespräch gib gibt glaub~ gleich glück~ großartig~ große großer
    großes grüß~ gut gute guten guter gutes hab habe haben habt hallo hast hat hatte hatten hattest hattet heiß helf~
    her herrlich~ herz~ heute hier hilfreich~ hilf~ hin hinschau~ hoff~ hätte hätten hättest hören hört ich idee ihnen
    ihr ihre~ im immer in ins interessant~ irgendwie ist ja je jederzeit jemand jetzt kalt kann kannst klappt klar~
    klasse klein~ klingt komisch~ kopf krass kurz~ können könnt könnte könnten könntest könntet kümmer~ lach~ lang
    lange langsam lass lassen lasst laufen leben legen leid leider lieb liebe lieben lieber liebes lob los loslegen
    lust~ läuft mach~ mag magst mal man mega mehr mein~ meld~ mensch mich minute mir mist mit moment morgen muss mut
    möcht~ mögen müde müssen na nach nachdenk~ nachfrag~ nacht natürlich ne nett~ neues neugierig nichts noch nochmal~
    nun nur nächste~ ob oder oft oh ok okay ordnung paar passend passiert passt pause perfekt~ prima prüfen raus recht
    rede~ regnet rein richtig~ riesen~ riesig ruhig rüber rückfrage~ rückmeldung~ sache sachen sagen sagst schad~
    schatten~ schatz schau~ schick schlaf~ schlecht~ schlimm~ schnee schneit schnell~ schon schrecklich~ schreibe
    schön schöne schönen schöner schönes seh sehe sehen sehr sei seid sein seit sekunde selber selbst sich sicher~ sie
    sieh sieht sind so sofort sogar soll~ sonne sonnig sonst sorg~ spannend~ spaß~ sprech~ spricht später stimm~
    stress stressig super tag tage toll~ total traurig tun tust um und ungefähr uns unser~ unterhalt~ unterstütz~
    urlaub verdient verrückt verstand~ versteh~ versuch~ verzeih~ viel viele vielen vielleicht vollkommen vom von vor
    vorstell~ völlig wahnsinn~ wahr wahrscheinlich war waren warm warst warte warten warum was weil weiter~ weiß
    welch~ wenig wenn wer werd~ wetter wichtig wie wieder wiederhol~ wiederseh~ will willkommen willst wir wird
    wirklich wirst wissen witz~ wo woche wochenende wochenenden wohl wollen wollt~ womit worauf wort worte worum
    worüber wäre wärst wünsch~ würd~ zeig zeit ziemlich zu zuhör~ zum zur zusammen zwar über überall überhaupt
    überleg~ überrasch~ übrig~
    """,
    "fr": """
    a absolument adorable adore~ affreux agréable ah ai aie aille aimerais aimerait ainsi allais aller allez allons
    allé alors ami amical~ amour amus~ appréci~ après~ as assez attendais attent~ au aujourd aussi autant autre~ aux
    avec avez aviez avis avoir avons ayez beau beaucoup belle besoin bien bientôt bises bisous bizarre bon bonheur
    bonne bonnes bons bonsoir bravo ce cela cependant ces cet cette chance chaud cher chers chouette chère ciel clair~
    coeur comme commence~ comment commenç~ compliment compliments complètement compren~ compris content~ continu~
    coucou coup courage crevé~ croi~ curieu~ cœur daccord dans de dehors demandais demande demander des deux~ devr~
    dire dis discut~ dispo dit dites doigts doit doivent donc donne~ dormi dormir doux drôle~ du débord~ déjà désol~
    détaill~ détaillé détaillée effectivement embrass~ en enchant~ encore end enfin ennu~ ensemble ensuite es espèr~
    espér~ est et eu exactement excellent~ excus~ explic~ expliqu~ fabuleu~ fach~ faire fais faisons fait faites
    famille fatigu~ faut fera ferai fier fière foi fois force formidable fort fou frais franchement froid félicit~
    gentil~ grand grande grave grâce génial~ heureu~ histoire horrible hui humeur ici idée il impatien~ important
    incroyable inquièt~ inquiét~ instant intéress~ jamais~ je jeter jetez jette jeu joie joli~ jour journée journées
    jusqu juste la laisse~ larmes~ le les leur~ long longtemps là légende ma madame magnifique maintenant mais mal
    malin marrant~ matin me meilleur~ merci merveil~ mes message mieux mille minute mm moi moins moment mon monsieur
    mot mots même ne neige nerveu~ notre noté nous nouvelle nouvelles nuit occupe~ oeil oh on ont ou oubli~ où pardon~
    parfait~ parle parler parlons pas passe passer passez passé patien~ pauvre peine pens~ petit petite petites petits
    peu peut peux plaisant~ plaisir plait plaît pleut plui~ plus plutôt point pour pourquoi pourr~ pouv~ prend~ presse
    pressé pressée prie prochaine proche~ profit~ précieuse précieux prêt~ puis puisse qu quand que quel quelle
    quelles quelqu quels question questions qui quoi raison rapid~ rappel~ rassur~ ravi~ re reformul~ regard~ remerci~
    rencontr~ rendre reparl~ repos~ reste restez retour retours reven~ revien~ revoir revoit revoyons rien riez rigol~
    rire ris réactivité répond~ réponse~ répèt~ répét~ sa sais sans~ savais savez savoir semaine semb~ sens sentir
    serait service seul~ si signe simple~ soir soirée soit soleil sommes sont sortir souci~ souhait~ soulag~ soulagé
    soulagée soyez stress~ suis super sur surpris~ surtout sympa~ ta tant tard te tellement temps tenir tes tiens toi
    ton top total~ toujours tour tourne tout toute triste trop trouv~ très tu tête~ tôt un une utile utiles va vais
    vas venez vent verr~ vers veut veux vie viens vient vite voilà voir vois voit vos votre voudr~ voul~ vous voyez
    voyons vrai vraie vraiment vu vérifi~ week weekend y à ça écout~ énorm~ épat~ épuisé~ étais était été évidemment
    êtes être ô œil
    """,
    "es": """
    a abraz~ aburrid~ acerca acuerdo además adiós agotad~ agradable agradec~ agradezc~ ahora ahí al alegr~ algo
    alguien algun~ aliviad~ allí amabilidad amable~ amig~ amor anda animo apoyo apreci~ aprovech~ aquí asombros~ así
    aunque ay ayud~ aún bastante bella bello bend~ besito~ beso besos bien bienvenid~ bonit~ bravo broma~ buen buena
    buenas bueno buenos cabeza calor~ cansad~ cara caramba cariñ~ casi charl~ chist~ chévere cielo cierto clar~
    coment~ comenz~ comienc~ como completamente comprend~ con conmigo consult~ content~ contest~ contigo continu~
    corazón cosa cosas cree creer crees creo cruz~ cuando cuenta cuentas cuid~ cumplido curios~ cuándo cuánt~ cuéntame
    cuéntanos cómo da dado dale dame danos dar das de deber~ debes debo decir dedos deja dejar del demasiado desay~
    descans~ desde dese~ después detallada detallado di dice dices dicho diga digas digo dijiste dime dinos disculp~
    disfrut~ divert~ diviert~ dormido dormir dormiste duda~ déja~ día días díganos e echa echar~ el ella~ emocion~
    empec~ empez~ empiez~ en encant~ encarg~ enhorabuena enorme~ entend~ entiend~ entonces entusiasm~ era eran eras
    eres es esa ese eso esos espectacular esperaba esper~ esta estaba estar estará estas este esto estos estoy
    estupend~ está están estás estén estés exact~ excelente~ explic~ extrañ~ familia fantástic~ fatal favor felic~
    feliz fenomenal fin finde frío fue fuerte fuerza fácil genial~ gente graci~ gran grande gust~ ha haber habl~
    habéis había hace hacer haces haciendo haga hagamos hago hambre han has hasta hay haya hayas hayáis he hecho
    hermos~ hola horrible hoy hubi~ idea igual~ importa importancia increíble~ información~ interes~ ir itos junto
    juntos la las le les leyenda lindo lista listo listos llen~ lluev~ lluvi~ lo loco los luego madre maja majo mal
    mala malo maravill~ mañanas me mejor~ menos mensaje menud~ mi mil minutito minuto mira mirad mirar miro mism~
    molest~ moment~ much~ muy más mí nada necesit~ nervios~ ni nieva nieve~ noche noches nos nosotr~ nuestr~ o ocup~
    oigo ojalá ojo orden orgull~ otra otro otros oye oí oír paciencia para parec~ parte pasa pasado pasar pase pases
    pena pens~ perdon~ perdón perfect~ pero persona piens~ plac~ poco podemos poder podrás podrí~ podéis podía ponte
    por porque precios~ pregunta preguntas preocup~ prisa pronto prueba pued~ pues punto que querer querid~ querría
    quería quien quier~ quizá~ quién qué quédate raro ratito rato razón recuerd~ reformul~ repet~ repit~ respond~
    respuesta~ revis~ reír~ risa risas rápidamente rápid~ sabe saber sabes sabía salud saludo~ se sea seas segundo
    segur~ según semana sentido sentir serio será sería si sido siempre sient~ sigamos sigue simpátic~ sin
    sinceramente sobre sol soleado solo somos son sonr~ sorprend~ sorpres~ soy su suena suert~ super supon~ sus sé sí
    sólo súper tal tambien también tampoco tan tant~ tarde tardes te tema ten tenemos tener tenga tengan tengas tengo
    tengáis tenido tenéis tenía terrible ti tiempo tiene tienes toca toda todo tonto total~ tranquil~ trist~ tu tus
    tuyo tú un una unas uno unos vacaciones vale vamos vaya vayas ve veces vemos ven ver verdad vernos verte verá vez
    vida vienes viento vistazo visto vosotr~ voy vuestr~ y ya yo ánim~ órdenes útil útiles
    """,
    "it": """
    a abbastanza abbia abbiamo abbiate abbracci~ ad addirittura adesso adoro affatto aiut~ al alla alle allegr~ allora
    altro ami amic~ amore anch~ ancora andare andata andato andiamo antipatic~ appena apprezz~ ascolt~ aspettavo
    aspett~ assist~ assolutamente assurd~ attenzione attimo augur~ avanti avere avete avevo avrei avrest~ baci baciamo
    bacio bei bel bell~ ben bene benissimo benvenut~ bisogno bizzarr~ brav~ breve brutta brutto buon buona buonanotte
    buone buoni buono caldo calma capire capisc~ capit~ cara cari carin~ caro caspita cert~ che chi chiacchier~
    chiarissimo chiaro chiedere chiederti chiedo chiesto ci ciao cielo cioè ciò com come cominc~ commoss~
    completamente complimenti compliment~ comunque con confus~ congratul~ consiglio contare content~ continu~
    controll~ coraggio cosa cose così cred~ cuore curios~ da daccordo dai dal dall dalla dare darmi dato davver~ debbo
    dei del dell della delle dello denti~ dettagliat~ deve devi devo di dice dici dico dimm~ dire dirmi dirti discut~
    dispia~ disponibil~ disposizione disturb~ dita dito divert~ dobbiamo dolce domanda domande dopo dormire dormito
    dove dovrei dunque e eccezional~ ecco ed ehi ehm emozion~ enorm~ esatt~ esser~ eventualmente evviva fa facciamo
    faccio facile fai fame famiglia fammi fantastic~ far fare farlo farmi farà farò fate fatto favor~ felic~ feste~
    fiducia figur~ finalmente fine fooort forse forte fortun~ forza fosse freddo fresco fretta fuori gelo gente
    gentil~ giornata giornate giorno giusto già gran grand~ grazi~ guard~ ha hai hanno ho idea ieri~ il immagin~
    impazient~ impegnat~ importa importante in incredibil~ incrociamo incrocio infatti infinit~ iniziamo iniziare
    innamor~ insieme insomma interess~ invece io ipotesi~ la lasci~ le lei li lieta lieto lo loro~ lunga là lì ma
    magari magnific~ mah mal male mamma mano mattin~ me medesim~ meglio meno mentre meraviglios~ messaggio mi mia mie
    miei mille minutino minuto mio molta molte molti molto moment~ mondo morire~ ne neanche necessari~ nel nell nella
    nemmeno nervos~ nessun neve nevica niente noi non nostr~ notizia notte nulla o occhiata occhio occup~ oddio oggi
    ogni ok okay onest~ onorat~ ora orgoglios~ ottim~ ovvi~ paio~ pare parlare parlarne parliamo parola parole parte
    passare passat~ passiamo passiate pazienza pazz~ peccato pens~ per perché perciò perdon~ perfett~ persona persone
    però piac~ piano piccol~ pioggia piov~ più po poco poi possiamo posso potere potete potr~ prego prendi prenditi
    preoccup~ presto prima primo proced~ pronta pronti pronto propri~ prossima proviamo provo puoi può qualche
    qualcos~ qualcuno quale quando quant~ quel quell~ quest~ qui quindi ragazz~ ragione rapid~ realmente ricontroll~
    ricord~ ridere rido riflett~ riformul~ rilass~ ringrazi~ ripens~ ripet~ riposo riprov~ riscontro risentiamo
    rispond~ risposta riveder~ rivedi~ sa sai salut~ salve sapere sapev~ saprei sareb~ sareste sarà sbrig~ scherz~
    scus~ se sei sembr~ semplicemente sempre senso senti sentiamo sentirci senza~ sera serata seri~ settimana si sia
    siamo siate sicur~ siete significa simpatic~ so soddisfatto sole sollevat~ sollievo solo soltanto sonno sono
    soprattutto sorprend~ sorris~ sper~ spieg~ splendid~ sta stai stamattina stanc~ stanno stare stasera stata state
    stato stesso stia stimo sto strana strano stupend~ stupid~ su sua subito sul suo suona super svelt~ sì tant~ tardi
    te tempo terribil~ tesor~ ti tipo tornare totalmente tra tranquill~ trist~ troppo trovo tu tua tuo tuoi tutt~
    ugualmente un una uno utile utili va vabbè vacanza vacanze vada vado vale vedere vediamo vedo veloc~ venire vento
    veramente verific~ vero vi via vieni visto vita voglio volentieri volta volte vorr~ vostr~ vuoi è
    """,
}
NOT = """
    not no non nothing n't don didn doesn isn wasn aren weren couldn wouldn shouldn hasn haven cannot won dont didnt
    nicht nichts kein keine keinen pas rien jamais nada nunca niente mai nessun nulla
"""
"""Who denies states something: "I can't", "it isn't right"."""

MAY_BE_DENIED = """
    know knew catch caught hear understand understood worry mind matter believe wait mention thank follow get
    expect expected
    versteh~ verstanden weiß gewusst schlimm sorge~ macht geglaubt gedacht warten erwartet eil~ stress
    compri~ compren~ sais savais grave inquiét~ inquiet~ importe attendre hésit~ fait attendais pressé pressée presse
    entendí entendido entiendo entiende importa importancia preocup~ sabía creo pasa dudes prisa esperaba
    capi~ importa preoccup~ sapev~ credo esit~ fa aspetto so fretta aspettavo
"""
"""But for these: "I didn't catch that", "that doesn't matter"."""
