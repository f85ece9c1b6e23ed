//! Downloads from a server on this machine: a good one, and the ways a bad one goes wrong.
#![cfg(feature = "fetch")]

use assert_cmd::Command;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

const RAW: &str = "2 1\n4.5 3.0\n";
const CONVERTED: &str = "x,y\n1,2\n3,4.5\n";

/// Answers every request with the same bytes; the address of the file.
fn server(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 1024]);
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer).unwrap() {
                    0 => break,
                    n => request.extend_from_slice(&buffer[..n]),
                }
            }
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    format!("http://{address}/raw.dat")
}

fn answer(status: &str, length: usize, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn sum(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Runs `fetch-data tiny` against an address; exit code, standard output, standard error.
fn fetch(folder: &Path, url: &str, raw_sum: Option<String>) -> (i32, String, String) {
    let raw_sum = raw_sum.map_or(String::new(), |sum| format!("sha256 = \"{sum}\"\n"));
    let manifest = format!(
        "schema = 1\n[[dataset]]\nname = \"tiny\"\ntask = \"regression\"\nrows = 2\ncolumns = [\"x\", \"y\"]\n\
         sha256 = \"{}\"\n[dataset.raw]\nurl = \"{url}\"\nformat = \"whitespace\"\ncolumns = [\"y\", \"x\"]\n{raw_sum}",
        sum(CONVERTED)
    );
    fs::write(folder.join("manifest.toml"), manifest).unwrap();
    fetch_data(folder)
}

/// Runs `fetch-data tiny` with the descriptions that a folder holds.
fn fetch_data(folder: &Path) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    for name in [
        "SVN_DATA_MIRROR",
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(name);
    }
    command.env("SVN_DATA_DIR", folder.join("data"));
    let output = command
        .args(["fetch-data", "tiny", "--manifest"])
        .arg(folder.join("manifest.toml"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("data")) else {
        return vec![];
    };
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_good_file_is_converted_and_a_second_run_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let url = server(answer("200 OK", RAW.len(), RAW));
    let (code, out, err) = fetch(folder.path(), &url, Some(sum(RAW)));
    assert_eq!(
        (code, out, err),
        (
            0,
            format!("tiny: from {url}\n"),
            format!("tiny: downloading {url}\n")
        )
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("data/tiny.csv")).unwrap(),
        CONVERTED
    );
    assert_eq!(files(folder.path()), ["tiny.csv"]);
    let (code, out, _) = fetch(folder.path(), "http://127.0.0.1:1/", None);
    assert_eq!((code, out.as_str()), (0, "tiny: already in the cache\n"));
}

#[test]
fn a_wrong_checksum_keeps_the_old_file_and_puts_the_new_one_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/tiny.csv"), "old").unwrap();
    let other = "2 1\n4.5 3.5\n";
    let url = server(answer("200 OK", other.len(), other));
    let (code, _, err) = fetch(folder.path(), &url, Some(sum(RAW)));
    let expected = format!(
        "tiny: {url}: checksum differs\n  expected sha-256 {}\n  received sha-256 {}\n  the download was kept as {}\n",
        sum(RAW),
        sum(other),
        folder.path().join("data/raw.dat.rejected").display()
    );
    assert_eq!(code, 1);
    assert!(
        err.contains(&expected) && err.contains("tiny.csv is damaged"),
        "{err}"
    );
    assert_eq!(files(folder.path()), ["raw.dat.rejected", "tiny.csv"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("data/tiny.csv")).unwrap(),
        "old"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("data/raw.dat.rejected")).unwrap(),
        other
    );
}

#[test]
fn a_truncated_body_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let url = server(answer("200 OK", RAW.len() + 10, RAW));
    let (code, _, err) = fetch(folder.path(), &url, None);
    assert_eq!(code, 1);
    assert!(
        err.contains(&format!("tiny: {url}: the download broke off; try again")),
        "{err}"
    );
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn a_missing_file_and_a_page_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let url = server(answer("404 Not Found", 0, ""));
    let (code, _, err) = fetch(folder.path(), &url, None);
    assert_eq!(code, 1);
    assert!(
        err.contains(&format!(
            "tiny: {url}: the server answered 404; without a network"
        )),
        "{err}"
    );

    let page = "<!DOCTYPE html><html>moved</html>";
    let url = server(answer("200 OK", page.len(), page));
    let (code, _, err) = fetch(folder.path(), &url, None);
    assert_eq!(code, 1);
    assert!(
        err.contains(&format!("tiny: {url}: a web page (HTML) instead of data\n")),
        "{err}"
    );
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[test]
fn without_a_network_the_mirror_is_offered() {
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago: nobody listens.
    let url = format!(
        "http://{}/raw.dat",
        TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
    );
    let (code, _, err) = fetch(folder.path(), &url, None);
    assert_eq!(code, 1);
    let hint = "without a network, name a folder of converted files (NAME.csv) with --mirror DIR or SVN_DATA_MIRROR\n";
    assert!(
        err.contains(&format!("tiny: {url}: ")) && err.contains(hint),
        "{err}"
    );
}

/// MD5 of `RAW`, by `printf '2 1\n4.5 3.0\n' | md5sum`.
const RAW_MD5: &str = "c6fab02ad77b93986eee65dee9c79b30";

/// Runs `fetch-data tiny` for an image set of one file.
fn fetch_images(folder: &Path, urls: &[&str], md5: &str) -> (i32, String, String) {
    let images = format!(
        "schema = 1\n[[images]]\nname = \"tiny\"\ntitle = \"T\"\nlicence = \"L\"\nurls = {urls:?}\n\
         [[images.file]]\nstem = \"train-labels\"\ndims = 1\nitems = 2\nmd5 = \"{md5}\"\nsha256 = \"{}\"\n",
        sum(RAW)
    );
    fs::write(folder.join("images.toml"), images).unwrap();
    fs::write(folder.join("manifest.toml"), "schema = 1\ndataset = []\n").unwrap();
    fetch_data(folder)
}

/// The folder in front of the server's file.
fn address(server: String) -> String {
    server.trim_end_matches("raw.dat").to_owned()
}

#[test]
fn image_files_come_from_the_first_address_that_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let missing = address(server(answer("404 Not Found", 0, "")));
    let good = address(server(answer("200 OK", RAW.len(), RAW)));
    let (code, out, err) = fetch_images(folder.path(), &[&missing, &good], RAW_MD5);
    assert_eq!((code, out), (0, format!("tiny: from {good}\n")), "{err}");
    let name = "train-labels-idx1-ubyte";
    for address in [missing, good] {
        assert!(
            err.contains(&format!("tiny: downloading {address}{name}.gz\n")),
            "{err}"
        );
    }
    let kept = folder.path().join("data/tiny").join(name);
    assert_eq!(fs::read_to_string(kept).unwrap(), RAW);
    let (code, out, _) = fetch_images(folder.path(), &["http://127.0.0.1:1/"], RAW_MD5);
    assert_eq!((code, out.as_str()), (0, "tiny: already in the cache\n"));
}

#[test]
fn an_image_file_that_is_not_the_published_one_is_put_aside() {
    let folder = tempfile::tempdir().unwrap();
    let other = "2 1\n4.5 3.5\n";
    let url = address(server(answer("200 OK", other.len(), other)));
    let (code, _, err) = fetch_images(folder.path(), &[&url], RAW_MD5);
    assert_eq!(code, 1);
    let said = format!("not the published file\n  expected md5 {RAW_MD5}\n  received md5 ");
    assert!(err.contains(&said), "{err}");
    let folder = folder.path().join("data/tiny");
    assert!(folder.join("train-labels-idx1-ubyte.rejected").is_file());
    assert!(!folder.join("train-labels-idx1-ubyte").exists());
}

#[test]
fn where_nothing_can_be_written_nothing_is_downloaded() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data"), "a file").unwrap();
    let url = server(answer("200 OK", RAW.len(), RAW));
    let (code, _, error) = fetch(folder.path(), &url, None);
    assert_eq!(code, 1);
    assert!(error.starts_with("tiny: cannot write "), "{error}");
    assert!(error.contains("SVN_DATA_DIR"), "{error}");
    assert!(!error.contains("downloading"), "{error}");
}
