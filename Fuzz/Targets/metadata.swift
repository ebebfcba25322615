// Metadata in XML: what was read is written and read again, in XML and in JSON.
import ODataModel

/// How documents are read that must come back as they were: as the standard has them.
private let strict = CSDLReaderOptions(names: .refused, facets: .strict, readsMixedVersions: false)

/// The schemas without the associations of older documents: OData 4 says what they mean.
private func withoutAssociations(_ schemas: [Schema]) -> [Schema] {
    var schemas = schemas
    for schema in schemas.indices {
        schemas[schema].associations = []
        schemas[schema].container?.associationSets = []
        for type in schemas[schema].structuredTypes.indices {
            for property in schemas[schema].structuredTypes[type].navigationProperties.indices {
                schemas[schema].structuredTypes[type].navigationProperties[property].relationship = nil
            }
        }
    }
    return schemas
}

/// In XML of its own version, a model says all of itself.
private func checkXML(_ model: EntityDataModel) {
    let written = CSDLWriter.document(model, as: .xml(model.version))
    guard written.omissions.isEmpty else { return }
    guard let again = try? CSDLReader.read(xml: written.bytes) else {
        preconditionFailure("what was written is not read: \(String(decoding: written.bytes, as: UTF8.self))")
    }
    precondition(again.schemas == withoutAssociations(model.schemas), "what was written is read as another model")
    precondition(again.references == model.references, "what was written is read with other references")
}

/// JSON has no place for some of what XML can say, such as two annotations of one name. What came through it once stays.
private func checkJSON(_ model: EntityDataModel) {
    guard let once = try? CSDLReader.read(CSDLWriter.json(model)) else { return }
    guard let twice = try? CSDLReader.read(CSDLWriter.json(once)) else {
        preconditionFailure("what was read of JSON, once it is written, is not read")
    }
    precondition(twice.schemas == once.schemas, "what was read of JSON, once it is written, is read as another model")
}

/// Takes one input from libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard let model = try? CSDLReader.read(xml: bytes) else { return 0 }
    // Whatever was read around: it can be written, and nothing traps.
    for version in [ODataVersion.v2, .v3, .v4] { _ = try? CSDLReader.read(CSDLWriter.xml(model, version: version)) }
    guard let result = try? CSDLReader.parse(xml: bytes, options: strict), result.warnings.isEmpty,
        result.model.version >= .v4
    else { return 0 }
    checkXML(result.model)
    checkJSON(result.model)
    return 0
}
