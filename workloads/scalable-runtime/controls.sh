#!/bin/sh
# Builds the Rust program, or leaves the reason why its lanes are absent beside its place.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
registry=/usr/share/cargo/registry # of Debian's packages; nothing is fetched

absent() {
    echo "$1" >"$out/rust_runtime.absent"
}

# cargo writes beside the manifest, and the suite must stay as it is.
build() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cp -R "$here/rust" "$work/rust"
    mkdir "$work/home"
    cat >"$work/home/config.toml" <<END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$registry"
END
    if CARGO_HOME=$work/home CARGO_TARGET_DIR=$work/target \
        cargo build --release --offline --manifest-path "$work/rust/Cargo.toml"; then
        cp "$work/target/release/rust_runtime" "$out/"
    else
        absent "cargo could not build it; the log of the build says why"
    fi
}

if ! command -v cargo >/dev/null; then
    absent "cargo is not on this host"
elif ! ls -d "$registry"/tokio-1.* >/dev/null 2>&1; then
    absent "tokio is not in $registry (Debian's librust-tokio-dev)"
else
    build
fi
