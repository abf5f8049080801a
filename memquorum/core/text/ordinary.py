"""256 ordinary texts, written for this project: what agents and people say to one another on any day.

They stand in for a history where a namespace has none yet: their words count as if 256 texts had gone before, and their
worths stand among those that a rank is taken of (`core.worth`). Two fifths say next to nothing, a third is everyday
talk, and the rest tells something, as streams of conversations do. Nothing of them was fitted to any data.
A change of a text changes every worth: `core.worth.VERSION` goes up with it.
"""

from __future__ import annotations

_SAYS_LITTLE = """
Okay.
Yes.
No.
Thanks!
Thank you.
Hello.
Hi there.
Good morning.
Good night.
Goodbye.
See you later.
Sure.
Right.
Great.
Fine.
Alright then.
Got it.
I see.
Of course.
No problem.
You're welcome.
Sorry.
Never mind.
Sounds good.
That's nice.
Well done.
Nice work.
Perfect.
Exactly.
I agree.
Maybe.
I think so.
I don't think so.
I don't know.
Not sure.
Let me see.
Let me check.
One moment.
Just a second.
Hold on.
Go ahead.
Please continue.
What?
Why?
Really?
Who knows.
Is that so?
Are you there?
How are you?
I'm fine, thanks.
What do you mean?
Could you say that again?
Anything else?
That's all.
Nothing new.
Same here.
Me too.
Ready when you are.
On it.
Will do.
Done.
Working on it.
Almost there.
Still waiting.
Any news?
Not yet.
As you like.
It depends.
Why not?
Good question.
Good idea.
Oh, I see what you mean.
Ha, that's funny.
Wow, amazing!
Have a good one.
Have a nice weekend.
Take care.
Talk to you soon.
Let me know.
Let's go on.
So, what's next?
Anyway.
Hmm.
Uh, yeah, well.
You know what I mean.
It is what it is.
Yeah, right.
Yes, please.
No, thanks.
Okay, great.
Okay, thank you so much!
Oh no!
Oh, okay.
I guess so.
Good luck!
Congratulations!
Happy birthday!
Cheers.
All good.
No worries.
Same as always.
Nothing special.
So do I.
It was nice talking to you.
That makes sense.
That's true.
That's a pity.
I'm so happy for you!
I can't believe it.
Can you hear me now?
Sorry, go on.
"""

_EVERYDAY = """
Can you help me with this?
Could you take a look at it when you have time?
I'll get back to you tomorrow.
Let's talk about it after lunch.
I was thinking the same thing.
It was a long day.
I'm a bit tired today.
What are you doing tonight?
I hope you feel better soon.
That was a good meeting.
We should do this again some time.
I have no idea how this works.
Let me think about it for a while.
Is there anything I can do for you?
Did you see my message?
I'm running late, sorry.
It's raining again.
The weather is lovely today.
How was your weekend?
I went for a walk with the dog.
We had dinner with some friends.
The children are at school now.
I'm reading a good book at the moment.
My phone is nearly out of battery.
Do you want some coffee?
I made some soup for the evening.
The bus was late this morning.
There was a lot of traffic on the way.
I'll call my sister this evening.
We watched a film last night.
It was fun to see everybody again.
I like the colour of your new jacket.
Could you open the window, please?
Where did I put my keys?
Which one do you like better?
I'm looking forward to the holidays.
Do you have any plans for Sunday?
I don't have a strong opinion on that.
Either way works for me.
Let's try another way and see what happens.
I'd like to understand the problem first.
Could you explain how you did that?
I looked at the file but found nothing strange.
The first part seems to work now.
I'm starting with the next task.
Here is what I have so far.
I'll write a short summary at the end.
Let me search for that.
The search returned no results.
I couldn't open the page, trying again.
The command finished without errors.
All tests passed.
Please confirm before I go on.
Do you want me to send it now?
I've updated the list as you asked.
The user asked a question about the report.
I need a little more information to answer that.
That answers my question, thank you very much.
Is this what you had in mind?
I changed a few words in the text.
We can decide on that later.
Let's keep it simple for now.
It looks better than last time.
I'm afraid I made a mistake.
Shall we start with the agenda?
Does anybody have something to add?
Let's move on to the next point.
Who would like to go first?
I'll share my screen so that you can see it.
Can everybody hear me?
You are on mute.
Let's take a short break.
We're running out of time.
I'll send the notes around after the meeting.
That is a different question.
It would be nice to have that at some point.
I'm not convinced that we need it.
People will like that.
It should be easy to use.
How much would something like that cost?
What happens if nobody answers?
The old one was better in my opinion.
They said it would take a few days.
I've heard that before.
Somebody left the light on in the kitchen.
"""

_TELLS = """
The parcel from Lyon arrives on Thursday between nine and noon.
Anna's appointment at the dentist was moved to the 14th of March.
The spare key hangs behind the blue door in the cellar.
The landlord raised the rent by forty euros from January on.
Peter is vegetarian and cannot eat nuts.
Our train to Vienna leaves from platform 6 at 18:42.
The plumber found a crack in the pipe under the sink.
Maya passed her driving test at the second attempt.
The neighbour's cat is called Ludwig and is fourteen years old.
I was born in Bergen and moved to Leeds when I was nine.
My brother plays the cello in a small orchestra.
We planted two apple trees and a cherry tree behind the barn.
Her new job at the hospital begins in September.
The choir rehearses every Wednesday in the parish hall.
He broke his wrist while climbing near Innsbruck.
The vet says the puppy needs another vaccination in four weeks.
She writes her thesis about glaciers in Patagonia.
The recipe needs 300 grams of flour, two eggs and a pinch of saffron.
Our flight was cancelled because of the storm over Iceland.
We agreed to postpone the launch to the second week of May.
The budget for the exhibition is twelve thousand euros.
Rashid will prepare the contract with the printing company.
The supplier can deliver eighty chairs by the end of June.
Action: Helen asks the caterer for an offer with two menus.
The customer in Osaka complained about scratches on the housing.
Sales in the north fell by eight percent in the last quarter.
The survey shows that most visitors come by bicycle.
We replace the lead battery by a lithium one.
The auditor asked for the invoices of 2019.
The board approved the merger with two votes against.
Carla leads the project until Tom returns from parental leave.
The warranty of the boiler covers parts but no labour.
The new canteen offers a vegan dish every day.
Build 512 fails on the arm64 runner with a linker error.
The disk of node-3 is at 91 percent.
Request to /v1/invoices returned status 503 after 30 seconds.
Deployed release 4.7.2 to the staging cluster.
Rolled back the migration because the index on customer_id was missing.
Set the timeout of the payment gateway to 12 seconds.
The cache hit rate fell from 84 to 61 percent after the change.
Tool result: 17 rows, the newest of them from Saturday.
The queue holds 2,300 messages and three consumers are idle.
The crawler found 48 broken links in the manual.
The sensor in greenhouse two reads 31 degrees and 40 percent humidity.
The drone's left rotor vibrates above 4,000 revolutions.
The robot arm lost its calibration after the power cut.
Customer prefers a phone call in the afternoon and writes in Spanish.
Ticket 8841 was opened by a teacher who cannot reset her password.
The refund for the broken lamp was paid on Monday.
The passenger needs a wheelchair at the gate in Lisbon.
The patient is allergic to penicillin and takes a blood thinner.
The study compares sleep and memory in 120 volunteers.
The river Elbe rises in the Giant Mountains and reaches the sea at Cuxhaven.
The treaty was signed in 1648 and ended thirty years of war.
Whales are mammals and breathe air.
The moon turns around the earth in twenty-seven days.
The novel tells of a lighthouse keeper who stops speaking.
The team lost the final by one goal in extra time.
The mayor promised a tram line along the canal.
The court ruled that the map may be published.
"""

ORDINARY: tuple[str, ...] = tuple(
    line for part in (_SAYS_LITTLE, _EVERYDAY, _TELLS) for line in part.strip().splitlines()
)
