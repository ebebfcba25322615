/// Reads metadata documents in XML: OData 4.0 and 4.01 (OData CSDL XML 4.01), and the documents of
/// OData 1 to 3, whose associations become navigation properties and whose function imports become operations.
///
/// ```swift
/// let model = try CSDLReader.read(xml: bytes)
/// let result = try CSDLReader.parse(xml: bytes)
/// for warning in result.warnings { print(warning) }
/// ```
///
/// A document that refers to others is read as it stands: types it does not declare become
/// ``TypeReference/untyped(_:)`` with their name, and a warning says so.
public enum CSDLReader {
    /// The size of the largest document read, in bytes.
    public static let maxBytes = 64 * 1024 * 1024
    /// How deep elements may be nested.
    public static let maxDepth = 100
    /// How many elements a document may have.
    public static let maxElements = 2_000_000

    /// What a document holds.
    public struct Result: Sendable {
        /// The model.
        public var model: EntityDataModel
        /// The documents that this one refers to.
        public var references: [CSDLReference]
        /// What was read around.
        public var warnings: [CSDLWarning]
    }

    /// Reads a document.
    ///
    /// - Throws: ``CSDLError`` with line, column and what was expected.
    public static func read(xml bytes: [UInt8]) throws(CSDLError) -> EntityDataModel {
        try parse(xml: bytes).model
    }

    /// Reads a document and tells what was read around.
    ///
    /// - Throws: ``CSDLError`` with line, column and what was expected.
    public static func parse(xml bytes: [UInt8]) throws(CSDLError) -> Result {
        var builder = CSDLBuilder(document: try CSDLParser.parse(bytes))
        return try builder.build()
    }
}

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

    /// Where the document is, absolute or relative to this one. It is never loaded.
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
