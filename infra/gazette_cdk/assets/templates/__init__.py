"""The build of the templates: an adopter's files, inlined CSS, catalogues and checks."""
