//! What the clients share.

use std::env;

/// The method and the URL that the command line asks for.
pub fn asked() -> (reqwest::Method, String) {
    let words: Vec<String> = env::args().skip(1).collect();
    let [method, url] = words.try_into().expect("a method and a URL");
    (method.parse().expect("a method"), url)
}
