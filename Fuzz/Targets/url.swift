// URLs of both dialects, and expressions alone: parsed, and bound to the model that payloads are read with.
import ODataModel
import ODataQuery

private let model = sampleModel()
private let binder = Binder(model: model)
private let orders = model.entitySet("Orders")
private let order = model.shape(ofSet: "Orders")
private let dialects = [ParsingOptions(), ParsingOptions(dialect: .v2, plusIsSpace: true)]

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for options in dialects {
        guard let url = try? ODataURL(parsing: text, options: options) else { continue }
        _ = try? binder.bind(url)
    }
    if let expression = try? Expression(parsing: text), let order {
        _ = try? binder.bind(expression, shape: order, set: orders)
    }
    return 0
}
