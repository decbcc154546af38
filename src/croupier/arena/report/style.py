"""The style of the page of results, beside that of all pages of `core.html_page`."""

from typing import Final

STYLESHEET: Final = """
h1 { font-size: 1.6em; text-wrap: balance; overflow-wrap: anywhere; } .note { opacity: 0.8; max-width: 46em; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; display: block; }
td, th { border-bottom: 1px solid var(--line); padding: 0.3rem 0.75rem; text-align: right; white-space: nowrap; }
.name { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 9rem; font-weight: normal; }
td small { display: block; opacity: 0.8; } .pairings td, .pairings th { border: 1px solid var(--line); }
.unplayed { background: #8881; }
.won { background: light-dark(#cde6f7, #0a3d5c); font-weight: bold; }
.lost { background: light-dark(#f9dccb, #5c2a0a); font-weight: bold; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { opacity: 0.8; } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { max-width: none; margin: 0; font-size: 12px; } td, th { padding: 0.2rem 0.4rem; }
  figure, tr, details { break-inside: avoid; } td, th { print-color-adjust: exact; } .wide { overflow: visible; } }
"""
