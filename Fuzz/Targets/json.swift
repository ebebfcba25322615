// JSON payloads: a collection read whole, in chunks and as rows, and single values of every type.
import ODataFormat
import ODataModel

private let model = sampleModel()
private let order = QualifiedName("Shop", "Order")

/// What a way of reading comes to: the elements, or that it failed.
private enum Outcome: Equatable {
    case elements([CollectionPayloadReader.Element])
    case failed
}

private func read(_ bytes: [UInt8], chunk: Int) -> Outcome {
    var reader = CollectionPayloadReader(model: model, type: order)
    var elements: [CollectionPayloadReader.Element] = []
    do {
        for start in stride(from: 0, to: bytes.count, by: chunk) {
            reader.append(bytes[start..<min(start + chunk, bytes.count)])
            while let element = try reader.next() { elements.append(element) }
        }
        reader.finish()
        while let element = try reader.next() { elements.append(element) }
    } catch {
        return .failed
    }
    return .elements(elements)
}

/// Asks every row for every value.
private struct RowSink: CollectionSink {
    mutating func row(_ row: borrowing JSONRow) throws {
        for ordinal in row.shape.properties.indices { _ = try row.value(at: ordinal) }
    }
    mutating func element(_ element: CollectionPayloadReader.Element) throws {}
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let whole = read(bytes, chunk: max(count, 1))
    let pieces = read(bytes, chunk: 1 + count % 7)
    // NaN is not equal to itself, so texts that hold it prove nothing.
    if !String(decoding: bytes, as: UTF8.self).contains("NaN") {
        precondition(whole == pieces, "chunks change what is read")
    }
    var sink = RowSink()
    var reader = CollectionPayloadReader(model: model, type: order)
    reader.append(bytes)
    reader.finish()
    try? reader.read(into: &sink)
    for type in ["Shop.Address", "Collection(Edm.Untyped)", "Edm.GeographyPolygon", "Shop.Color", "Edm.Decimal"] {
        let reference = model.typeReference(type)
        guard let value = try? ODataValue(json: bytes, type: reference, model: model) else { continue }
        var writer = JSONWriter()
        writer.value(value, type: reference, model: model)
        precondition(
            (try? ODataValue(json: writer.bytes, type: reference, model: model)) != nil, "what was written is not read")
    }
    return 0
}
