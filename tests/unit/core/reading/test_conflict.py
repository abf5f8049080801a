"""Pairs of texts that contradict each other, and pairs that do not."""

from __future__ import annotations

import pytest

from memquorum.core.reading.agreement import gist
from memquorum.core.reading.conflict import between, read

CONTRADICT = [
    ("Load the oven with tray 4.", "Load the oven with tray 6 instead of tray 4."),
    ("Trucks park behind hall B.", "From now on trucks park behind hall D."),
    ("The beam is 4.1 m long.", "Measured again, the beam is 4.6 m long."),
    ("The budget of the fair is 80,000.", "I misheard: the budget of the fair is 18,000."),
    ("The demo for Acme is on 3 July.", "Acme's demo was moved to 10 July."),
    ("Ana's opening hours are 9 to 5.", "Ana's opening hours are 7 to 3."),
    ("Ana plays chess.", "Ana used to play chess."),
    ("Ana likes being called at work.", "Ana doesn't like being called at work after all."),
    ("Ana's display language is Polish.", "Ana changed her display language to English."),
    ("We buy milk at the farm.", "We don't buy milk at the farm any more, we get it from the shop."),
    ("Rinse the plates with water.", "Rinse the plates with saline instead of water."),
    ("The door code is 4821.", "The door code was changed to 9930."),
    ("The meeting room Turing seats 12 people.", "The meeting room Turing seats 14 people."),
    ("Lorry 4 carries 12 pallets.", "Lorry 4 carries 15 pallets."),
    ("The stadium fits 4000 visitors.", "The stadium fits 4500 visitors."),
    ("Mrs Okafor is allergic to penicillin.", "The test is back: Mrs Okafor is not allergic to penicillin."),
    ("There are 118 boxes of paper in stock.", "I miscounted, there are 108 boxes of paper in stock."),
    ("Class 7b has maths in room 204.", "Class 7b's maths lesson is now in room 310."),
    ("The hearing in Brandt v. Lumen is on 14 May at 9:30.", "The hearing in Brandt v. Lumen is now on 2 June."),
    ("Our flight to Oslo leaves from gate B12.", "Our flight to Oslo now leaves from gate C3."),
    ("The door code is 4821.", "The door code is now 9930."),
    ("The sync is at 3 pm.", "The sync was moved to 4 pm."),
    ("The sync was moved to 4 pm.", "The sync is cancelled."),
    ("The sync is at 3 pm", "The sync has been cancelled."),
    ("Alice prefers tea.", "Alice now prefers coffee."),
    ("The weekly review is on Monday.", "The weekly review moved to Thursday."),
    ("The staging database runs on port 5432.", "Correction: the staging database runs on port 5433."),
    ("The ferry to Kirkwall leaves at 07:45 from pier 2.", "Oh wait, the ferry leaves at 08:15, not 07:45."),
    ("The ferry to Kirkwall leaves at 07:45 from pier 2.", "The ferry to Kirkwall leaves at 08:15, not 07:45."),
    (
        "The ferry to Kirkwall leaves at 07:45 from pier 2.",
        "Sorry, I misread the timetable: the ferry leaves at 08:15.",
    ),
    ("The budget for Mallory is 300 euros.", "Hold on, the budget is 400 euros."),
    ("The budget for the offsite is $5,000.", "The budget for the offsite was raised to $6,500."),
    ("Use port 8080 for the proxy.", "Use port 8443 for the proxy instead of 8080."),
    ("The project lead is Alice.", "The project lead is now Bob."),
    ("The API supports batching.", "The API no longer supports batching."),
    ("The release is planned for May 12.", "Actually, the release is planned for June 2."),
    ("The valve is open.", "The valve is now closed."),
    ("The deadline is Friday.", "The deadline is Monday, not Friday."),
    ("The office is in Berlin.", "The office moved to Hamburg."),
    ("The retention period is 30 days.", "The retention period is 90 days."),
    ("Backups run at 2 am.", "Backups now run at 4 am."),
    ("The venue is the old library.", "The venue was changed to the town hall."),
    ("I prefer window seats.", "I now prefer aisle seats."),
    ("We moved the launch to Tuesday.", "We moved the launch to Wednesday."),
    ("The door opens at 8:00.", "The door opens at 9:00."),
    ("The wifi password is sunflower.", "The wifi password was changed to marigold."),
    ("The standup starts at 9:30.", "The standup starts at 10:00 instead of 9:30."),
    ("The contact for billing is Carol.", "The contact for billing is Dave now."),
    ("The server is in rack 12.", "The server was moved to rack 14."),
    ("Max is allergic to nuts.", "Max is not allergic to nuts."),
    ("The max batch size is 64.", "Update: the max batch size is 128."),
    ("The rate limit is 100 requests per minute.", "The rate limit was raised to 250 requests per minute."),
    ("The backup runs at 02:00 every night.", "The backup now runs at 04:30."),
    ("Alice approves releases.", "Actually, Carol approves releases."),
    ("The spare key is under the blue pot.", "The spare key is no longer under the blue pot, it is in the garage."),
    ("Sample A17 melts at 54 °C.", "Correction: sample A17 melts at 58 °C."),
    ("The printer is on the second floor.", "The printer has moved from the second floor to the basement."),
    ("The shop opens at 9 am.", "Starting Monday the shop opens at 10 am."),
    ("The invoice is due on June 3.", "Scratch that: the invoice is due on June 10."),
    ("The train to Lyon leaves at 7:15.", "I was wrong about the train to Lyon: it leaves at 7:45."),
    ("The staging host is alpha.", "The staging host is now beta."),
    ("The billing service is called Ledger.", "The billing service got renamed to Tally."),
    ("The queue is hosted in Frankfurt.", "We switched the queue from Frankfurt to Dublin."),
    ("The canteen closes at 14:00.", "From now on the canteen closes at 15:00."),
    ("The rent is 900 euros.", "Update: the rent is 950 euros."),
    ("The dentist appointment is at 4 pm.", "Make that 5 pm for the dentist appointment."),
    ("The admin password is tulip7.", "The new admin password is rose9."),
    ("The metrics port is 9100.", "The new metrics port is 9200."),
    ("The owner of the parser is Dana.", "The new owner of the parser is Erik."),
    ("Maria reports to Jonas.", "Maria now reports to Petra."),
    ("Tom lives in Oslo.", "Tom now lives in Bergen."),
    ("A ticket costs 12 euros.", "Correction: a ticket costs 14 euros."),
    ("The reactor runs at 350 °C.", "Actually, the reactor runs at 365 °C."),
    ("The choir practice starts at 19:30 on Tuesdays.", "The choir practice now starts at 20:00."),
    ("Ben waters the plants.", "Actually, Nora waters the plants."),
    ("Priya reviews the contracts.", "Correction: Omar reviews the contracts."),
    ("The projector is in room 4.", "The projector is not in room 4 any more but in room 9."),
    ("The archive is in Leeds.", "The archive is no longer in Leeds, it is in York."),
    ("The ladder is behind the shed.", "The ladder is no longer behind the shed, it is in the attic."),
    ("The log level is debug.", "The log level is no longer debug, it is warning."),
    ("Compound B9 boils at 112 °C.", "Correction: compound B9 boils at 121 °C."),
    ("The gym closes at 22:00 every day.", "The gym now closes at 21:00."),
    ("The nightly job takes 40 minutes.", "The nightly job now takes 25 minutes."),
    ("The library is open until 18:00.", "The library is now open until 20:00."),
    ("Grace orders the reagents.", "No, Henry orders the reagents."),
    ("The kiln fires at 1200 °C.", "Correction: the kiln fires at 1240 °C."),
    ("The ferry departs at 8:10 on weekdays.", "The ferry now departs at 8:25."),
    ("The server listens on port 9090.", "The server no longer listens on port 9090, it listens on port 9443."),
    ("Lea audits the accounts.", "Scratch that: Max audits the accounts."),
    ("The passports are in the safe.", "The passports are no longer in the safe, they are in the desk."),
    ("The meeting room is Everest.", "I was wrong about the meeting room: it's Lhotse."),
    ("The piano lesson costs 40 euros.", "As of Friday the piano lesson costs 45 euros."),
    ("My new PIN is 4411.", "My new PIN is 5522."),
    ("The demo is at 3 pm.", "Make that 4 pm for the demo."),
    ("The freezer is in the garage.", "The freezer was moved from the garage to the cellar."),
    ("The keys are in the red box.", "The keys are not in the red box any more but in the green box."),
    ("The project is called Falcon.", "The project was renamed to Heron."),
    ("The dentist's office is at 88 Elm Street.", "The dentist has moved to 14 Chapel Road."),
    ("The night guard is called Piet.", "I got the guard's name wrong, it's Pieter Vos."),
    ("The ferry to Halden leaves at 7:40.", "The Halden ferry now leaves at 8:15."),
    ("Our parser is on version 2.3.", "We upgraded the parser to 2.4."),
    ("We are flying to Lisbon on the 9th.", "The Lisbon trip is off."),
    ("The alarm code for the shop is 6612.", "Scratch that, the shop's alarm code is 6621."),
    ("The lease ends in March.", "I was mistaken about the lease: it ends in May."),
    ("Deliveries come in through gate B.", "Gate B is closed, deliveries go through gate D."),
    ("Sana is on call this week.", "Sana swapped with Jo, so Jo is on call this week."),
    ("The conference takes place in Graz.", "The conference won't be in Graz, it's in Linz."),
    ("My sister lives in Malmo.", "My sister has moved to Aarhus."),
    ("The API key expires on 1 June.", "API key expiry: 1 September, not 1 June."),
    ("The train uses platform 4.", "Change of platform: the train leaves from platform 9."),
    ("The cat gets fed twice a day.", "The vet says the cat should be fed three times a day from now on."),
    ("Project Otter is due in October.", "Otter slipped to December."),
    ("Ines reports to Walter.", "Since the reorg Ines reports to Priya."),
    ("Ella takes her coffee with milk.", "Correction on Ella: she takes her coffee black."),
    ("The release branch is release/5.1.", "We cut a new release branch, release/5.2."),
    ("The seminar is in room 210.", "Seminar room changed, it's 304."),
    ("Kenji prefers calls.", "Kenji told me he'd rather get emails than calls."),
    ("The sensor sits on valve 3.", "Oops, I meant valve 8: the sensor sits on valve 8."),
    ("Lunch with Farid is at one.", "Farid can't make one, lunch is at two."),
    ("The gym opens at 6.", "Gym opens at 7 instead of 6."),
    ("The experiment uses 40 mice.", "Make that 36 mice for the experiment."),
    ("The queue holds 500 jobs.", "queue size was bumped from 500 to 800 jobs"),
    ("The report goes to Marta.", "Please send the report to Leon, not to Marta."),
    ("The meeting point is the north entrance.", "Meeting point is the south entrance instead."),
    ("The car is parked on level 2.", "I moved the car, it's on level 5."),
    ("Our accountant is Ms Weil.", "Ms Weil left, our accountant is Mr Okoye."),
    ("The password rule is 10 characters.", "The password rule is 14 characters as of Monday."),
    ("The pump starts at 05:00.", "I said the pump starts at 05:00. It starts at 05:30."),
    ("Mondays are free for deep work.", "Mondays aren't free for deep work anymore."),
    ("The mascot is a fox.", "They decided on a heron as the mascot after all, not a fox."),
    ("The interview with Bose is on Tuesday.", "Bose cancelled the interview."),
    ("Team Falcon sits in Building C.", "Team Falcon sits in Building A these days."),
    ("The discount for students is 15 percent.", "Students only get 10 percent off now."),
    ("Boxes are stored in aisle 12.", "Boxes got relocated to aisle 3."),
    ("Marek is our goalkeeper.", "Marek is out, Luis is our goalkeeper."),
    ("The lecture on tides is by Dr Amin.", "It's Dr Sato who gives the lecture on tides, not Dr Amin."),
    ("The deploy job runs at 22:00.", "Deploy job moved, runs at 23:30."),
]

BOTH_STAND = [
    ("Lorry 4 carries 12 pallets.", "Lorry 5 carries 15 pallets."),
    ("Lorry 4 carries 12 pallets to Ulm.", "Lorry 4 carries 15 pallets to Bern."),
    ("The lorry carries sand.", "The lorry carries gravel."),
    ("The cat sleeps on the sofa.", "The cat sleeps on the bed."),
    ("Crane 7 lifts 20 tons.", "Oh wait, crane 4 lifts 14 tons."),
    ("The bus to Leeds leaves at 9:10.", "Sorry, the bus to York leaves at 9:40."),
    ("The demo for Quayside is at 3 pm.", "Oh, the demo for Ravi is at 4 pm."),
    ("Room 5 seats 40 people.", "Note: the room seats 60 people."),
    ("Class 7b has maths in room 204.", "Class 7b's maths exam is now in room 310."),
    ("Dock 2 is blocked.", "The truck has left, dock 3 is free again."),
    ("The hearing in Brandt v. Lumen Ltd is on 14 May.", "The mediation in Brandt v. Lumen Ltd is on 20 May."),
    ("The lunch with J. Smith is on 4 May.", "The dinner with J. Smith is on 6 May."),
    ("Our flight to Oslo leaves from gate B12.", "Our flight from Oslo leaves from gate C3."),
    ("Flag beta is on for Canada.", "Flag beta is off for Mexico."),
    ("Buffer P keeps at room temperature.", "Buffer T does not keep at room temperature."),
    ("Ingrid eats fish.", "Ingrid's brother doesn't eat fish."),
    ("Hey John! Great to hear from you.", "Hey John, no worries! It was great."),
    ("Take care!", "Don't forget to take care of the garden."),
    ("Upload size is capped at 25 MB on the free plan.", "Upload size is capped at 250 MB on the team plan."),
    ("Valve 3 opens at 4 bar.", "Valve 5 opens at 6 bar."),
    ("Alice approved.", "Bob approved."),
    ("Alice approved the budget.", "Bob approved the budget."),
    ("The front door code is 4821.", "The back door code is 9930."),
    ("The team deployed 3 services.", "The team deployed 5 services."),
    ("A man is playing a guitar.", "A man is playing a flute."),
    ("Alice likes tea.", "Alice likes coffee."),
    ("The sync is at 3 pm.", "The retro is at 4 pm."),
    ("The API limit is 100 requests per minute.", "The API limit is 5000 requests per day."),
    ("The meeting in Berlin is on Monday.", "The meeting in Paris is on Tuesday."),
    ("The build took 12 minutes.", "The build took 15 minutes."),
    ("Server A runs at 80 %.", "Server B runs at 40 %."),
    ("The pump is red.", "The pump is heavy."),
    ("Is the sync at 3 pm?", "The sync is at 4 pm."),
    ("The sync might be at 3 pm.", "The sync is at 4 pm."),
    ("I live in Paris.", "Bob lives in Berlin."),
    ("The dog is running in the park.", "The dog is sleeping on the couch."),
    ("Dollar falls 3%", "Dollar falls 5%"),
    ("The backup finished at 2 am.", "The backup finished at 3 am."),
    ("It is 3 pm.", "It is 4 pm."),
    ("The sync is on Monday.", "The sync is at 3 pm."),
    ("The door code is 4821.", "The garage door code is 9930."),
    ("Alice met Bob on Monday.", "Alice met Bob on Friday."),
    ("Order 17 costs $40.", "Order 18 costs $45."),
    ("The budget for marketing is $500.", "The budget for sales is $300."),
    ("Alice works on the parser.", "Alice works on the lexer."),
    ("Sensor 4 reads 21 degrees.", "Sensor 4 reads 23 degrees."),
    ("The backup on db2 runs at 03:00 every night.", "The backup on db1 now runs at 04:30."),
    ("Bob approves releases on Friday.", "Actually, Carol approves releases."),
    ("Sample A18 melts at 54 °C.", "Correction: sample A17 melts at 58 °C."),
    ("The spare key is under the blue pot.", "The garage key is no longer under the blue pot, it is in the drawer."),
    ("The house key is in the drawer.", "The spare key is no longer under the blue pot, it is in the garage."),
    ("Alice approves holidays.", "Actually, Carol approves releases."),
    ("Alice approved the release.", "Actually, Carol approved the invoice."),
    ("Alice approves releases.", "Carol approves releases."),
    ("Alice reads novels.", "Actually, Carol reads poems."),
    ("Ben waters the plants.", "Nora also waters the plants."),
    ("Alice lives in Rome.", "Actually, Bob lives in Rome."),
    ("Alice likes tea.", "Actually, Bob likes tea."),
    ("Tom runs at 6 am every day.", "Anna now runs at 7 am."),
    ("The shop in Rome opens at 9 am.", "The shop in Milan now opens at 10 am."),
    ("The gym opens at 6:00 every day.", "The gym now closes at 21:00."),
    ("The metrics port is 9100.", "The new admin port is 9200."),
    ("The backup ran at 02:00 last night.", "The backup now runs at 04:30."),
    ("The projector is in room 4.", "The whiteboard is not in room 4 any more but in room 9."),
    ("The archive is in Leeds.", "The archive has a reading room."),
    ("The train to Lyon leaves at 7:15.", "I was wrong about the train to Nice: it leaves at 7:45."),
    ("Compound B9 boils at 112 °C.", "Correction: compound B9 weighs 121 g."),
    ("The reactor runs at 350 °C.", "Actually, the reactor runs at 3 bar."),
    ("The queue is hosted in Frankfurt.", "We switched the cache from Frankfurt to Dublin."),
    ("The dentist appointment is at 4 pm.", "Make that 5 pm for the haircut."),
    ("The canteen opens at 9:00.", "From now on the bakery opens at 8:00."),
    ("The owner of the parser is Dana.", "The new owner of the lexer is Erik."),
    ("The rent is 900 euros.", "Update: the deposit is 950 euros."),
    ("Maria reports to Jonas.", "Petra now reports to Maria."),
    ("The nightly job takes 40 minutes.", "The nightly job now takes 2 arguments."),
    ("The ladder is behind the shed.", "The rake is no longer behind the shed, it is in the attic."),
    ("The choir practice starts at 19:30 on Tuesdays.", "The band practice now starts at 20:00."),
    ("Sam feeds the cat in the morning.", "Actually, Kim feeds the cat in the evening."),
    ("Lena won the race in 2019.", "Actually, Mona won the race in 2021."),
    ("The log level is debug.", "The log level is documented in the handbook."),
    ("Grace orders the reagents.", "No, Henry orders the chairs."),
    ("The staging host is alpha.", "The production host is now beta."),
    ("The printer is on the second floor.", "The scanner has moved from the second floor to the basement."),
    ("Alice approves releases.", "Actually, approving releases takes a day."),
    ("The app supports Linux.", "The app now supports Windows."),
    ("The key is in the drawer.", "The key is not only in the drawer but also in the box."),
    ("The shop opens on Friday.", "The shop now also opens on Saturday."),
    ("The museum opens at 9:00.", "From Friday to Sunday the museum opens at 9:00."),
    ("The film is long.", "The film is not good but it is long."),
    ("Tom drives a van.", "Actually, Tim drives a van."),
    ("Alice owns a dog.", "Actually, Bob owns a dog."),
    ("Alice hosts a podcast.", "Actually, Bob hosts a podcast."),
    ("Carl teaches Spanish.", "Now Eva teaches Spanish."),
    ("Alice pays rent.", "Actually, Bob pays rent."),
    ("Anna reviews books.", "Update: Paul reviews books."),
    ("The key is in the drawer.", "Is the key no longer in the drawer, but in the box?"),
    ("The library has 3 rooms.", "The library now has 4 printers."),
    ("Dora reads 3 books a month.", "Actually, Dora reads 2 papers a week."),
    ("The new office is in Berlin.", "The new lab is in Paris."),
    ("The office is in Berlin.", "The new office is in Paris."),
    ("The freezer is in the kitchen.", "The freezer was moved from the garage to the cellar."),
    ("The cat is in the box.", "The cat is no longer in the basket, it is in the garden."),
    ("The bus stops at 8:10 in Elm Street.", "The bus now stops at 8:30 in Oak Street."),
    ("The pump at site 2 starts at 06:00 every day.", "The pump now starts at 07:00."),
    ("Alice approves releases.", "Actually, Carol approves releases too."),
    ("Alice approves releases.", "Actually, Carol also approves releases."),
    ("The staging database listens on port 5432.", "The production database now listens on port 6000."),
    ("Nadia's phone number is 0171 555 020.", "Nadia got a new laptop."),
    ("The ferry to Halden leaves at 7:40.", "The ferry to Moss now leaves at 8:15."),
    ("Our parser is on version 2.3.", "We upgraded the linter to 2.4."),
    ("The alarm code for the shop is 6612.", "Actually, the shop needs a new window."),
    ("Sana is on call this week.", "Jo is now on call next week."),
    ("The conference takes place in Graz.", "Correction: the workshop takes place in Linz."),
    ("Customer 4410 pays by invoice.", "Customer 4411 switched to direct debit."),
    ("The maximum upload size is 20 MB.", "The maximum download size was raised to 50 MB."),
    ("The train to Bergen uses platform 4.", "The train to Voss uses platform 9 instead of 7."),
    ("The printer on the second floor is broken.", "They've moved the coffee machine to the fourth floor."),
    ("The wifi password is maple-77.", "The wifi password was asked for three times today, actually."),
    ("The spare key is under the mat.", "The mat isn't under the door anymore, the neighbour has it."),
    ("The release branch is release/5.1.", "The hotfix for the release branch was merged yesterday."),
    ("The seminar on optics is in room 210.", "The seminar on acoustics moved to room 304."),
    ("The contract with Norvik runs until 2027.", "The contract with Sundby was extended to 2029."),
    ("The launch of Alpha is on 4 May.", "The launch of Beta isn't on 2 May but on 11 May."),
    ("The gym opens at 6.", "The pool opens at 7 instead of 6."),
    ("The hotel for Oslo is the Grand Nord.", "The hotel for Bergen is not the Plaza but the Harbour Inn."),
    ("The queue holds 500 jobs.", "The cache was bumped from 500 to 800 entries."),
    ("Invoices are approved by Dana.", "Holidays are approved by Carlos from now on."),
    ("The car is parked on level 2.", "I moved the bike, it's on level 5."),
    ("Theo's birthday is on 3 April.", "I had Nina's birthday wrong. It's on 13 April."),
    ("The library closes at 8 pm.", "The museum closes at 6 pm instead."),
    ("The sauce contains no nuts.", "The cake does contain nuts, actually."),
    ("The tool needs Python 3.9.", "The tool was downloaded 300 times, it turns out."),
    ("Marek is our goalkeeper.", "Luis is our new trainer."),
    ("The lecture on tides is by Dr Amin.", "The lecture on glaciers is by Dr Sato now."),
    ("I bought 3 kg of apples.", "I bought 5 kg of pears instead."),
    ("Ana finished the first chapter.", "Ana has now finished the second chapter."),
    ("The north team uses Jira.", "The south team now uses Linear."),
    ("Phone support is open until 6.", "Chat support is now open until 9."),
    ("A man with a shirt is holding a football.", "A man with no shirt is holding a football."),
    ("Ferrets are climbing up a shelf.", "Ferrets are climbing down from a shelf."),
    ("It's a book about castles.", "I read this book about castles now, it was not a novel."),
]


@pytest.mark.parametrize(("older", "newer"), CONTRADICT)
def test_another_value_of_the_same_slot_contradicts(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is not None


@pytest.mark.parametrize(("older", "newer"), BOTH_STAND)
def test_what_speaks_of_something_else_or_of_what_happened_stands_beside_it(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None


@pytest.mark.parametrize(("text", "_"), CONTRADICT)
def test_no_text_contradicts_itself(text: str, _: str) -> None:
    assert between(read(text), read(text), same_agent=True) is None


MOVED = [
    ("The inspection is on Tuesday", "The inspection is on Friday"),
    ("The inspection is on Tuesday at 10:00.", "The inspection is on Friday at 11:00."),
    ("The dentist appointment is on Tuesday.", "The dentist appointment is on Thursday."),
    ("The board meeting is at 10:00.", "The board meeting is at 14:30."),
    ("The audit starts on Monday.", "The audit starts on Wednesday."),
    ("The launch takes place on Monday.", "The launch takes place on Thursday."),
    ("The viewing will be on Tuesday.", "The viewing will be on Friday."),
    ("The surgery is scheduled for Tuesday.", "The surgery is scheduled for Friday."),
    ("Ada's party is on Saturday.", "Ada's party is on Sunday."),
    ("My interview is in the morning.", "My interview is in the afternoon."),
    ("The lease ends in May 2027", "No, the lease ends in June 2027"),
    ("The lease ends in May 2027.", "The lease ends in June 2027."),
    ("the lease ends in may 2027", "no, the lease ends in june 2027"),
    ("Our lease ends in May 2027.", "No, the lease ends in June 2027."),
    ("The lease of the flat ends in May 2027.", "No, the lease ends in June 2027."),
    ("The passport expires in 2027.", "The passport expires in 2029."),
    ("The party is in June.", "The party is in July."),
    ("The hearing is on 3 May.", "The hearing is on 5 May."),
    ("The tank holds 300 litres.", "The tank holds 350 litres."),
    (
        "The van, a Ford Transit, is due for its service in May 2027.",
        "No, the service of the Ford Transit is due in June 2027.",
    ),
]
AGAIN = [
    ("The night shift is on Tuesday.", "The night shift is on Friday."),
    ("Shifts are on Tuesday.", "Shifts are on Friday."),
    ("Inspections are on Tuesday.", "Inspections are on Friday."),
    ("The inspections will be on Tuesday.", "The inspections will be on Friday."),
    ("The class meets every Tuesday.", "The class meets every Friday."),
    ("The board meeting is on Tuesdays.", "The board meeting is on Fridays."),
    ("The board meeting is every Tuesday.", "The board meeting is every Friday."),
    ("The ferry is at 9:10.", "The ferry is at 10:10."),
    ("Low water is at 03:12.", "Low water is at 15:12."),
    ("Yoga is on Tuesday.", "Yoga is on Friday."),
    ("The garage is open on Tuesday.", "The garage is open on Friday."),
    ("The cleaner is here on Tuesday.", "The cleaner is here on Friday."),
    ("The inspection is on Tuesday.", "The inspection is also on Friday."),
    ("The night shift is on Tuesday.", "The night shift is also on Friday."),
    ("The inspection is on Tuesday.", "The inspection is on Tuesday and Friday."),
    ("The inspection is on Tuesday.", "The next inspection is on Friday."),
    ("The inspection of hall 3 is on Tuesday.", "The inspection of hall 4 is on Friday."),
    ("There is an inspection on Tuesday.", "There is an inspection on Friday."),
    ("Your order may arrive on Tuesday.", "Your order may arrive on Friday."),
]


@pytest.mark.parametrize(("older", "newer"), MOVED)
def test_another_time_of_one_certain_thing_takes_the_place_of_the_one_its_agent_said_before(
    older: str, newer: str
) -> None:
    found = between(read(older), read(newer), same_agent=True)
    assert found is not None and not found.both


@pytest.mark.parametrize(("older", "newer"), AGAIN)
def test_another_time_of_what_comes_again_stands_beside_it(older: str, newer: str) -> None:
    found = between(read(older), read(newer), same_agent=True)
    assert found is None or found.both


def test_another_agents_other_time_stands_beside_it_without_a_word_that_corrects() -> None:
    older = read("The inspection is on Tuesday.")
    plain = between(older, read("The inspection is on Friday."), same_agent=False)
    said = between(older, read("No, the inspection is on Friday."), same_agent=False)
    assert plain is not None and plain.both
    assert said is not None and not said.both


def test_i_of_two_agents_are_two() -> None:
    older, newer = read("I prefer tea."), read("I now prefer coffee.")
    assert between(older, newer, same_agent=True) is not None
    assert between(older, newer, same_agent=False) is None


def test_a_correction_says_that_it_is_one() -> None:
    plain = between(read("The door code is 4821."), read("The door code is 9930."), same_agent=True)
    said = between(read("The door code is 4821."), read("Correction: the door code is 9930."), same_agent=True)
    assert plain is not None and not plain.cue
    assert said is not None and said.cue


def test_what_is_said_to_hold_no_more_has_to_be_what_was_said() -> None:
    older, other = read("The proxy listens on port 8080."), read("The proxy listens on port 9090.")
    newer = read("The proxy now listens on port 8443 instead of 8080.")
    assert between(older, newer, same_agent=True) is not None
    assert between(other, newer, same_agent=True) is None


def test_every_member_finds_the_same_whatever_the_order_of_its_sets() -> None:
    """Words of one value are taken in the order of the text: sets have another one in every process."""
    older = [f"Update: code freeze begins on {day} June." for day in range(2, 14)]
    newer = [f"Update: code Freeze begins on {day} rather than June." for day in range(2, 14)]
    assert [between(read(a), read(b), same_agent=True) for a, b in zip(older, newer, strict=True)] == [None] * 12


ONE_AT_A_TIME = [
    ("Ada lives in Graz.", "Ada lives in Linz."),
    ("My sister lives in Graz.", "My sister lives in Linz."),
    ("I live in Graz.", "I live in Linz."),
    ("Ada works for Siemens.", "Ada works for Bosch."),
    ("Ada works at the depot.", "Ada works at the harbour office."),
    ("Ada reports to Eva.", "Ada reports to Max."),
    ("The office is based in Berlin.", "The office is based in Munich."),
    ("The dog is called Rex.", "The dog is called Luna."),
    ("The password rotates every 90 days.", "The password rotates every 60 days."),
    ("I live in Berlin.", "I moved to Munich last month."),
    ("Ben's email is ben@a.org.", "Ben's email is ben@b.org."),
    ("Ben is the team lead.", "Carla is the team lead."),
    ("The team lead is Ben.", "Carla is the new team lead."),
    ("Ben is the owner of the export.", "Carla is now the owner of the export."),
    ("Our CRM is Salesforce.", "We switched from Salesforce to HubSpot."),
]
OR_SEVERAL = [
    ("Ada lives in Graz.", "Boris says Ada lives in Linz, which is wrong."),
    ("We use MySQL for billing.", "We moved from MySQL to Postgres, except for billing."),
    ("The service is written in Go.", "The service is written in English."),
    ("Ada lives in Austria.", "Ada lives in Styria."),
    ("Ada works for Siemens.", "Ada works for Bosch on Fridays."),
    ("Ada lives in Graz.", "Ada lives in Austria."),
    ("Our customers live in Graz.", "Our customers live in Linz."),
    ("Customers live in Graz.", "Customers live in Linz."),
    ("A dog is called Rex.", "A dog is called Luna."),
    ("The brothers are called Max.", "The brothers are called Moritz."),
    ("Ada works for Siemens.", "Ada works on Mondays."),
    ("Ada works at the depot.", "Ada works at the weekend."),
    ("Ada works at the depot.", "Ada also works at the harbour office."),
    ("Ada works in Graz.", "Ada works in Linz."),
    ("The app is written in Go.", "The app is also written in Rust."),
    ("Ada lived in Graz.", "Ada lives in Linz."),
    ("Ada lives in Graz.", "Ben lives in Linz."),
    ("One team is based in Berlin.", "One team is based in Munich."),
    ("Carla is the team lead of billing.", "Ben is the team lead of search."),
    ("Ada is the manager.", "Ada is the owner."),
    ("Our CRM is Salesforce.", "We switched from Jira to HubSpot."),
    ("Our tool is Jira.", "We switched from Jira to HubSpot for mailing."),
]


CHANGED = [
    ("We use npm for the frontend.", "We switched from npm to pnpm."),
    ("We use npm for the frontend.", "We switched from npm to pnpm for the frontend."),
    ("We deploy with Jenkins.", "We switched from Jenkins to GitHub Actions."),
    ("We store logs in Loki.", "We migrated from Loki to OpenSearch."),
    ("Tickets are tracked in Jira.", "We moved from Jira to Linear."),
    ("Ada works at Siemens.", "Ada left Siemens for Bosch."),
    ("Jana Berg works for Nordwind.", "Jana Berg quit Nordwind."),
    ("I work at Siemens.", "I quit Siemens last month."),
    ("I work at Siemens.", "I started a new job at Bosch."),
    ("The project lead is Chen.", "Chen is no longer the project lead."),
    ("The CEO of Acme is Lena Kurz.", "Pavel Novak became CEO of Acme."),
    ("Jana Berg is our contact at Nordwind.", "Ole Lund is our contact at Nordwind now."),
    ("I drink coffee every morning.", "I stopped drinking coffee."),
    ("Use Python 3.10 for the pipeline.", "Use Python 3.12 for the pipeline."),
    ("Retry three times before giving up.", "Retry five times before giving up."),
    ("Answer in German.", "From now on answer in English."),
    ("Please call me Bill.", "Call me William from now on."),
    ("Always use tabs for indentation.", "Use spaces for indentation, not tabs."),
    ("The build takes 12 minutes.", "The build takes 4 minutes since we cached the layers."),
    ("The server is healthy.", "The server is down."),
    ("Line 2 is stopped.", "Line 2 is running again."),
    ("My daughter is called Mia.", "My daughter's name is Maja, I misspelled it."),
    ("My dog's name is Rex.", "My dog is called Max."),
    ("I smoke.", "I stopped smoking."),
    ("Nadia jogs daily.", "Nadia stopped jogging."),
    ("I go to the gym on Mondays.", "I stopped going to the gym."),
    ("Chen is the project lead.", "Chen stepped down as project lead."),
    ("Chen is the project lead.", "Chen resigned as project lead."),
    ("I live in Oslo.", "I relocated to Bergen."),
    ("We use Jenkins for CI.", "We replaced Jenkins with GitHub Actions."),
    ("Tomas works at Skoda as a welder.", "Tomas now works for Bosch."),
    ("Tomas works at Skoda.", "Tomas retired."),
    ("Please always reply in German.", "From now on, reply in English please."),
    ("Answer in German.", "Stop answering in German."),
    ("Chen is the project lead of Atlas.", "Chen is no longer the project lead of Atlas."),
    ("I take the bus to school on Mondays.", "I no longer take the bus to school."),
    ("Rosa runs the night shift in Graz.", "Rosa no longer runs the night shift."),
    ("Rosa runs the night shift in Graz.", "Rosa no longer runs the night shift in Graz."),
    ("Chen is the project lead.", "Mira is the new project lead."),
    ("Priya lives in Toronto.", "Priya moved to Halifax."),
    ("Priya lives in Toronto.", "Priya has moved to Halifax."),
    ("We use npm.", "We now use pnpm instead of npm."),
    ("We use npm for the frontend.", "We use pnpm instead of npm for the frontend."),
    ("Ravi has the phone number 555-0142.", "Ravi got a new phone number: 555-0199."),
    ("Olga is the treasurer of the club.", "Pia is the new treasurer of the club."),
]
NOT_CHANGED = [
    ("Chen is the project lead of Borealis.", "Chen is no longer the project lead of Atlas."),
    ("Chen is the team lead of Borealis.", "Chen is no longer the team lead of Atlas."),
    ("I take the bus to school on Mondays.", "I no longer take the bus to school on Fridays."),
    ("Rosa runs the night shift in Graz.", "Rosa no longer runs the night shift in Linz."),
    ("Chen is the project lead.", "Chen is the new office lead."),
    ("Olga is the treasurer of the club.", "Olga is the new treasurer of the school."),
    ("We use npm for the frontend.", "At the hackathon we used pnpm instead of npm."),
    ("We use npm for the frontend.", "In the docs example they use pnpm instead of npm."),
    ("We use npm for the frontend.", "We switched from npm to pnpm, but only in the sandbox."),
    ("Priya lives in Toronto.", "Priya moved to second place."),
    ("Priya lives in Toronto.", "Priya has moved to the Halifax team."),
    ("Priya lives in Toronto.", "Priya moved to Canada."),
    ("Nadia jogs daily.", "Nadia stopped jogging for a minute."),
    ("I take the bus.", "I stopped taking sugar."),
    ("Tomas works at Skoda.", "Tomas's father retired."),
    ("Chen is the project lead.", "Chen stepped down as treasurer."),
    ("I work at Skoda.", "I now work at the Skoda plant in Brno."),
    ("We use Jenkins for CI.", "We replaced Jenkins plugins with newer ones."),
    ("We use Jenkins for CI.", "We replaced Jenkins with GitHub Actions in one repo."),
    ("I run every morning.", "I stopped running the shop."),
    ("Answer in German.", "Stop answering in French."),
    ("Olga is the treasurer of the club.", "Olga is the new secretary of the club."),
    ("Ines lives in Graz.", "Ines now lives in Austria."),
    ("The default branch is master.", "Mira renamed the release branch to main."),
    ("Tomas works at Skoda.", "Tomas now works for Bosch on Fridays."),
    ("Tomas works at Skoda.", "Tomas retired the old server."),
    ("I smoke.", "I stopped smoking indoors."),
    ("Use the blue template.", "Stop using the red template."),
    ("Always answer in German.", "Please always answer Ravi in English."),
    ("Chen is the project lead.", "Chen resigned from the board."),
    ("I use Spotify.", "I stopped using Netflix."),
    ("We use npm.", "They replaced npm with pnpm."),
    ("Ravi has the phone number 555-0142.", "Ravi got a new work phone number: 555-0199."),
    ("We use npm for the frontend.", "We switched from npm to pnpm for the website."),
    ("We use pnpm for the frontend.", "We switched from npm to pnpm."),
    ("We use Slack for incidents.", "We switched from Jira to Linear."),
    ("We use Kafka for events.", "We switched from Kafka Streams to Faust."),
    ("We like Slack.", "We switched from Slack to Matrix."),
    ("Jana Berg works for Nordwind.", "Jana Berg left Nordwind a voice message."),
    ("Jana Berg works for Nordwind.", "Ole Lund quit Nordwind."),
    ("Ada works at Siemens.", "Ada left Munich for Ulm."),
    ("Ada worked at Siemens.", "Ada joined Bosch."),
    ("I work at Siemens.", "I started a new garden at Aunt Mia's."),
    ("Chen is no longer the project lead.", "The project lead is Okafor."),
    ("The project lead is Chen.", "Okafor is no longer the project lead."),
    ("I drink coffee every morning.", "I stopped drinking tea."),
    ("I drink coffee every morning.", "I did not stop drinking coffee."),
    ("Use Python 3.10 for the pipeline.", "Use Python 3.12 for the website."),
    ("Set the timeout to 30 seconds.", "Set the retry limit to 5."),
    ("Keep 7 daily backups.", "Keep 4 weekly backups."),
    ("Book 2 seats for Ada.", "Book 3 seats for Ada."),
    ("Answer in German.", "Answer in two sentences."),
    ("Call Bill.", "Call William."),
    ("The server is healthy.", "The printer is down."),
    ("My daughter is called Mia.", "My daughter's name is Mia."),
    ("My son is called Tom.", "My daughter's name is Mia."),
]


@pytest.mark.parametrize(("older", "newer"), CHANGED)
def test_what_somebody_used_did_or_was_and_does_no_more(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is not None


@pytest.mark.parametrize(("older", "newer"), NOT_CHANGED)
def test_what_is_changed_elsewhere_or_by_another_stands_beside_it(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None


def test_who_joins_something_may_work_where_they_did() -> None:
    found = between(read("Ada works at Siemens."), read("Ada joined Bosch."), same_agent=True)
    assert found is not None and found.both


@pytest.mark.parametrize(("older", "newer"), ONE_AT_A_TIME)
def test_somebody_lives_in_one_place_at_a_time(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is not None


def test_a_place_may_lie_in_another_one_where_nothing_says_that_it_is_another() -> None:
    plain = between(read("Ada lives in Graz."), read("Ada lives in Geidorf."), same_agent=True)
    said = between(read("Ada lives in Graz."), read("Ada moved to Linz."), same_agent=True)
    assert plain is not None and plain.both
    assert said is not None and not said.both


@pytest.mark.parametrize(("older", "newer"), OR_SEVERAL)
def test_what_there_may_be_several_of_stands_beside_it(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None


IN_OTHER_UNITS = [
    ("The session timeout is 2 hours.", "The session timeout is 90 minutes."),
    ("The session timeout is two hours.", "The session timeout is ninety minutes."),
    ("The backup takes 2 hours.", "The backup takes 90 minutes."),
    ("The crate weighs 2 kg.", "The crate weighs 1500 g."),
    ("The grace period is 2 weeks.", "The grace period is 10 days."),
]
AS_MUCH = [
    ("The session timeout is 2 hours.", "The session timeout is 120 minutes."),
    ("The session timeout is 1.5 hours.", "The session timeout is 90 minutes."),
    ("The grace period is 2 weeks.", "The grace period is 14 days."),
    ("The crate weighs 2 kg.", "The crate weighs 2000 g."),
    ("The session timeout is 2 hours.", "The session timeout is 90 requests."),
    ("The session timeout is 2 hours.", "The idle timeout is 90 minutes."),
    ("The crate weighs 2 kg.", "The crate is 90 cm high."),
    ("The crate weighs 2 kg.", "The crate also weighs 1500 g."),
    ("The backup took 2 hours.", "The backup took 90 minutes."),
    ("The batch runs 2 hours every 3 days.", "The batch runs 90 minutes."),
]


@pytest.mark.parametrize(("older", "newer"), IN_OTHER_UNITS)
def test_another_quantity_in_another_unit_contradicts(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is not None
    assert between(read(newer), read(older), same_agent=True) is not None


@pytest.mark.parametrize(("older", "newer"), AS_MUCH)
def test_as_much_in_another_unit_and_what_is_no_quantity_of_the_same_kind_does_not(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Caroline: Wow, Mel. That must have been breathtaking!", "Caroline: Cool! What did it look like?"),
        ("Melanie: Yeah, I painted that lake last year!", "Melanie: Bye Caroline. I'm here for you."),
        ("John: Nice.", "John: Sure."),
        ("Caroline: I live in Graz.", "Melanie: I live in Linz."),
        ("User: I work at Siemens.", "Assistant: I now work for Bosch."),
        ("I live in Graz.", "User: I moved to Linz."),
        ("Kitchen: The light is off.", "Garage: The light is on now."),
    ],
)
def test_lines_of_a_transcript_are_no_values_of_who_speaks(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Caroline: I live in Graz.", "Caroline: I moved to Linz."),
        ("User: My dog is called Rex.", "User: My dog is called Luna."),
        ("The door code is 4821.", "Ada: The door code is 9930 now."),
        ("Team Lead: Priya Sharma.", "Team Lead: Tom Sharma."),
        ("Redis: Priya", "Redis: Tom"),
        ("The ferry leaves at 8.", "Correction: The ferry leaves at 9."),
    ],
)
def test_what_one_speaker_corrects_is_found_and_so_is_another_value_behind_a_colon(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is not None


def test_long_texts_do_not_contradict_each_other_by_their_digests() -> None:
    a, b = (f"{said} " * 300 for said in ("The cat sat on the mat.", "A dog ran in the park."))
    assert between(read(gist(a)), read(gist(b)), same_agent=True) is None


@pytest.mark.parametrize(
    ("older", "newer", "slot"),
    [
        ("The wifi password is abcX9z.", "The wifi password is ABCx9z.", "code"),
        ("The wifi password is abcX9z.", "The wifi password is ABCx9z instead of abcX9z.", "code"),
        ("The admin password is Maple-77.", "The admin password is maple-77 now.", "code"),
        ("The gate code is K7x.", "Correction: the gate code is K7X.", "code"),
        ("The freezer is set to 18 degrees.", "The freezer is set to -18 degrees now.", "number °"),
        ("The freezer is at −18 °C.", "The freezer is at 18 °C now.", "number °"),
        ("The offset is 18.", "The offset is -18.", "number"),
    ],
)
def test_the_case_of_a_code_and_the_sign_of_a_number_are_part_of_it(older: str, newer: str, slot: str) -> None:
    found = between(read(gist(older)), read(gist(newer)), same_agent=True)
    assert found is not None
    assert found.slot.startswith(slot) or found.slot == "named"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The server is KX-89.", "The server is kx-89."),
        ("The freezer is at −18 °C.", "The freezer is at -18 °C now."),
        ("Pump-3 is open.", "pump-3 is open now."),
        ("The wifi password is abcX9z.", "Remember, the wifi password is abcX9z now."),
        ("The freezer is set to 18 degrees.", "The fridge is set to -18 degrees now."),
    ],
)
def test_another_spelling_of_one_value_contradicts_nothing(older: str, newer: str) -> None:
    assert between(read(gist(older)), read(gist(newer)), same_agent=True) is None


ON_CONDITION = [
    ("The pool is closed in winter.", "The pool is open in summer."),
    ("The road is closed for lorries.", "The road is open for cars."),
    ("The valve is open at 4 bar.", "The valve is closed at 2 bar."),
    ("The pool is open to guests.", "The pool is closed to children."),
    ("The alarm is on when we are away.", "The alarm is off when we are home."),
    ("The lamp is on in the morning.", "The lamp is off in the evening."),
    ("The lights are off at night.", "The lights are on by day."),
    ("The north gate is open at night.", "The north gate is closed during the day."),
    ("Dr. Kim is available on Mondays.", "Dr. Kim is available on Thursdays."),
    ("The market is on Saturdays.", "The market is on Wednesdays."),
]


@pytest.mark.parametrize(("older", "newer"), ON_CONDITION)
def test_opposite_states_of_other_times_or_cases_stand_beside_each_other(older: str, newer: str) -> None:
    assert between(read(older), read(newer), same_agent=True) is None
    assert between(read(newer), read(older), same_agent=True) is None


def test_an_opposite_state_without_a_condition_contradicts() -> None:
    assert between(read("The pump is on."), read("The pump is off now."), same_agent=True) is not None
    assert (
        between(read("The gate is closed for repairs."), read("The gate is open again."), same_agent=True) is not None
    )
