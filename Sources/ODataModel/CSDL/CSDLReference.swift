/// A reference to another document (OData CSDL 4.01, 4.1 *Reference*).
public struct CSDLReference: Hashable, Sendable {
    /// A schema that is used from there (OData CSDL 4.01, 4.2).
    public struct Include: Hashable, Sendable {
        /// The schema's namespace.
        public var namespace: String
        /// The short name used for it here.
        public var alias: String?
        /// The annotations on the inclusion.
        public var annotations: [Annotation]

        /// Makes an inclusion.
        public init(namespace: String, alias: String? = nil, annotations: [Annotation] = []) {
            self.namespace = namespace
            self.alias = alias
            self.annotations = annotations
        }
    }

    /// Annotations that are used from there (OData CSDL 4.01, 4.3).
    public struct IncludeAnnotations: Hashable, Sendable {
        /// The namespace of the terms.
        public var termNamespace: String
        /// The qualifier; `nil` for any.
        public var qualifier: String?
        /// The namespace of the targets; `nil` for any.
        public var targetNamespace: String?

        /// Makes an inclusion of annotations.
        public init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
            self.termNamespace = termNamespace
            self.qualifier = qualifier
            self.targetNamespace = targetNamespace
        }
    }

    /// Where the document is, absolute or relative to this one. It is loaded only by a
    /// loader that the caller gives (``CSDLReader/parse(_:options:loader:)``).
    public var uri: String
    /// The schemas used.
    public var includes: [Include]
    /// The annotations used.
    public var includedAnnotations: [IncludeAnnotations]
    /// The annotations on the reference.
    public var annotations: [Annotation]

    /// Makes a reference.
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
