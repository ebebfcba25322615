// Metadata in JSON: what was read is written in both forms, and both are read again.
import ODataModel

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"), let model = try? CSDLReader.read(bytes) else {
        return 0
    }
    // Names that JSON takes may be none in XML: what is written may be refused, and nothing may trap.
    for written in [CSDLWriter.json(model), CSDLWriter.xml(model)] { _ = try? CSDLReader.read(written) }
    return 0
}
