// Metadata in XML: a read model is written and read again, in XML and in JSON.
import ODataModel

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard let model = try? CSDLReader.read(xml: bytes) else { return 0 }
    // The object package of any model can be read, and names its errors.
    _ = PackageModel(model).problems
    // A model with skipped parts can be written, and nothing traps.
    for version in [ODataVersion.v2, .v3, .v4] { _ = try? CSDLReader.read(CSDLWriter.xml(model, version: version)) }
    guard let result = try? CSDLReader.parse(xml: bytes, options: strictMetadata), result.warnings.isEmpty,
        result.model.version >= .v4
    else { return 0 }
    checkXML(result.model)
    checkJSON(result.model)
    return 0
}
