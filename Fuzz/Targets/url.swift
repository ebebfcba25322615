// URLs of both dialects, and expressions alone: parsed, bound to the model that payloads are read with, printed,
// and parsed again to the same tree.
import ODataModel
import ODataQuery

private let model = sampleModel()
private let binder = Binder(model: model)
private let orders = model.entitySet("Orders")
private let order = model.shape(ofSet: "Orders")
private let dialects = [ParsingOptions(), ParsingOptions(dialect: .v2, plusIsSpace: true)]

/// For the wire, and for people, who see V4 only.
private func check(_ url: ODataURL, _ options: ParsingOptions) {
    var printed = [url.urlEncoded(dialect: options.dialect)]
    if options.dialect == .v4 { printed.append(url.description) }
    for text in printed {
        guard let again = try? ODataURL(parsing: text, options: options) else {
            fatalError("\(options.dialect): \(text) was printed and is not parsed")
        }
        // NaN is not equal to itself, so texts that hold it prove nothing.
        promise(again == url || text.contains("NaN"), "\(options.dialect): \(text) is parsed as another URL")
    }
    promise(printed[0].utf8.allSatisfy { 0x20 < $0 && $0 < 0x7F }, "the wire takes ASCII alone: \(printed[0])")
}

private func check(_ expression: CommonExpression) {
    let text = expression.description
    guard let again = try? CommonExpression(parsing: text) else {
        fatalError("\(text) was printed and is not parsed")
    }
    promise(again == expression || text.contains("NaN"), "\(text) is parsed as another expression")
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    for options in dialects {
        guard let url = try? ODataURL(parsing: text, options: options) else { continue }
        _ = try? binder.bind(url)
        check(url, options)
    }
    if let expression = try? CommonExpression(parsing: text) {
        if let order { _ = try? binder.bind(expression, shape: order, set: orders) }
        check(expression)
    }
    return 0
}
