# SPDX-License-Identifier: Apache-2.0
"""The section of docs/peers.md that trainer.py writes, between two marks. report.py writes the rest
of the page and leaves the section as it is."""

BEGIN = "<!-- trainer: begin -->"
END = "<!-- trainer: end -->"


def section_of(page: str) -> str:
    """What stands between the marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page must have one {BEGIN} and after it one {END}")
    return page.split(BEGIN)[1].split(END)[0].strip()


def replace_section(page: str, section: str) -> str:
    section_of(page)
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    return f"{before}{BEGIN}\n\n{section.strip()}\n\n{END}{after}"
