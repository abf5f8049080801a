"""Answers that print for people, in the words of the command line."""

from __future__ import annotations

from memquorum.core.api import answers


class Session(answers.Session, frozen=True):
    """A session as `memquorum session` shows it when it is printed."""

    def __str__(self) -> str:
        from memquorum.core.accounts.sessions import lines  # not at the top: few programs print it

        return "\n".join(lines(self))


class Ordered(answers.Ordered, frozen=True, kw_only=True):
    """The result of an order as `memquorum order` shows it when it is printed."""

    def __str__(self) -> str:
        from memquorum.core.accounts.order_words import lines  # not at the top: few programs print it

        return "\n".join(lines(self))
