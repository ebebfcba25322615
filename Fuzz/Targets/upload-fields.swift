// Fields of resumable uploads and names of device resources: any text is refused, or is within the limits. A name that
// is written again is read as the same one.
import HTTPTypes

private let names = ["Upload-Offset", "Upload-Length", "Upload-Complete", "Upload-Incomplete", "Repr-Digest"]

private func check(_ text: String) {
    guard let name = DeviceResourceName(text) else { return }
    promise(text.utf8.count <= DeviceResourceName.maxLength, "a long name was read")
    var written = name.set
    if let key = name.key {
        promise(!key.isEmpty && (key[""] == nil || key.count == 1), "a key without names has one value")
        let parts = key.map { part in
            "\(part.key.isEmpty ? "" : part.key + "=")'\(part.value.replacing("'", with: "''"))'"
        }
        written += "(\(parts.joined(separator: ",")))"
    }
    if name.isValue { written += "/$value" }
    promise(DeviceResourceName(written) == name, "a name is written and read as another one")
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    check(text)
    var fields = HTTPFields()
    // Each line is the value of a field.
    for (name, value) in zip(names, text.split(separator: "\n", omittingEmptySubsequences: false)) {
        guard let name = HTTPField.Name(name), !value.isEmpty else { continue }
        fields[name] = String(value)
    }
    guard let read = try? UploadFields(fields) else { return 0 }
    for number in [read.offset, read.length].compactMap({ $0 }) {
        promise((0...UploadFields.maxInteger).contains(number), "a number without limits")
    }
    promise((read.offset ?? 0) <= (read.length ?? .max), "an offset behind the end")
    promise(read.digest.map { $0.count == 32 } ?? true, "a digest of another size")
    return 0
}
