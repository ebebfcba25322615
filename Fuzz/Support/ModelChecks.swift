import ODataModel

/// How metadata is read that must come back as it was: as the standard has it.
let strictMetadata = CSDLReaderOptions(names: .refused, facets: .strict, readsMixedVersions: false)

/// The schemas without the associations of older documents, which OData 4 expresses otherwise.
private func withoutAssociations(_ schemas: [ODataSchema]) -> [ODataSchema] {
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

/// In XML of its own version, a model says all of itself. That of older versions has other words for most of it,
/// and many ways to say the same.
func checkXML(_ model: EntityDataModel) {
    guard model.version >= .v4 else { return }
    let written = CSDLWriter.document(model, as: .xml(model.version))
    guard written.omissions.isEmpty else { return }
    guard let again = try? CSDLReader.read(xml: written.bytes) else {
        fatalError("what was written is not read: \(String(decoding: written.bytes, as: UTF8.self))")
    }
    promise(again.schemas == withoutAssociations(model.schemas), "what was written is read as another model")
    promise(again.references == model.references, "what was written is read with other references")
}

/// JSON cannot express some parts of XML, such as two annotations of one name. A model that came through JSON
/// once stays.
func checkJSON(_ model: EntityDataModel) {
    guard let once = try? CSDLReader.read(CSDLWriter.json(model)) else { return }
    checkJSONAgain(once)
}

/// A model read from JSON is written as JSON that reads back the same.
func checkJSONAgain(_ model: EntityDataModel) {
    let written = CSDLWriter.json(model)
    guard let again = try? CSDLReader.read(written) else {
        fatalError(
            "what was read of JSON, once it is written, is not read: \(String(decoding: written, as: UTF8.self))")
    }
    promise(again.schemas == model.schemas, "what was read of JSON, once it is written, is read as another model")
    // In JSON, vocabularies of OASIS are written by the names of their documents, for any form of reference.
    let namesXML = model.references.contains { $0.uri.hasSuffix(".xml") }
    let (before, after) = namesXML ? (again, try? CSDLReader.read(CSDLWriter.json(again))) : (model, again)
    promise(after?.references == before.references, "what was written in JSON is read with other references")
}
