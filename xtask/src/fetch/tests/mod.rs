//! Each raw layout, small and made here, and the rules of conversion.

use super::manifest::Dataset;
use super::*;
use crate::checksum;
use std::io::Write;

mod obtaining;

const URL: &str = "https://example.org/raw.dat";

/// A set of two rows, `x` and `y`, with more lines for `[dataset.raw]`.
fn set(raw: &str) -> Dataset {
    set_of(
        "[\"x\", \"y\"]",
        2,
        &checksum::of_bytes(b"x,y\n1,2\n3,4.5\n"),
        URL,
        raw,
    )
}

fn set_of(columns: &str, rows: usize, sha256: &str, url: &str, raw: &str) -> Dataset {
    let text = format!(
        "schema = 1\n[[dataset]]\nname = \"tiny\"\ntask = \"regression\"\nrows = {rows}\ncolumns = {columns}\n\
         sha256 = \"{sha256}\"\n[dataset.raw]\nurl = \"{url}\"\n{raw}"
    );
    Manifest::parse(&text)
        .unwrap()
        .find("tiny")
        .unwrap()
        .clone()
}

fn converted(set: &Dataset, bytes: &[u8]) -> String {
    convert::convert(set, bytes).unwrap()
}

fn fault(set: &Dataset, bytes: &[u8]) -> String {
    format!("{:#}", convert::convert(set, bytes).unwrap_err())
}

fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in files {
        zip.start_file(*name, stored).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

mod formats {
    use super::*;

    const TINY: &str = "x,y\n1,2\n3,4.5\n";

    #[test]
    fn whitespace_with_quotes_tabs_crlf_blank_lines_and_no_last_newline() {
        let set = set("format = \"whitespace\"\ncolumns = [\"y\", \"x\", \"-\"]");
        let raw = b"\xef\xbb\xbf 2.   1\t\"amc hornet\"\r\n\r\n4.50  3.000\t\"ford \"";
        assert_eq!(converted(&set, raw), TINY);
    }

    #[test]
    fn delimited_by_semicolons_under_a_quoted_header() {
        let set = set("format = \"delimited\"\ndelimiter = \";\"\nheader = true");
        assert_eq!(
            converted(&set, b"\"fixed acidity\";\"quality\"\n1.0;2\n3;4.5\n"),
            TINY
        );
    }

    #[test]
    fn delimited_by_commas_with_the_target_first_and_empty_trailing_cells() {
        let set = set("format = \"delimited\"\ndelimiter = \",\"\ncolumns = [\"y\", \"x\"]");
        assert_eq!(converted(&set, b"2,1,\n4.5, 3,,\n,,\n"), TINY);
    }

    #[test]
    fn arff_with_comments() {
        let set = set("format = \"arff\"");
        let raw = b"% made\n@relation r\n@attribute x real\n@DATA\n1,2\n% note\n3 , '4.5'\n\n";
        assert_eq!(converted(&set, raw), TINY);
        assert_eq!(fault(&set, b"1,2\n"), "no @data line: not an ARFF file");
        assert_eq!(
            fault(&set, b"@data\n{0 1}\n"),
            "line 2: sparse ARFF rows are not supported"
        );
    }

    #[test]
    fn member_of_a_zip_archive() {
        let set = set("format = \"whitespace\"\nmember = \"a dir/data.txt\"");
        assert_eq!(
            converted(
                &set,
                &zip_of(&[("README", "x"), ("a dir/data.txt", "1 2\n3 4.5\n")])
            ),
            TINY
        );
        assert_eq!(
            fault(&set, &zip_of(&[("other.txt", ""), ("README", "")])),
            "the ZIP archive has no `a dir/data.txt`; it has: README, other.txt"
        );
        assert!(fault(&set, b"1 2\n").starts_with("not a ZIP archive"));
    }

    #[test]
    fn xls() {
        let rows = "x,y\n540,79.98611076\n7e-05,-2.5\n";
        let set = set_of(
            "[\"x\", \"y\"]",
            2,
            "",
            URL,
            "format = \"workbook\"\nheader = true",
        );
        assert_eq!(
            converted(&set, include_bytes!("../testdata/small.xls")),
            rows
        );
    }

    #[test]
    fn xlsx_with_blank_rows_and_columns_after_the_data() {
        let sheet = r#"<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
            <row r="1"><c r="A1" t="inlineStr"><is><t>X1</t></is></c><c r="B1" t="inlineStr"><is><t>Y1</t></is></c></row>
            <row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c><c r="C2"/></row>
            <row r="3"><c r="A3"><v>3</v></c><c r="B3"><v>4.5</v></c></row>
            <row r="9"><c r="A9" t="inlineStr"><is><t> </t></is></c><c r="D9" t="inlineStr"><is><t></t></is></c></row>
            </sheetData></worksheet>"#;
        let book = r#"<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
        let relations = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
        let start = r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
        let file = zip_of(&[
            ("_rels/.rels", start),
            ("xl/workbook.xml", book),
            ("xl/_rels/workbook.xml.rels", relations),
            ("xl/worksheets/sheet1.xml", sheet),
        ]);
        assert_eq!(
            converted(&set("format = \"workbook\"\nheader = true"), &file),
            TINY
        );
        assert_eq!(
            fault(&set("format = \"workbook\"\nsheet = \"Other\""), &file),
            "the workbook has no sheet `Other`; it has: Data"
        );
    }

    #[test]
    fn ods_with_a_named_sheet() {
        let table = |name: &str, second: &str| {
            format!(
                r#"<table:table table:name="{name}"><table:table-row><table:table-cell office:value-type="string"><text:p>AT</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>PE</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell office:value-type="float" office:value="1"/><table:table-cell office:value-type="float" office:value="2"/></table:table-row><table:table-row><table:table-cell office:value-type="float" office:value="3"/><table:table-cell office:value-type="float" office:value="{second}"/></table:table-row></table:table>"#
            )
        };
        let content = format!(
            r#"<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>{}{}</office:spreadsheet></office:body></office:document-content>"#,
            table("Sheet1", "9"),
            table("Sheet2", "4.5"),
        );
        let file = zip_of(&[
            ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
            (
                "META-INF/manifest.xml",
                r#"<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"#,
            ),
            ("content.xml", &content),
        ]);
        assert_eq!(
            converted(
                &set("format = \"workbook\"\nsheet = \"Sheet2\"\nheader = true"),
                &file
            ),
            TINY
        );
    }

    #[test]
    fn a_file_that_is_no_workbook() {
        assert!(
            fault(&set("format = \"workbook\""), b"1,2\n")
                .starts_with("not an XLS, XLSX or ODS workbook")
        );
    }
}

mod rules {
    use super::*;

    #[test]
    fn rows_with_a_missing_cell_are_dropped_only_where_the_manifest_says_so() {
        let raw = b"1 2\n? 7\n3 4.5\n";
        let dropping = set("format = \"whitespace\"\nmissing = \"?\"");
        assert_eq!(converted(&dropping, raw), "x,y\n1,2\n3,4.5\n");
        assert_eq!(
            fault(&set("format = \"whitespace\""), raw),
            "row 2, column `x`: `?` is not a number"
        );
    }

    #[test]
    fn a_missing_cell_in_a_dropped_column_does_not_drop_the_row() {
        let set = set("format = \"whitespace\"\nmissing = \"?\"\ncolumns = [\"x\", \"y\", \"-\"]");
        assert_eq!(converted(&set, b"1 2 ?\n3 4.5 a\n"), "x,y\n1,2\n3,4.5\n");
    }

    #[test]
    fn labels_become_classes() {
        let set = set("format = \"delimited\"\ndelimiter = \",\"\nlabels = { B = 0, M = 1 }");
        assert_eq!(converted(&set, b"1,M\n2,B\n"), "x,y\n1,1\n2,0\n");
        assert_eq!(
            fault(&set, b"1,M\n2,benign\n"),
            "row 2, column `y`: label `benign`, expected one of B, M"
        );
    }

    #[test]
    fn what_is_not_a_finite_number_is_refused_with_its_place() {
        let set = set("format = \"whitespace\"");
        for cell in ["NA", ">60", "inf", "nan", "1e999"] {
            assert_eq!(
                fault(&set, format!("1 2\n\n3 {cell}\n").as_bytes()),
                format!("row 3, column `y`: `{cell}` is not a number")
            );
        }
    }

    #[test]
    fn shape_is_checked() {
        let set = set("format = \"whitespace\"");
        assert_eq!(fault(&set, b"1 2\n3\n"), "row 2: 1 cells, expected 2");
        assert_eq!(fault(&set, b"1 2 3\n"), "row 1: 3 cells, expected 2");
        assert_eq!(fault(&set, b"1 2\n"), "1 rows, expected 2");
        assert_eq!(fault(&set, b""), "0 rows, expected 2");
    }

    #[test]
    fn pages_and_binary_files_are_called_what_they_are() {
        let set = set("format = \"whitespace\"");
        assert_eq!(
            fault(&set, b"\r\n<!DOCTYPE HTML><html>"),
            "a web page (HTML) instead of data"
        );
        assert_eq!(fault(&set, b"1 2\n\xff\xfe\n"), "line 2: not UTF-8 text");
    }
}
