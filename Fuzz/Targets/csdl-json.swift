// Metadata in JSON: a read model is written and read again, in JSON and in XML.
import ODataModel

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"), let model = try? CSDLReader.read(bytes) else {
        return 0
    }
    // The object package of any model can be read, and names its errors.
    _ = PackageModel(model).problems
    // A model with skipped parts can be written, and nothing traps. Names that JSON allows may be invalid in XML.
    for written in [CSDLWriter.json(model), CSDLWriter.xml(model)] { _ = try? CSDLReader.read(written) }
    guard let result = try? CSDLReader.parse(bytes, options: strictMetadata), result.warnings.isEmpty else { return 0 }
    checkJSONAgain(result.model)
    checkXML(result.model)
    return 0
}
