"""The site of the pages in docs/, as `make docs` builds it. mkdocs.yml configures it. `mkdocs_hooks` has the hooks: the
navigation, where links to files outside docs/ lead, and how headings become anchors."""
