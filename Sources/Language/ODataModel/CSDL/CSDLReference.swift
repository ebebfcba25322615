/// A reference to another document (OData CSDL 4.01, 4.1 *Reference*).
public struct CSDLReference: Hashable, Sendable {
    /// A schema that is used from the referenced document (OData CSDL 4.01, 4.2).
    public struct Include: Hashable, Sendable {
        /// The schema's namespace.
        public var namespace: String
        /// The short name of the schema in the referring document.
        public var alias: String?
        /// The annotations on the inclusion.
        public var annotations: [Annotation]

        /// Creates an inclusion.
        public init(namespace: String, alias: String? = nil, annotations: [Annotation] = []) {
            self.namespace = namespace
            self.alias = alias
            self.annotations = annotations
        }
    }

    /// Annotations that are used from the referenced document (OData CSDL 4.01, 4.3).
    public struct IncludeAnnotations: Hashable, Sendable {
        /// The namespace of the terms.
        public var termNamespace: String
        /// The qualifier; `nil` for any.
        public var qualifier: String?
        /// The namespace of the targets; `nil` for any.
        public var targetNamespace: String?

        /// Creates an inclusion of annotations.
        public init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
            self.termNamespace = termNamespace
            self.qualifier = qualifier
            self.targetNamespace = targetNamespace
        }
    }

    /// The URI of the document, absolute or relative to the referring document. The document is loaded only by a
    /// loader of the caller (``CSDLReader/parse(_:options:loader:)``).
    public var uri: String
    /// The schemas used.
    public var includes: [Include]
    /// The annotations used.
    public var includedAnnotations: [IncludeAnnotations]
    /// The annotations on the reference.
    public var annotations: [Annotation]

    /// Creates a reference.
    public init(
        uri: String, includes: [Include] = [], includedAnnotations: [IncludeAnnotations] = [],
        annotations: [Annotation] = []
    ) {
        self.uri = uri
        self.includes = includes
        self.includedAnnotations = includedAnnotations
        self.annotations = annotations
    }
}

extension CSDLReference {
    /// Returns the kind of the reference as defined by a reader's options.
    func origin(_ options: CSDLReaderOptions) -> CSDLReaderOptions.References {
        if isStandard { return .standard }
        guard let origin = Self.origin(of: uri) else { return .sameOrigin }
        return options.documentURL.flatMap(Self.origin(of:)) == origin ? .sameOrigin : .otherOrigin
    }

    /// Whether the reference leads only to the vocabulary of object packages, which is part of the code.
    var isEmbedded: Bool {
        let namespaces = includes.map(\.namespace) + includedAnnotations.map(\.termNamespace)
        return !namespaces.isEmpty && namespaces.allSatisfy { $0 == ObjectsVocabulary.namespace }
    }

    /// Whether the reference leads only to OASIS or SAP vocabularies.
    private var isStandard: Bool {
        if uri.hasPrefix("http://docs.oasis-open.org/odata/") || uri.hasPrefix("https://docs.oasis-open.org/odata/") {
            return true
        }
        let namespaces = includes.map(\.namespace) + includedAnnotations.map(\.termNamespace)
        return !namespaces.isEmpty && namespaces.allSatisfy(Self.isStandard)
    }

    /// Returns the scheme, host and port of a URL in lower case; `nil` for a relative URL.
    private static func origin(of address: String) -> String? {
        guard let scheme = address.firstRange(of: "://") else {
            // `//host/path` has the scheme of the document.
            guard address.hasPrefix("//") else { return nil }
            return address.dropFirst(2).prefix { $0 != "/" }.lowercased()
        }
        let host = address[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return (address[..<scheme.upperBound] + host).lowercased()
    }

    /// Returns whether a namespace belongs to an OASIS or SAP vocabulary.
    static func isStandard(_ namespace: String) -> Bool {
        namespace.hasPrefix(Vocabulary.standard) || namespace.hasPrefix(Vocabulary.sap)
    }

    /// Creates a reference to the published document of an OASIS or SAP vocabulary; `nil` for other namespaces.
    init?(standardVocabulary namespace: String) {
        let parts = namespace.split(separator: ".")
        if namespace.hasPrefix(Vocabulary.standard) {
            self.init(uri: "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/\(namespace).xml")
        } else if namespace.hasPrefix(Vocabulary.sap), parts.count > 3 {
            self.init(uri: "https://sap.github.io/odata-vocabularies/vocabularies/\(parts[3]).xml")
        } else {
            return nil
        }
        includes = [Include(namespace: namespace)]
    }
}
