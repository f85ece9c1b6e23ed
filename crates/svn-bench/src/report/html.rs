//! One page in one file: no script, nothing that is fetched, readable on a telephone, in the dark, and printed.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Grid;
use crate::terminal::print::escaped;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#222;--faint:#666;--rule:#ddd;--page:#fff;--accent:#0072b2;--warn:#fff3cd;--warnink:#533f03}\
@media(prefers-color-scheme:dark){:root{--ink:#ddd;--faint:#999;--rule:#444;--page:#181a1b;--accent:#56b4e9;--warn:#4a3b00;--warnink:#ffe69c}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--page)}\
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2.5rem}h3{font-size:1rem;margin:1.5rem 0 .3rem}a{color:var(--accent)}\
table{border-collapse:collapse}.wide{overflow-x:auto}\
th,td{padding:.2rem .8rem;border-bottom:1px solid var(--rule);text-align:right;overflow-wrap:anywhere}\
.wide th,.wide td{white-space:nowrap}\
th:first-child,td:first-child{text-align:left}.warn{background:var(--warn);color:var(--warnink);padding:.5rem 1rem}\
.bar{background:var(--accent);height:.7rem;display:inline-block}.figures{display:flex;flex-wrap:wrap}\
figure{margin:.5rem 0}.figures svg,figure svg{background:#fff;border-radius:4px;max-width:100%;height:auto}\
@media(max-width:40rem){figure svg{max-width:none;height:auto;min-width:36rem}figure{overflow-x:auto}}\
nav ol{columns:2;padding-left:1.2rem}@media(max-width:40rem){nav ol{columns:1}}\
details{color:var(--faint);font-size:.85rem}code{overflow-wrap:anywhere}footer{color:var(--faint);margin-top:2rem}";

/// A whole page; its title is also its heading.
pub(crate) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // A browser asks for one otherwise.
                link rel="icon" href="data:,";
                title { (escaped(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (escaped(title)) }
                (body)
                footer { "svn " (env!("CARGO_PKG_VERSION")) }
            }
        }
    };
    page.into_string()
}

/// A table that scrolls where it is too wide.
pub(crate) fn table(grid: &Grid) -> Markup {
    html! {
        div.wide {
            table {
                thead { tr { @for cell in &grid.header { th scope="col" { (escaped(cell)) } } } }
                tbody {
                    @for row in &grid.rows {
                        tr { @for cell in row { td { (escaped(cell)) } } }
                    }
                }
            }
        }
    }
}
