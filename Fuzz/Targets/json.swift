// JSON payloads of V4 and of V2: a collection read whole, in chunks and as rows, single entities, values of every type,
// references, service documents and errors.
import ODataFormat
import ODataModel

private let model = sampleModel()
private let order = QualifiedName("Shop", "Order")
private let decoders = [PayloadFormat.json(.v4), .verboseJSON(.v2)].map { PayloadDecoder(model: model, format: $0) }
private let types = ["Shop.Address", "Collection(Edm.Untyped)", "Edm.GeographyPolygon", "Shop.Color", "Edm.Decimal"]
    .map { model.typeReference($0) }
/// The types of other answers: operations return entities too.
private let results = types + ["Shop.Order", "Collection(Shop.Order)"].map { model.typeReference($0) }

/// The result of a reader: the elements, or that it failed.
private enum Outcome: Equatable {
    case elements([CollectionPayloadReader.Element])
    case failed
}

private func read(_ chunks: [[UInt8]], _ decoder: PayloadDecoder) -> Outcome {
    var reader = decoder.collection(type: order)
    var elements: [CollectionPayloadReader.Element] = []
    do {
        for chunk in chunks {
            try reader.append(chunk)
            while let element = try reader.next() { elements.append(element) }
        }
        try reader.finish()
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

private func readCollection(_ bytes: [UInt8]) {
    // NaN is not equal to itself, so texts that hold it prove nothing.
    let isComparable = !String(decoding: bytes, as: UTF8.self).contains("NaN")
    for decoder in decoders {
        let outcome = read(whole(bytes), decoder)
        promise(!isComparable || read(pieces(of: bytes), decoder) == outcome, "chunks change what is read")
    }
    for dialect in [JSONDialect.light, .verbose] {
        var sink = RowSink()
        var reader = CollectionPayloadReader(model: model, type: order, dialect: dialect)
        reader.append(bytes)
        reader.finish()
        try? reader.read(into: &sink)
    }
}

private func readRest(_ bytes: [UInt8], _ decoder: PayloadDecoder) {
    _ = try? decoder.entity(bytes, type: order)
    for type in results { _ = try? decoder.value(bytes, type: type) }
    _ = try? decoder.references(bytes)
    _ = try? decoder.serviceDocument(bytes)
    _ = try? decoder.error(bytes)
}

private func readValues(_ bytes: [UInt8]) {
    for type in types {
        guard let value = try? ODataValue(json: bytes, type: type, model: model) else { continue }
        var writer = JSONWriter()
        writer.value(value, type: type, model: model)
        promise(
            (try? ODataValue(json: writer.bytes, type: type, model: model)) != nil, "what was written is not read")
    }
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    readCollection(bytes)
    for decoder in decoders { readRest(bytes, decoder) }
    readValues(bytes)
    return 0
}
