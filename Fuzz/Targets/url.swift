// URLs of both dialects, and expressions alone.
import ODataQuery

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    _ = try? ODataURL(parsing: text)
    _ = try? ODataURL(parsing: text, options: ParsingOptions(dialect: .v2, plusIsSpace: true))
    _ = try? Expression(parsing: text)
    return 0
}
