// Archives of bundles: any bytes are refused, or have a directory within the limits whose names stay in their folder.

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let size = Int64(bytes.count)
    // The bytes as a directory of their own reach the reader of entries without an end record.
    check(bytes, count: Int(bytes.first ?? 0), size: size << 8)
    let tail = Array(bytes.suffix(ZipDirectory.endSize))
    guard let end = try? ZipDirectory.end(of: tail, size: size) else { return 0 }
    promise(end.range.lowerBound >= 0 && end.range.upperBound <= size, "a directory outside of its file")
    check(Array(bytes[Int(end.range.lowerBound)..<Int(end.range.upperBound)]), count: end.count, size: size)
    return 0
}

private func check(_ bytes: [UInt8], count: Int, size: Int64) {
    guard let directory = try? ZipDirectory(bytes, count: count, size: size) else { return }
    promise(directory.entries.count == count && count <= ZipDirectory.maxEntries, "another number of entries")
    for entry in directory.entries {
        promise(entry.offset >= 0 && entry.offset + 30 + entry.packedSize <= size, "an entry outside of its file")
        promise(entry.size <= max(entry.packedSize, 1) * ZipDirectory.maxRatio, "an entry that grows")
        let parts = entry.name.split(separator: "/", omittingEmptySubsequences: false)
        promise(!parts.contains("..") && !entry.name.hasPrefix("/"), "a name that leaves its folder")
        promise(
            !entry.name.utf8.contains(0) && !entry.name.utf8.contains(UInt8(ascii: "\\")), "a name of another system")
    }
}
