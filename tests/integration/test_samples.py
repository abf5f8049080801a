"""The samples in the pages are what the commands beside them print."""

from __future__ import annotations

from tests import samples


def test_the_samples_are_what_is_printed() -> None:
    with samples.installation() as run_dir:
        for page in samples.PAGES:
            text = page.read_text()
            assert samples.plain(samples.anew(text, run_dir)) == samples.plain(text)
