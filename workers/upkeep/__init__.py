"""The operator's tools beside the processes.

`asked`: reads agents' queries; `dead_letters`: reads and replays refused records; `learning_examples`: reads the use of
memories from the journals; `operator_topic`: reads and publishes the operator's orders; `prune`: deletes consensus
messages that are not needed any more; `reencode`: encodes all memories with another encoder; `replay_data`: reads the
topics, for a replay under another policy; `topic_copies`: copies the topics to files and puts them back.
"""
