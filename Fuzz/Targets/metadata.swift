// Metadata in XML: read, and what was read once written and read again.
import ODataModel

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    _ = try? CSDLReader.read(xml: Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}
