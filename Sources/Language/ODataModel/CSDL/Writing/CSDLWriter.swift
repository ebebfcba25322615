/// Writes a model as a metadata document: CSDL in XML of OData 4.01, 4.0, 3.0, 2.0 and 1.0 (OData CSDL XML 4.01;
/// CSDL 3.0), or in JSON (OData CSDL JSON 4.01).
///
/// ```swift
/// let bytes = CSDLWriter.xml(model)
/// let document = CSDLWriter.document(model, as: .xml(.v2))
/// for omission in document.omissions { print(omission) }
/// ```
///
/// Reading a document of the model's own version gives a model with equal schemas. Elements that a version or
/// format cannot express are left out and listed in ``Document/omissions``. XML of OData 4 has no elements for
/// `sap:` annotations, V2 HTTP methods and concurrency modes; these are written as attributes of their original
/// namespaces.
public enum CSDLWriter {
    /// The formats of metadata.
    public enum Format: Hashable, Sendable {
        /// CSDL in XML of a version of OData.
        case xml(ODataVersion)
        /// CSDL in JSON.
        case json
    }

    /// A document, with a list of the parts that it omits.
    public struct Document: Sendable {
        /// The document in UTF-8.
        public var bytes: [UInt8]
        /// Descriptions of the parts of the model that the format cannot express.
        public var omissions: [String]
    }

    /// Writes a document in a format.
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
    ///   - version: the OData version of the metadata.
    ///   - references: the documents that declare the used terms and types; by default those of the model.
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
            omissions.append(
                "Control characters, U+FFFE and U+FFFF in names or texts were left out: XML cannot contain them. Write JSON."
            )
        }
        return Document(bytes: output.bytes, omissions: omissions)
    }
}
