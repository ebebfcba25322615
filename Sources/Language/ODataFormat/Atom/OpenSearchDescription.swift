import ODataModel

/// The description of a service's full-text search (OpenSearch 1.1, *OpenSearch description document*).
public struct OpenSearchDescription: Hashable, Sendable {
    /// A template of a search URL.
    public struct Template: Hashable, Sendable {
        /// The URL with placeholders such as `{searchTerms}` or `{count?}`.
        public var template: String
        /// The media type of the response.
        public var type: String

        /// Creates a template.
        public init(template: String, type: String) {
            self.template = template
            self.type = type
        }

        /// The names of the placeholders, and whether each is optional.
        public var parameters: [(name: String, isOptional: Bool)] { URLTemplate(template).names }

        /// Returns the URL with the placeholders filled in.
        ///
        /// - Parameter values: the values by name; characters with a meaning in URLs are escaped.
        /// - Returns: `nil` if a required placeholder has no value.
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
    /// A description of the searched content.
    public var text: String
    /// The search templates in document order.
    public var templates: [Template]

    /// Creates a description.
    public init(shortName: String, text: String, templates: [Template]) {
        self.shortName = shortName
        self.text = text
        self.templates = templates
    }

    private static let namespace = "http://a9.com/-/spec/opensearch/1.1/"

    /// Reads a document.
    ///
    /// - Throws: ``PayloadError`` with the position.
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
