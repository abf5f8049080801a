"""Protection: what is not to be forgotten, whatever decays and whoever votes.

Reading order: `orders` (who may order what). A *pin* keeps a memory alive until it is
unpinned; a *goal* keeps what it needs until it ends. A *hold* does too, for as long as a law asks for it: it also keeps
the key of what is sealed already, and an order to erase that names what is held is not carried out. What an order does
to the rows says `journal.protections`.
"""
