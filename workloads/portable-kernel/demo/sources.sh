#!/bin/sh
# Copies what the portable kernel is built of into DIR, in the folders that its includes name:
#
#     demo/sources.sh DIR
#
# It is part of this product, so this needs a checkout.
set -eu
kernel=$(cd "$(dirname "$0")/.." && pwd)
root=$(cd "$kernel/../.." && pwd)
dir=$1
mkdir -p "$dir/lang" "$dir/driver" "$dir/core" "$dir/proto/json" "$dir/base"
cp "$kernel"/lang/*.[ch] "$kernel"/lang/*.def "$dir/lang"
cp "$kernel"/driver/*.[ch] "$dir/driver"
cp "$root"/proto/json/*.[ch] "$dir/proto/json"
for name in arena buf clock clock_linux digest digest_evp disk err files files_tree mem; do
    for file in "$root/daemon/base/$name".[ch]; do
        [ ! -e "$file" ] || cp "$file" "$dir/base"
    done
done
cp "$root/daemon/base/fault.h" "$dir/base"
cp "$root/core/types.h" "$dir/core"
cp "$root/daemon/base/digest_hex.h" "$dir/base"
cp "$kernel/demo/Makefile" "$dir"
