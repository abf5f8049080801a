"""The sentences on fields that several records and requests declare.

A field that a program or a person fills in is declared with its sentence, which the description of the API and the
tools show.
"""

from msgspec import Meta

NAMESPACE = Meta(description="The namespace; without it, `default`.")
AGENT = Meta(description="The agent that speaks, reads, or is named.")
KEY = Meta(
    description="With `explicit`: the slot that it fills, as in ada/dietary; with `path`, the one "
    "there. It replaces what the same agent wrote there."
)
PATH = Meta(description="Its path below the namespace, as in users/ada/notes.")
SUBJECT = Meta(description="The person or thing it is about; an erasure can name it. Without it, the agent.")
SESSION = Meta(description="The session, which is a conversation or a task.")
EVENT_ID = Meta(description="An id: episodes with the same id are one; without it an id is generated.")
OCCURRED_AT = Meta(description="The time when it happened, in milliseconds since the epoch; without it, now.")
ENDED_AT = Meta(description="The time when it ended, in milliseconds since the epoch; without it, now.")
SAID_BY = Meta(description="The source of the outcome; without it the agent, if the outcome is known.")
INPUTS = Meta(description="The input of the task: text of at most 64 KiB.")
OUTPUTS = Meta(description="The output of the task: text of at most 64 KiB.")
TOOLS = Meta(description="A summary of each tool call, in order: at most 64, of 4 KiB each.")
SENSITIVITY = Meta(description="Its sensitivity, in [0, 1]; without it, a suggestion by its content.")
PURPOSES = Meta(description="The purposes it may be used for; without it, any.")
JURISDICTION = Meta(description="The law it is under: DE, US-CA, EU.")
