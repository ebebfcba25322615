// Entries, feeds, values, references and the other XML documents of Atom and AtomPub, as V2 and as V4 have them.
import ODataFormat
import ODataModel

private let model = sampleModel()
private let order = QualifiedName("Shop", "Order")
private let results = [
    "Shop.Address", "Collection(Edm.String)", "Edm.GeographyPolygon", "Shop.Color", "Edm.Decimal", "Shop.Order",
    "Collection(Shop.Order)",
].map { model.typeReference($0) }

private func readFeed(_ bytes: [UInt8]) {
    var reader = AtomFeedReader(model: model, type: order)
    do {
        // In two pieces, so that one is cut somewhere.
        try reader.append(bytes[..<(bytes.count / 2)])
        while try reader.next() != nil {}
        try reader.append(bytes[(bytes.count / 2)...])
        while try reader.next() != nil {}
        try reader.finish()
        while try reader.next() != nil {}
    } catch {
        return
    }
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    for version in [ODataVersion.v2, .v4] {
        let format = PayloadFormat.atom(version)
        let decoder = PayloadDecoder(model: model, format: format)
        if let entity = try? decoder.entity(bytes, type: order).entity {
            let written = PayloadEncoder(model: model, format: format).entity(entity)
            precondition((try? decoder.entity(written, type: order)) != nil, "what was written is not read")
        }
    }
    readFeed(bytes)
    // Of what follows, all versions are read alike.
    let decoder = PayloadDecoder(model: model, format: .atom(.v2))
    for type in results { _ = try? decoder.value(bytes, type: type) }
    _ = try? decoder.references(bytes)
    _ = try? decoder.serviceDocument(bytes)
    _ = try? decoder.error(bytes)
    _ = try? OpenSearchDescription(xml: bytes)
    _ = try? SubscriptionDocument(xml: bytes)
    return 0
}
