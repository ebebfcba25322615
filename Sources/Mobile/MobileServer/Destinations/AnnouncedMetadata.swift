/// The metadata document of a back end with the capabilities that this server adds (OData Capabilities Vocabulary;
/// OData Repeatable Requests 1.0, 4).
enum AnnouncedMetadata {
    /// The greatest size of a document in bytes.
    static let limit = 64 << 20

    /// Returns the document with annotations, or as it is if it has no container of the expected form.
    static func adding(to bytes: [UInt8], trackedSets: Set<String>) -> [UInt8] {
        var text = String(decoding: bytes, as: UTF8.self)
        guard let container = text.firstRange(of: "<EntityContainer"),
            let name = attribute("Name", in: text[container.lowerBound...]),
            let schema = text[..<container.lowerBound].ranges(of: "<Schema").last,
            let namespace = attribute("Namespace", in: text[schema.lowerBound...]),
            let end = text[container.lowerBound...].firstRange(of: "</Schema>")
        else { return bytes }
        let target = "\(namespace).\(name)"
        var added = ""
        if !text.contains("Org.OData.Repeatability.V1.Supported") {
            added += """
                <Annotations Target="\(target)"><Annotation Term="Org.OData.Repeatability.V1.Supported" Bool="true"/>\
                </Annotations>
                """
        }
        for set in trackedSets.sorted() {
            added += """
                <Annotations Target="\(target)/\(set)" Qualifier="Outpost">\
                <Annotation Term="Org.OData.Capabilities.V1.ChangeTracking"><Record>\
                <PropertyValue Property="Supported" Bool="true"/></Record></Annotation></Annotations>
                """
        }
        text.insert(contentsOf: added, at: end.lowerBound)
        return Array(text.utf8)
    }

    /// Returns an attribute of the first tag of a text.
    private static func attribute(_ name: String, in text: Substring) -> String? {
        guard let end = text.firstIndex(of: ">") else { return nil }
        let tag = text[..<end]
        guard let start = tag.firstRange(of: " \(name)=\"") else { return nil }
        let value = tag[start.upperBound...].prefix { $0 != "\"" }
        return value.isEmpty || value.contains("<") ? nil : String(value)
    }
}
