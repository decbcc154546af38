"""The results of a tournament as files: a page of HTML, plots, and tables for other programs."""
