/// Writes a model as a metadata document: CSDL in XML of OData 4.01, 4.0, 3.0, 2.0 and 1.0 (OData CSDL XML 4.01;
/// CSDL 3.0), or in JSON (OData CSDL JSON 4.01).
///
/// ```swift
/// let bytes = CSDLWriter.xml(model)
/// let document = CSDLWriter.document(model, as: .xml(.v2))
/// for omission in document.omissions { print(omission) }
/// ```
///
/// Reading a document of the model's own version gives a model with equal schemas. What a version or format cannot
/// say is left out, and ``Document/omissions`` names it. XML of OData 4 keeps in attributes of the namespaces they
/// came from what it has no element for: `sap:` annotations, V2's HTTP methods and concurrency modes.
public enum CSDLWriter {
    /// How a model is written.
    public enum Format: Hashable, Sendable {
        /// CSDL in XML as a version of OData has it.
        case xml(ODataVersion)
        /// CSDL in JSON.
        case json
    }

    /// A document and what it does not say.
    public struct Document: Sendable {
        /// The document in UTF-8.
        public var bytes: [UInt8]
        /// What of the model the format has no words for, one thing each.
        public var omissions: [String]
    }

    /// Writes a document.
    public static func document(_ model: EntityDataModel, as format: Format) -> Document {
        switch format {
        case .json:
            var output = CSDLJSONOutput(model)
            output.write()
            return Document(bytes: output.json.bytes, omissions: output.omissions)
        case .xml(let version): return xmlDocument(model, version, references: model.references)
        }
    }

    /// Writes a document in XML.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - version: the version of OData whose metadata is written.
    ///   - references: the documents that the terms and types used come from; those of the model when left out.
    public static func xml(
        _ model: EntityDataModel, version: ODataVersion = .v401, references: [CSDLReference]? = nil
    ) -> [UInt8] {
        xmlDocument(model, version, references: references ?? model.references).bytes
    }

    /// Writes a document in JSON.
    public static func json(_ model: EntityDataModel) -> [UInt8] { document(model, as: .json).bytes }

    private static func xmlDocument(
        _ model: EntityDataModel, _ version: ODataVersion, references: [CSDLReference]
    ) -> Document {
        var body = CSDLOutput(model, version: version, indentedBy: 2)
        if version < .v4 { body.associations = GeneratedAssociations(model, &body.omissions) }
        for schema in model.schemas { body.write(schema) }
        var header = CSDLOutput(model, version: version, indentedBy: 1)
        header.prefixes = body.prefixes
        for reference in references { header.write(reference) }
        var output = XMLOutput()
        output.declaration()
        output.begin("edmx:Edmx")
        if version < .v4 {
            output.attribute("xmlns:edmx", "http://schemas.microsoft.com/ado/2007/06/edmx")
            _ = header.prefix(for: CSDLBuilder.metadataNamespace)
        } else {
            output.attribute("xmlns:edmx", "http://docs.oasis-open.org/odata/ns/edmx")
            output.attribute("xmlns", CSDLBuilder.v4Namespace)
        }
        for (namespace, prefix) in header.prefixes.sorted(by: { $0.value < $1.value }) {
            output.attribute("xmlns:\(prefix)", namespace)
        }
        output.attribute("Version", version < .v4 ? "1.0" : version.rawValue)
        output.append(header.xml)
        output.begin("edmx:DataServices")
        if version < .v4 { output.attribute("m:DataServiceVersion", version.rawValue) }
        output.append(body.xml)
        output.end()
        output.end()
        var omissions = header.omissions + body.omissions
        if !output.isWhole {
            omissions.append("Control characters, U+FFFE and U+FFFF in names or texts cannot be said in XML.")
        }
        return Document(bytes: output.bytes, omissions: omissions)
    }
}
