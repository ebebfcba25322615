import ODataModel

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
            text[container.lowerBound...].contains("</Schema>")
        else { return bytes }
        let target = "\(namespace).\(name)"
        var added = ""
        if !text.contains(Vocabulary.supportsRepeatability) {
            added += """
                <Annotations Target="\(target)">\
                <Annotation Term="\(Vocabulary.supportsRepeatability)" Bool="true"/></Annotations>
                """
        }
        for set in trackedSets.sorted() {
            // The back end's own statement, that it has no delta links, gives way.
            removeStatement(in: &text, from: "<EntitySet Name=\"\(set)\"", to: "</EntitySet>")
            removeStatement(in: &text, from: "/\(set)\">", to: "</Annotations>")
            added += """
                <Annotations Target="\(target)/\(set)">\
                <Annotation Term="\(Vocabulary.capabilities)ChangeTracking"><Record>\
                <PropertyValue Property="Supported" Bool="true"/></Record></Annotation></Annotations>
                """
        }
        guard let place = text.firstRange(of: "<EntityContainer"),
            let end = text[place.lowerBound...].firstRange(of: "</Schema>")
        else { return bytes }
        text.insert(contentsOf: added, at: end.lowerBound)
        return Array(text.utf8)
    }

    /// Removes annotations about change tracking within the elements that begin with one text and end with another.
    private static func removeStatement(in text: inout String, from start: String, to end: String) {
        var index = text.startIndex
        while let opened = text[index...].firstRange(of: start) {
            let tagEnd = text[opened.lowerBound...].firstIndex(of: ">") ?? text.endIndex
            guard tagEnd < text.endIndex, text[text.index(before: tagEnd)] != "/",
                let closed = text[tagEnd...].firstRange(of: end)
            else {
                index = opened.upperBound
                continue
            }
            var place = tagEnd..<closed.lowerBound
            var rest = String(text[place])
            while let term = rest.firstRange(of: "ChangeTracking\""),
                let begin = rest[..<term.lowerBound].ranges(of: "<Annotation ").last,
                let tail = rest[term.upperBound...].firstIndex(of: ">")
            {
                let isEmpty = rest[rest.index(before: tail)] == "/"
                let last =
                    isEmpty
                    ? rest.index(after: tail)
                    : rest[tail...].firstRange(of: "</Annotation>")?.upperBound ?? rest.endIndex
                rest.removeSubrange(begin.lowerBound..<last)
            }
            let offset = text.distance(from: text.startIndex, to: place.lowerBound)
            text.replaceSubrange(place, with: rest)
            place = text.index(text.startIndex, offsetBy: offset)..<text.endIndex
            index = text.index(place.lowerBound, offsetBy: rest.count)
        }
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
