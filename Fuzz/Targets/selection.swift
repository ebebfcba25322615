// The JSON form of dynamic queries: a read query is written, and reads back the same. The model is that of payloads.
import ODataModel
import ODataQuery

private let binder = Binder(model: sampleModel())

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let selection = try? Selection(json: Array(UnsafeBufferPointer(start: data, count: count))) else { return 0 }
    _ = try? binder.bind(selection)
    guard let written = try? selection.json() else { fatalError("a query was read and is not written") }
    let text = String(decoding: written, as: UTF8.self)
    guard let again = try? Selection(json: written) else { fatalError("\(text) was written and is not read") }
    // NaN is not equal to itself, so texts that hold it prove nothing.
    promise(again == selection || text.contains("NaN"), "\(text) is read as another query")
    return 0
}
