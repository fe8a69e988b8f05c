#!/bin/sh
# Prepares the controls: looks for the modules that CPython needs, and builds the Rust programs. Those that
# cannot be had leave the reason beside their place, and their lanes are absent.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
registry=/usr/share/cargo/registry # of Debian's packages; nothing is fetched

/usr/bin/python3 -I -S -B -c "import asyncio, http.client, http.server"

absent() {
    reason=$1
    shift
    for program in "$@"; do
        echo "$reason" >"$out/$program.absent"
    done
}

# NAME SOURCE [OPTIONS]
compile() {
    name=$1
    source=$2
    shift 2
    rustc --edition 2021 -C opt-level=3 "$@" -o "$out/$name" "$here/rust/$source" ||
        absent "rustc could not build it; the log of the build says why" "$name"
}

# cargo writes beside the manifest, and the suite must stay as it is.
build_with_tokio() {
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
        cp "$work/target/release/rust_tasks" "$work/target/release/rust_tcp_fanout" "$out/"
    else
        absent "cargo could not build it; the log of the build says why" rust_tasks rust_tcp_fanout
    fi
}

if ! command -v rustc >/dev/null; then
    absent "rustc is not on this host" rust_fib30 rust_retrying_worker rust_int32_loop rust_int64_loop rust_startup
else
    rustc --version
    compile rust_fib30 fib30.rs
    compile rust_retrying_worker retrying_worker.rs
    compile rust_int32_loop int_loop.rs --cfg int32
    compile rust_int64_loop int_loop.rs
    compile rust_startup startup.rs
fi

if ! command -v cargo >/dev/null; then
    absent "cargo is not on this host" rust_tasks rust_tcp_fanout
elif ! ls -d "$registry"/tokio-1.* >/dev/null 2>&1; then
    absent "tokio is not in $registry (Debian's librust-tokio-dev)" rust_tasks rust_tcp_fanout
else
    build_with_tokio
fi
