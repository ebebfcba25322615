import ODataModel

/// What a service says of its free text search (OpenSearch 1.1, *OpenSearch description document*).
public struct OpenSearchDescription: Hashable, Sendable {
    /// A way to search: a URL with places for what is searched.
    public struct Template: Hashable, Sendable {
        /// The URL with places such as `{searchTerms}` or `{count?}`.
        public var template: String
        /// The media type of the answer.
        public var type: String

        /// Makes a template.
        public init(template: String, type: String) {
            self.template = template
            self.type = type
        }

        /// The names of the places; those that may be left empty are told.
        public var parameters: [(name: String, isOptional: Bool)] { URLTemplate(template).names }

        /// The URL with the places filled in.
        ///
        /// - Parameter values: text by name; characters with a meaning in URLs are escaped.
        /// - Returns: `nil` when a place that must be filled has no value.
        public func url(with values: [String: String]) -> String? {
            var template = URLTemplate(self.template)
            for (name, isOptional) in parameters {
                guard let value = values[name] ?? (isOptional ? "" : nil) else { return nil }
                _ = template.replace(name, with: value)
            }
            return template.text(adding: [])
        }
    }

    /// A short title.
    public var shortName: String
    /// What is searched.
    public var text: String
    /// The ways to search in document order.
    public var templates: [Template]

    /// Makes a description.
    public init(shortName: String, text: String, templates: [Template]) {
        self.shortName = shortName
        self.text = text
        self.templates = templates
    }

    private static let namespace = "http://a9.com/-/spec/opensearch/1.1/"

    /// Reads a document.
    ///
    /// - Throws: ``PayloadError`` with the place.
    public init(xml bytes: [UInt8]) throws(PayloadError) {
        let root = try XMLBody.read(bytes)
        self = try XMLBody.mapped { () throws(XMLPayloadError) in
            guard root.name == "OpenSearchDescription", root.namespace == Self.namespace else {
                throw root.error(.unexpected("the element \(root.name)"), expected: "an OpenSearch description")
            }
            var result = OpenSearchDescription(shortName: "", text: "", templates: [])
            for element in root.elements where element.namespace == Self.namespace {
                switch element.name {
                case "ShortName": result.shortName = element.trimmedText
                case "Description": result.text = element.trimmedText
                case "Url":
                    guard let template = element.attribute("template") else {
                        throw element.error(.missingAttribute("template"), expected: "a URL template")
                    }
                    result.templates.append(
                        Template(template: template, type: element.attribute("type") ?? "application/atom+xml"))
                default: break
                }
            }
            return result
        }
    }

    /// Writes the document.
    public func write() -> [UInt8] {
        var xml = XMLOutput()
        xml.declaration()
        xml.begin("OpenSearchDescription")
        xml.attribute("xmlns", Self.namespace)
        xml.element("ShortName", text: shortName)
        xml.element("Description", text: text)
        for template in templates {
            xml.element("Url", [("type", template.type), ("template", template.template)], text: "")
        }
        xml.end()
        return xml.bytes
    }
}
