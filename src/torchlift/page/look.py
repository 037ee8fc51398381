"""How the page looks: colours for light and dark that have enough contrast, and nothing from elsewhere."""

CSS = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2126; --faint: #57606a; --line: #d5dae0; --wash: #f4f6f8; --code: #eef1f4;
  --problem: #b3261e; --warning: #8a5a00; --ok: #1a6b34; --note: #0b5cad; --bar: #2f6fb5; --low: #b3261e; --mid: #b97a00;
  --tint: #fdf1f0; --tint-warning: #fdf6e7; }
@media screen and (prefers-color-scheme: dark) { :root {
  --paper: #14181c; --ink: #e6e9ec; --faint: #9aa5b1; --line: #343c45; --wash: #1c2228; --code: #232a31;
  --problem: #ff8a80; --warning: #f2bd59; --ok: #7cd992; --note: #82b8f5; --bar: #5b9bdf; --low: #ff8a80; --mid: #f2bd59;
  --tint: #2b1c1c; --tint-warning: #2a2418; } }
* { box-sizing: border-box; }
body { margin: 0 auto; overflow-wrap: anywhere; max-width: 68rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1rem; font-weight: 600; color: var(--faint); margin: 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; } h3 { font-size: 1rem; margin: 0; font-weight: 600; }
.verdict { font-size: 1.5rem; line-height: 1.3; font-weight: 650; margin: .25rem 0 1rem; text-wrap: balance; }
.problem { color: var(--problem); } .warning { color: var(--warning); } .ok { color: var(--ok); } .note { color: var(--note); }
.failed { color: var(--problem); } .skipped { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
.trouble { border: 1px solid var(--line); border-left: .3rem solid currentColor; border-radius: .4rem; padding: .8rem 1rem;
  margin: 0 0 .8rem; background: var(--wash); } .trouble > * { color: var(--ink); }
.trouble.problem { background: var(--tint); } .trouble.warning { background: var(--tint-warning); }
.trouble .kind { color: inherit; font-size: .8rem; font-weight: 700; letter-spacing: .03em; text-transform: uppercase; }
.trouble.problem .kind { color: var(--problem); } .trouble.warning .kind { color: var(--warning); }
.trouble .trouble { margin: .7rem 0 0; background: var(--paper); }
.where { color: var(--faint); font-size: .9rem; } p { margin: .4rem 0; }
pre { background: var(--code); border-radius: .35rem; padding: .6rem .8rem; margin: .5rem 0; overflow-x: auto; }
code { font: .9rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; } ul { margin: .4rem 0; padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: .5rem 0 1.25rem; } .wide:focus-visible { outline: 2px solid var(--note); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; } caption { text-align: left; color: var(--faint); padding-bottom: .35rem; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
thead th { color: var(--faint); font-weight: 600; overflow-wrap: break-word; } tbody th { font-weight: 500; }
.other { padding: 0 .3rem; border-radius: .2rem; background: var(--tint-warning); font-weight: 600; } .number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.rates th:first-child { width: 12rem; } .rates td, .rates tbody th { padding-top: .2rem; padding-bottom: .2rem; border-bottom: 0; } .rates td:nth-child(2) { width: 9rem; } .rates td:last-child { min-width: 14rem; }
.pairs { width: auto; } .pairs td, .pairs th { padding: .3rem .8rem; text-align: right; }
.barline { display: grid; grid-template-columns: minmax(6rem, 1fr) 13rem; gap: .8rem; align-items: center; }
.track { height: .8rem; border-radius: .2rem; background: var(--code); }
.fill { height: 100%; border-radius: .2rem; background: var(--bar); min-width: 2px; } .fill.low { background: var(--low); }
.fill.mid { background: var(--mid); } .fill.alone { background: repeating-linear-gradient(135deg, var(--bar) 0 6px, transparent 6px 9px); }
.share { color: var(--faint); font-size: .85rem; } details { margin: .6rem 0; } summary { cursor: pointer; color: var(--note); padding: .15rem 0; }
a { color: var(--note); } footer { margin-top: 3rem; color: var(--faint); font-size: .9rem; border-top: 1px solid var(--line); padding-top: .8rem; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .3rem .6rem; }
@media (max-width: 36rem) { .barline { grid-template-columns: 1fr; gap: .1rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } .verdict { font-size: 1.25rem; } }
@media print { :root { color-scheme: light; print-color-adjust: exact; } body { max-width: none; } details > * { display: block; } pre { white-space: pre-wrap; } }
"""
