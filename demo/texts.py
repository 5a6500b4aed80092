"""Invented texts that students write to each other in the demo.

The placeholders `{course}`, `{place}`, `{food}`, `{day}`, `{hour}` and `{week}` are filled in.
"""

from collections.abc import Mapping

WORDS = {
    "course": (
        "Linear Algebra",
        "Organic Chemistry",
        "Microeconomics",
        "Art History",
        "Thermodynamics",
        "Linguistics",
        "Statistics",
        "Cell Biology",
        "Modern Poetry",
        "Operating Systems",
        "Human Geography",
        "Astronomy",
    ),
    "place": (
        "harbour",
        "botanical garden",
        "old library",
        "climbing hall",
        "boat house",
        "market",
        "rose garden",
        "observatory",
        "lighthouse",
        "canal",
        "north campus",
        "music room",
    ),
    "food": (
        "dumplings",
        "lentil soup",
        "pancakes",
        "ramen",
        "sourdough",
        "plum cake",
        "falafel",
        "curry",
        "cinnamon buns",
        "risotto",
    ),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "hour": ("five", "half past five", "six", "half past six", "seven", "eight"),
    "week": ("3", "4", "5", "6", "7", "8"),
}

TITLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "chat": {
        "": (
            "Lunch on {day}?",
            "Breakfast at the {place}",
            "{course} on {day}",
            "Train home on {day}",
            "Running, {day} at {hour}",
            "Cooking {food} together",
            "Tickets for {day}",
            "The {place}, {day} at {hour}",
            "Before the {course} exam",
            "Your bicycle",
            "Moving on {day}",
            "Choir on {day}",
            "Film night: {day} at {hour}",
            "Chess by the {place}",
        )
    },
    "thread": {
        "": (
            "How do you revise for {course}?",
            "The best {food} near the {place}",
            "Rooms near the {place}",
            "Does anyone else cycle to the {place}?",
            "{course}: which book helps?",
            "A {food} evening, who joins?",
            "A quiet place to read on a {day}",
            "Who plays football on {day}s?",
            "Clubs worth joining in week {week}",
            "Volunteers for the {place}, {day}",
            "{course}, exercise sheet {week}",
        )
    },
    "album": {
        "harbour": ("Photographs from the harbour", "The harbour, {day} at {hour}"),
        "hills": ("{day} in the hills", "Fog, and then no fog at all", "Above the {place}"),
        "table": ("{food} for nine people", "Our first dinner in the new flat"),
        "tower": ("The lighthouse by night", "Stars, {day} at {hour}"),
        "garden": ("The botanical garden, seen from the roof", "Our beds behind the {place}"),
        "stage": ("Choir practice, {day}", "The concert at the {place}"),
    },
    "draft": {
        "": (
            "{course}: notes of week {week}",
            "{course} presentation, draft",
            "Poster for the concert at the {place}",
            "Budget for the summer festival",
            "{course}: summary of chapter {week}",
            "Programme for {day} evening",
            "Report on the {place}",
        )
    },
    "article": {
        "": (
            "Why {course} is more fun than it sounds",
            "My lessons from {week} months abroad",
            "How to survive {course}",
            "Living with {week} flatmates",
        ),
        "harbour": ("A walk from the {place} to the sea",),
        "table": ("{food} for people with exams",),
        "tower": ("Ten years of the observatory",),
        "garden": ("In praise of the botanical garden on a {day}",),
    },
    "timetable": {
        "": (
            "{course} moves to {day}",
            "{course} is in the large hall this week",
            "{course}: exam dates are out",
        )
    },
    "library": {"": ("A book that you reserved is here", "Your copy of {course} is here")},
}
"""Titles by kind of entity, and by the picture that belongs to the title, if any."""

_TALK = (
    "I tried this last week, and it works. The only hard part was to begin.",
    "Count me in, but not before {hour}.",
    "We did the same in our first year, and we still talk about it.",
    "I have a spare one that you can borrow until {day}.",
    "What a good idea. Who do I talk to?",
    "Has anyone asked at the {place}? They were very kind to us last year.",
    "Agreed, with one exception: never on a {day}.",
    "My flatmate swears by it, and she is hard to please.",
    "There is a better one behind the {place}, and hardly anyone knows it.",
    "I can help on {day}, all afternoon.",
)
_ANSWERS = (
    "That is what I meant: start early, and stop at {hour}.",
    "Thank you, this was the piece that I was missing.",
    "I asked, and the answer is yes. They only want to know by {day}.",
    "We could do both: {day} for those who can, {hour} for the others.",
    "I was wrong about that, and I am glad.",
    "Two of us can come on {day}. Is that enough?",
    "In our group we take turns, and it works surprisingly well.",
    "The library has three copies, one of them with the answers in pencil.",
    "I will ask my brother, he did all of this last year.",
    "Good to know! Then I start tonight.",
    "Both, I think. It depends on how much time you have.",
    "Then let us meet at the {place} and find out.",
)

SAID: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "chat": {
        "message": (
            "Does {hour} work for you? I have {course} until then.",
            "I can bring {food}, if you bring the big pot.",
            "See you at the {place}!",
            "Sorry, I missed your call. Tomorrow?",
            "Yes, gladly.",
            "I have two tickets. Would you like one?",
            "Thank you for yesterday. I have not laughed so much for weeks.",
            "Could we make it {day} instead? My sister is visiting.",
            "I left your umbrella at the {place}, with a note on it.",
            "Half past, by the fountain. Wear something warm!",
            "My mother says hello, and asks when you come for {food} again.",
            "I asked at the {place}. They are open on {day}, and students pay half.",
            "That sounds lovely. Who else is coming?",
            "Good luck tomorrow! You know all of it, and you sleep better than you think.",
            "Same place as last time?",
            "I am ten minutes late. Please order {food} for me.",
            "Shall I ask the others, or is it just us?",
            "Then it is settled. I tell the others.",
            "Let me know when you are home.",
            "Ha! I knew that you would say that.",
        )
    },
    "thread": {"comment": _TALK, "reply": _ANSWERS},
    "album": {
        "comment": (
            "The second one is wonderful. Did you wait long for that light?",
            "This made my {day}.",
            "You make it look easy. Where did you learn that?",
            "Please more of this!",
            (
                "It was even better than it looks here, for those who could not come. We stayed "
                "until the caretaker turned the lights off, and then we sang on the stairs."
            ),
            "I was there, and yet I see things here that I missed.",
            "May I print the last one for our kitchen?",
            "Next time I come along. Tell me the evening before!",
            "The colours! Did you edit them?",
            "My grandmother wants to know where this is.",
        )
    },
    "draft": {
        "comment": (
            "Page two is the best part. I would begin with it.",
            "I corrected two dates, and left the rest as it is.",
            "Could you add a sentence on how we measured?",
            "This is good. Print it.",
            "The third figure needs a caption, or fewer lines.",
            "I like the new title better than the old one.",
        ),
        "reply": (
            "Fair point. I have changed the second paragraph.",
            "Done! Have a look at the last page.",
            "Not quite: the argument needs one more line, and then it is the nicest of them all.",
            "I leave it in until {day}, and then we decide.",
            "Thank you, I had read over that five times.",
            "Yes, let us cut it. No one will miss it.",
            "I moved it to the end. Better?",
        ),
    },
    "article": {
        "article": (
            (
                "It begins with a mistake, as most good evenings do: I took the wrong tram, and "
                "got off at the {place}."
            ),
            (
                "You can begin on a weekday. It takes eleven minutes of your time, spread over an "
                "evening and a morning."
            ),
            "I kept a list of all that I would have liked to know in my first week. Here it is.",
            "For a year I went there every {day}, and this is what I have seen.",
        )
    },
    "timetable": {
        "timetable": (
            "Please tell those who sit next to you.",
            "The week after, everything is as usual.",
            "The notes of week {week} are online, in case you miss it.",
        )
    },
    "library": {
        "library": (
            "We keep it for you on the ground floor until {day}.",
            "You can renew it twice, unless another reader waits for it.",
        )
    },
}
"""Excerpts by kind of entity and category. Likes and follows have none."""

MENTIONS = {
    "thread": (
        "@{reader} knows more about this than all of us.",
        "@{reader} you have to try this.",
        "We need one more, and I thought of @{reader}.",
        "@{reader}, did you not ask the same last week?",
    ),
    "album": (
        "@{reader} was there too, and took better pictures than I did.",
        "Many thanks to @{reader}, who carried all of the chairs.",
        "Look who is in the third one: @{reader}!",
    ),
    "draft": (
        "@{reader} could you have a look at this before {day}? Half an hour is plenty.",
        "Is this what you meant, @{reader}?",
        "@{reader} please check the last page, then we send it.",
    ),
}
"""Mentions by kind of entity."""

THREAD = (
    (14, "mention", "@ada could you read this before Thursday? Half an hour is plenty."),
    (23, "reply", "I read it meanwhile, and the second half is the better one. Begin there?"),
    (14, "reply", "Yes, let us turn it round. Thank you both!"),
)
"""The events of the reader who gets immediate emails: number of the sender, category, and excerpt.
"""

PICTURES = {
    "harbour": "Boats in a harbour at dawn",
    "hills": "Hills behind each other, in fog",
    "table": "A table that is laid for friends",
    "tower": "A lighthouse at night, with stars",
    "garden": "Flower beds, seen from above",
    "stage": "A stage with three lamps",
}
"""Descriptions of the pictures in demo/data/pictures."""

FACES = 12
"""The number of pictures of people, `face0.jpg` and so on."""
