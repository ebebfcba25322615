# Compiles libraries of this repository without SwiftPM, for programs that need them in another way than it builds them.
# To be sourced, with `flags` for the compiler and `build`, where results go; the objects are added to `objects`.
below=

# compile_library NAME FOLDER: as one object, unless that is newer than its sources and than the library before.
compile_library() {
    local library=$1 sources=$2
    local object=$build/$library.o
    if [ ! -f "$object" ] || { [ -n "$below" ] && [ "$below" -nt "$object" ]; } ||
        [ -n "$(find "$sources" -name '*.swift' -newer "$object" | head -1)" ]; then
        # The compiler leaves a file that it takes for the same as it is, and with it a date that says too little.
        rm -f "$object" "$build/$library.swiftmodule"
        # shellcheck disable=SC2046 # words are wanted
        swiftc "${flags[@]}" -module-name "$library" -emit-module -emit-module-path "$build/$library.swiftmodule" \
            -c $(find "$sources" -name '*.swift') -o "$object" >&2
    fi
    below=$object
    objects+=("$object")
}
