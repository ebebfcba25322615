// Entries, feeds, values, references and the other XML documents of Atom and AtomPub, as V2 and as V4 have them:
// feeds are read whole and in chunks.
import ODataFormat
import ODataModel

private let model = sampleModel()
private let order = QualifiedName("Shop", "Order")
private let results = [
    "Shop.Address", "Collection(Edm.String)", "Edm.GeographyPolygon", "Shop.Color", "Edm.Decimal", "Shop.Order",
    "Collection(Shop.Order)",
].map { model.typeReference($0) }

/// The result of a reader: the elements, or that it failed.
private enum Outcome: Equatable {
    case elements([CollectionPayloadReader.Element])
    case failed
}

private func read(_ chunks: [[UInt8]]) -> Outcome {
    var reader = AtomFeedReader(model: model, type: order)
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

private func readFeed(_ bytes: [UInt8]) {
    // NaN is not equal to itself, so texts that hold it prove nothing.
    let isComparable = !String(decoding: bytes, as: UTF8.self).contains("NaN")
    let outcome = read(whole(bytes))
    promise(!isComparable || read(pieces(of: bytes)) == outcome, "chunks change what is read")
}

private func checkEntity(_ bytes: [UInt8], _ version: ODataVersion) {
    let format = PayloadFormat.atom(version)
    let decoder = PayloadDecoder(model: model, format: format)
    guard let entity = try? decoder.entity(bytes, type: order).entity else { return }
    let written = PayloadEncoder(model: model, format: format).entity(entity)
    promise((try? decoder.entity(written, type: order)) != nil, "what was written is not read")
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    for version in [ODataVersion.v2, .v4] { checkEntity(bytes, version) }
    readFeed(bytes)
    // The following parts are read alike in all versions.
    let decoder = PayloadDecoder(model: model, format: .atom(.v2))
    for type in results { _ = try? decoder.value(bytes, type: type) }
    _ = try? decoder.references(bytes)
    _ = try? decoder.serviceDocument(bytes)
    _ = try? decoder.error(bytes)
    _ = try? OpenSearchDescription(xml: bytes)
    _ = try? SubscriptionDocument(xml: bytes)
    return 0
}
